#pragma once

#include "core/error.hpp"

#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

// Values that options and files give by name. A table lists them in the order of messages. All
// functions only read the table: any thread may call them at any time.
namespace rulerank::inline v0 {

template <class Value>
struct named_value {
  std::string_view name;
  Value value;
};

/// A table of `N` values.
template <class Value, std::size_t N>
using named_values = std::array<named_value<Value>, N>;

/// How a message lists names: "a, b, c", "one of a, b, c" or "a, b or c".
enum class name_list { plain, one_of, alternatives };

/// Lists the names in a table, or in a range of strings, for a message.
template <class Names>
std::string list_of_names(Names const& names, name_list how = name_list::plain) {
  std::string text = how == name_list::one_of ? "one of " : "";
  std::size_t left = std::size(names);
  for (bool first = true; auto const& entry : names) {
    if (!first) text += --left == 1 && how == name_list::alternatives ? " or " : ", ";
    first = false;
    if constexpr (std::is_convertible_v<decltype(entry), std::string_view>)
      text += entry;
    else
      text += entry.name;
  }
  return text;
}

/// The error for an unknown name: "`found` 'name', expected `expected`".
inline usage_error unknown_name(std::string_view found, std::string_view name,
                                std::string_view expected) {
  return usage_error(std::string(found) + " '" + std::string(name) + "', expected " +
                     std::string(expected));
}

/// Returns the value with that name in a table. For a range of strings, returns the index as a
/// `Value`, an enumeration in the same order. Throws `unknown_name` with `found` and the names.
template <class Value, class Names>
Value value_named(Names const& names, std::string_view name, std::string_view found = "found",
                  name_list how = name_list::one_of) {
  std::size_t index = 0;
  for (auto const& entry : names) {
    if constexpr (std::is_convertible_v<decltype(entry), std::string_view>) {
      if (entry == name) return static_cast<Value>(index);
      ++index;
    } else if (entry.name == name) {
      return entry.value;
    }
  }
  throw unknown_name(found, name, list_of_names(names, how));
}

/// Returns the name of a value in a table; empty if the table lacks it.
template <class Table, class Value>
constexpr std::string_view name_in(Table const& table, Value value) {
  for (auto const& entry : table)
    if (entry.value == value) return entry.name;
  return {};
}

}  // namespace rulerank
