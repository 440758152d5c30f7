#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace rulerank::inline v0 {

/// Parses the JSON of a file, or of a part of a file that begins at its line `first_line`. Throws
/// `error` with line and column for malformed JSON, a zero byte, a number too large for a double,
/// and nesting beyond 500 levels; `expected` says what the file should be ("a discretizer").
nlohmann::json parse_json(std::string_view text, std::string const& name, std::string_view expected,
                          std::uint64_t first_line = 1);

/// Parses as `parse_json` and keeps the order of members. Throws `error` with the line if a member
/// of the outermost object occurs twice, because one of the two would be lost.
nlohmann::ordered_json parse_ordered_json(std::string_view text, std::string const& name,
                                          std::string_view expected, std::uint64_t first_line = 1);

/// Returns JSON as lines, indented by two spaces per level; bytes of a string that are not UTF-8
/// become U+FFFD.
std::string json_text_of(nlohmann::json const& value);
std::string json_text_of(nlohmann::ordered_json const& value);

/// Returns JSON on one line, without a line feed; bytes of a string that are not UTF-8 become
/// U+FFFD.
std::string json_line_of(nlohmann::json const& value);
std::string json_line_of(nlohmann::ordered_json const& value);

/// Shows a value in messages: a number by its digits, any other value by its type, since it may be
/// megabytes of text.
std::string json_shown(nlohmann::json const& value);
std::string json_shown(nlohmann::ordered_json const& value);

}  // namespace rulerank
