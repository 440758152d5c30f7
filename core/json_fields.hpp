#pragma once

#include "core/error.hpp"
#include "core/json_text.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0 {

/// Reads the members of one JSON object of models, settings and cuts; `Json` is nlohmann::json or
/// nlohmann::ordered_json. A member of another type or value throws `error` with the file and the
/// member. The message shows a number by its digits, and any other value by its type.
template <class Json>
class json_fields {
 public:
  /// `prefix` precedes the names of members in messages, such as `members[2].`.
  json_fields(Json const& json, std::string name, std::string prefix = {})
      : json_(json), name_(std::move(name)), prefix_(std::move(prefix)) {
    if (!json.is_object()) fail({}, found_instead_of(json, "an object"));
  }

  Json const& member(std::string_view key) const {
    auto const found = json_.find(key);
    if (found == json_.end()) fail(key, "not found");
    return *found;
  }
  bool has(std::string_view key) const { return json_.contains(key); }

  std::uint64_t integer(std::string_view key, std::uint64_t low, std::uint64_t high) const {
    Json const& value = member(key);
    if (!value.is_number_unsigned() || value.template get<std::uint64_t>() < low ||
        value.template get<std::uint64_t>() > high)
      fail(key, found_instead_of(value, fmt::format("an integer from {} to {}", low, high)));
    return value.template get<std::uint64_t>();
  }
  /// An integer that is an index below `size`.
  std::size_t index(std::string_view key, std::size_t size) const {
    if (size == 0) fail(key, "found an index into an empty list, expected none");
    return integer(key, 0, size - 1);
  }
  double number(std::string_view key) const {
    Json const& value = member(key);
    if (!value.is_number()) fail(key, found_instead_of(value, "a number"));
    return value.template get<double>();
  }
  bool boolean(std::string_view key) const {
    Json const& value = member(key);
    if (!value.is_boolean()) fail(key, found_instead_of(value, "true or false"));
    return value.template get<bool>();
  }
  std::string const& word(std::string_view key) const {
    Json const& value = member(key);
    if (!value.is_string()) fail(key, found_instead_of(value, "a string"));
    return value.template get_ref<std::string const&>();
  }
  /// A word that `parse` accepts; `parse` throws `usage_error` for other words.
  template <class Parse>
  auto known(std::string_view key, Parse parse) const {
    std::string const& text = word(key);
    try {
      return parse(text);
    } catch (usage_error const& e) {
      throw error({name_, 1, 1}, prefix_ + e.what());
    }
  }
  Json const& list(std::string_view key) const {
    Json const& value = member(key);
    if (!value.is_array()) fail(key, found_instead_of(value, "a list"));
    return value;
  }

  std::string const& name() const { return name_; }
  std::string const& prefix() const { return prefix_; }
  [[noreturn]] void fail(std::string_view key, std::string_view problem) const {
    std::string where = prefix_ + std::string(key);
    if (where.ends_with('.')) where.pop_back();
    throw error({name_, 1, 1}, fmt::format("{}: {}", where.empty() ? "JSON" : where, problem));
  }

 private:
  static std::string found_instead_of(Json const& value, std::string_view expected) {
    return fmt::format("found {}, expected {}", json_shown(value), expected);
  }

  Json const& json_;
  std::string name_;
  std::string prefix_;
};

/// Returns the result of `read()`, which reads JSON with the library's own functions. A missing
/// field, a field of another type and a `usage_error` about its value become an `error` at `where`
/// that begins with `problem`.
template <class Read>
decltype(auto) read_json(source_position const& where, std::string_view problem, Read&& read) {
  try {
    return read();
  } catch (nlohmann::json::exception const& e) {
    throw error(where, fmt::format("{}: {}", problem, e.what()));
  } catch (usage_error const& e) {
    throw error(where, fmt::format("{}: {}", problem, e.what()));
  }
}

}  // namespace rulerank
