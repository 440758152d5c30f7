#pragma once
// Finds lines in bytes: where a text can be cut.

#include <cstddef>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// Skips UTF-8's byte order mark, which some editors put at the start of a text. Lines of joined
/// files begin with it, too.
void remove_byte_order_mark(std::string_view& text);

/// Returns the offset of a carriage return between other characters of a line, or npos. Files of
/// old Macs and some spreadsheets end lines with carriage returns alone.
std::size_t inner_return(std::string_view line);
inline constexpr char const* inner_return_fault =
    "found a carriage return inside the line, expected a line end";

/// Returns offsets that cut a text after line ends into chunks of about `bytes`; some may be empty.
std::vector<std::size_t> cut_at_lines(std::string_view text, std::size_t bytes);

}  // namespace rulerank::datasets
