#pragma once
// Dictionaries: what the lines of a file of words hold besides them.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// A line that is no word, and the error that names it.
struct word_fault {
  std::size_t line = 1, column = 1;
  std::string message;
};

/// How lines are words. Several threads may read one at once.
///
/// Where all lines have as many columns, the words are the column that a header names, else the
/// only one with other than numbers; such columns without a clear one of words are a fault. Else
/// the line is the word. In quotes, a line is one word, too.
struct word_lines {
  std::string_view separators;  ///< of the columns; empty: the line is the word
  std::size_t columns = 1;
  std::size_t column = 0;              ///< of the words
  bool are_counted = false;            ///< a word and a number
  bool are_quoted = false;             ///< lines are words in double quotes
  std::string_view header;             ///< the line that names the columns, within the text
  std::size_t lines = 0;               ///< without blank ones, comments and the header
  std::size_t odd = 0, first_odd = 0;  ///< lines that may be meant otherwise, and the first
  std::size_t comments = 0, first_comment = 0;
  std::optional<word_fault> fault;

  explicit word_lines(std::string_view text);
  /// The word of a line; none of the header and of comments: `#` and a blank.
  std::optional<std::string> word_of(std::string_view line) const;
  /// Warnings, to follow the file's name.
  std::vector<std::string> notes() const;

 private:
  bool are_columns(std::string_view text, std::string_view by);
};

}  // namespace rulerank::knn
