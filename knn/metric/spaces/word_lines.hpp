#pragma once
// Dictionaries: what the lines of a file of words hold besides them.

#include <cstddef>
#include <string>
#include <string_view>

namespace rulerank::inline v0::knn {

/// How lines are words. Several threads may read one at once.
struct word_lines {
  bool are_counted = false;   ///< a word and a number, in either order
  bool are_quoted = false;    ///< a word in double quotes
  bool has_header = false;    ///< the first line names these two columns
  std::size_t odd = 0;        ///< lines with a number or quotes where not all have them
  std::size_t first_odd = 0;  ///< the first of them, from 1
  std::size_t lines = 0;      ///< lines that are not blank, without the header

  explicit word_lines(std::string_view text);
  /// The word of a line that is no header.
  std::string word_of(std::string_view line) const;
  /// The warning, to follow the file's name. Empty where there is nothing to warn of.
  std::string note() const;
};

}  // namespace rulerank::knn
