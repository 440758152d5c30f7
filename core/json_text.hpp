#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0 {

/// The value that a file's JSON, or a part of it that begins with its line `first_line`, holds.
/// Throws `error` with the line and column of what is malformed, of a zero byte, of a number that
/// is too large for a double, and of nesting beyond 500 levels; `expected` says what the file
/// should be ("a discretizer").
nlohmann::json parse_json(std::string_view text, std::string const& name, std::string_view expected,
                          std::uint64_t first_line = 1);

/// The same with the members of objects in the order in which they stand. Throws `error` with the
/// line for a member of the outermost object that comes again: one of the two would be lost.
nlohmann::ordered_json parse_ordered_json(std::string_view text, std::string const& name,
                                          std::string_view expected, std::uint64_t first_line = 1);

/// JSON as a file's lines, two blanks a level; what of a string is not UTF-8 becomes U+FFFD.
std::string json_text_of(nlohmann::json const& value);
std::string json_text_of(nlohmann::ordered_json const& value);

/// JSON on one line, without a line feed; what of a string is not UTF-8 becomes U+FFFD.
std::string json_line_of(nlohmann::json const& value);
std::string json_line_of(nlohmann::ordered_json const& value);

/// A value in messages: the digits of a number, the type of anything else, which may be a text of
/// megabytes.
std::string json_shown(nlohmann::json const& value);
std::string json_shown(nlohmann::ordered_json const& value);

}  // namespace rulerank
