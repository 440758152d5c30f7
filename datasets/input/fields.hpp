#pragma once
// Words and space-separated fields of lines, for several readers.

#include "core/even_ranges.hpp"
#include "datasets/input/lines.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// Compares a word with a lower-case word, ignoring the case of ASCII letters.
inline bool same_word(std::string_view word, std::string_view small) {
  return std::ranges::equal(word, small, {}, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
}

/// Returns whether an id is what R, pandas, Python or a spreadsheet write for a missing value.
inline bool is_missing_word(std::string_view id) {
  constexpr std::string_view words[] = {"NA",   "NaN",  "nan",  "<NA>", "N/A",
                                        "#N/A", "NULL", "null", "None", "NaT"};
  return id.size() < 5 && std::ranges::find(words, id) != std::end(words);
}

/// A word of a line and the 1-based column of its first byte.
struct field {
  std::string_view text;
  std::uint64_t column = 1;
};

/// Splits a line at spaces, tabs and CR into `fields`.
inline void split_fields(std::string_view line, std::vector<field>& fields) {
  fields.clear();
  constexpr std::string_view separators = " \t\r";
  for (std::size_t begin = line.find_first_not_of(separators); begin != std::string_view::npos;) {
    std::size_t const end = std::min(line.find_first_of(separators, begin), line.size());
    fields.push_back({line.substr(begin, end - begin), begin + 1});
    begin = line.find_first_not_of(separators, end);
  }
}

/// Calls `work(line, number)` for each line of the text (the last line feed is optional), numbers
/// from 1; skips byte order marks of UTF-8.
template <class Work>
void for_each_line(std::string_view text, Work&& work) {
  std::uint64_t number = 0;
  for (remove_byte_order_mark(text); !text.empty(); remove_byte_order_mark(text)) {
    std::size_t const end = std::min(text.find('\n'), text.size());
    work(text.substr(0, end), ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Returns where the next line begins at or after byte `at`, or the end of the text.
inline std::size_t line_from(std::string_view text, std::size_t at) {
  if (at == 0) return 0;
  std::size_t const end = text.find('\n', at - 1);
  return end == text.npos ? text.size() : end + 1;
}

/// Calls work(line) for the lines that begin in one of `parts` equal parts of a text. Reads no
/// other part, except to the end of a line.
template <class Work>
void for_each_line_of_part(std::string_view text, std::size_t part, std::size_t parts,
                           Work&& work) {
  remove_byte_order_mark(text);
  index_range const bytes = even_range(text.size(), parts, part);
  std::size_t const begin = line_from(text, bytes.begin);
  std::size_t const end = line_from(text, bytes.end);
  for (std::size_t at = begin; at < end;) {
    std::size_t const line_end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, line_end - at);
    remove_byte_order_mark(line);
    work(line);
    at = line_end + 1;
  }
}

}  // namespace rulerank::datasets
