#pragma once
// JSON text with the place of each value: what the readers of judgments and feature logs go by. The
// library's own values have no places, and keep the last of two members of one name.

#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// A text of JSON values one after the other, such as JSON lines. One thread may use it.
class json_text {
 public:
  /// `bytes` outlives it; messages name it `name`.
  json_text(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  /// The place of a byte. Quick where the bytes that are asked for ascend.
  source_position place(std::size_t offset);
  std::string_view bytes() const noexcept { return bytes_; }
  std::string const& name() const noexcept { return name_; }

 private:
  std::string_view bytes_;
  std::string name_;
  std::size_t counted_ = 0;     // bytes whose lines are counted
  std::size_t line_begin_ = 0;  // the byte where the line of the last of them begins
  std::uint64_t line_ = 1;
};

/// A value of a JSON text, which is well formed.
class json_view {
 public:
  json_view(json_text& text, std::size_t begin) : text_(&text), begin_(begin) {}

  bool is_object() const { return first() == '{'; }
  bool is_array() const { return first() == '['; }
  bool is_string() const { return first() == '"'; }
  bool is_number() const { return first() == '-' || (first() >= '0' && first() <= '9'); }
  bool is_null() const { return first() == 'n'; }

  /// Calls work(name, value) for each member. Throws `error` for a value that is no object.
  void for_each_member(std::string_view expected,
                       std::function<void(std::string const&, json_view)> const& work) const;
  /// Calls work(value) for each element. Throws `error` for a value that is no array.
  void for_each_element(std::string_view expected,
                        std::function<void(json_view)> const& work) const;
  /// The member of a name; nothing where there is none, or the value is no object. Throws `error`
  /// where there are two.
  std::optional<json_view> find(std::string_view name) const;
  /// The member of a name. Throws `error` where there is none or two.
  json_view member(std::string_view name) const;

  /// The content of a string or the digits of an integer: tools write ids either way. Throws
  /// `error` for another value, and for an empty string.
  std::string id() const;
  /// The content of a string that is not empty. Throws `error` for other values.
  std::string string(std::string_view expected) const;
  /// The content of a string, which may be empty. Throws `error` for other values.
  std::string any_string(std::string_view expected) const;
  /// A number, which may be in a string. Throws `error` for another value.
  double number(std::string_view expected) const;

  source_position place() const { return text_->place(begin_); }
  /// Throws `error` that says that this was found instead of `expected`.
  [[noreturn]] void fail(std::string_view expected) const;
  /// One past the value.
  std::size_t end() const;

 private:
  char first() const { return text_->bytes()[begin_]; }
  std::string_view raw() const { return text_->bytes().substr(begin_, end() - begin_); }

  json_text* text_;
  std::size_t begin_;
};

/// Calls work(value) for each value of a text. Throws `error` with the place of what is malformed;
/// `expected` says what the text should be.
void for_each_json_value(json_text& text, std::string_view expected,
                         std::function<void(json_view)> const& work);

}  // namespace rulerank::datasets
