#pragma once
// JSON text with the position of each value, for the readers of judgments and feature logs. The
// JSON library's values have no positions, and drop the first of two members with one name.

#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// A text of successive JSON values, such as JSON lines. One thread at a time may use it.
class json_text {
 public:
  /// `bytes` must outlive it; `name` is used in messages.
  json_text(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  /// Returns the position of a byte. Fast for ascending offsets.
  source_position place(std::size_t offset);
  std::string_view bytes() const noexcept { return bytes_; }
  std::string const& name() const noexcept { return name_; }

 private:
  std::string_view bytes_;
  std::string name_;
  std::size_t counted_ = 0;     // bytes whose lines are counted
  std::size_t line_begin_ = 0;  // beginning of the line of the last counted byte
  std::uint64_t line_ = 1;
};

/// A value of a well-formed JSON text.
class json_view {
 public:
  json_view(json_text& text, std::size_t begin) : text_(&text), begin_(begin) {}

  bool is_object() const { return first() == '{'; }
  bool is_array() const { return first() == '['; }
  bool is_string() const { return first() == '"'; }
  bool is_number() const { return first() == '-' || (first() >= '0' && first() <= '9'); }
  bool is_null() const { return first() == 'n'; }

  /// Calls work(name, value) for each member. Throws `error` if the value is no object.
  void for_each_member(std::string_view expected,
                       std::function<void(std::string const&, json_view)> const& work) const;
  /// Calls work(value) for each element. Throws `error` if the value is no array.
  void for_each_element(std::string_view expected,
                        std::function<void(json_view)> const& work) const;
  /// Returns the member with this name, or nothing if there is none or the value is no object.
  /// Throws `error` if there are two.
  std::optional<json_view> find(std::string_view name) const;
  /// Returns the member with this name. Throws `error` unless there is exactly one.
  json_view member(std::string_view name) const;

  /// Returns the content of a string or the digits of an integer, because tools write ids in both
  /// forms. Throws `error` for another value, and for an empty string.
  std::string id() const;
  /// Returns the content of a nonempty string. Throws `error` for other values.
  std::string string(std::string_view expected) const;
  /// Returns the content of a string, which may be empty. Throws `error` for other values.
  std::string any_string(std::string_view expected) const;
  /// Returns a number, which may be in a string. Throws `error` for another value.
  double number(std::string_view expected) const;

  source_position place() const { return text_->place(begin_); }
  /// Throws `error` that names this value and `expected`.
  [[noreturn]] void fail(std::string_view expected) const;
  /// The offset after the value.
  std::size_t end() const;

 private:
  char first() const { return text_->bytes()[begin_]; }
  std::string_view raw() const { return text_->bytes().substr(begin_, end() - begin_); }

  json_text* text_;
  std::size_t begin_;
};

/// Calls work(value) for each value of a text. Throws `error` with the position of malformed JSON;
/// `expected` says what the text should be.
void for_each_json_value(json_text& text, std::string_view expected,
                         std::function<void(json_view)> const& work);

}  // namespace rulerank::datasets
