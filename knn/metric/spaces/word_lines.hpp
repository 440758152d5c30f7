#pragma once
// Recognizes dictionaries: files of words whose lines contain more than the words.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::knn {

/// A line that is no word, and the error message for it.
struct word_fault {
  std::size_t line = 1, column = 1;
  std::string message;
};

/// The format of the lines of a file of words. Several threads may read an object at once.
///
/// If all lines have the same number of columns, the words are the column that a header names,
/// otherwise the only column that is not numeric; no clear column of words is a fault. Otherwise a
/// whole line without blanks at its ends is one word, also in quotes.
struct word_lines {
  std::string_view separators;  ///< of the columns; empty: the line is the word
  std::size_t columns = 1;
  std::size_t column = 0;    ///< index of the column of words
  bool are_counted = false;  ///< columns are a word and a number
  bool are_quoted = false;   ///< lines are words in double quotes
  std::string_view header;   ///< the line that names the columns, a view of the text
  std::size_t lines = 0;     ///< number of lines without empty ones, comments and the header
  std::size_t odd = 0, first_odd = 0;  ///< number of ambiguous lines, and the first
  std::size_t comments = 0, first_comment = 0;
  std::size_t padded = 0, first_padded = 0;  ///< lines with blanks at an end
  std::size_t hidden = 0, first_hidden = 0;  ///< words with a hidden character at an end
  std::size_t first_title = 0;  ///< the first line, if it is read as a word and may be a header
  std::size_t only_line = 0, words_on_it = 1;  ///< the only line, if it seems to be a list of words
  std::optional<word_fault> fault;

  explicit word_lines(std::string_view text);
  /// Returns the word of a line; nothing for the header and for comments (`#` and a space).
  std::optional<std::string> word_of(std::string_view line) const;
  /// Returns warnings, to follow the file's name.
  std::vector<std::string> notes() const;

 private:
  bool are_columns(std::string_view text, std::string_view by);
};

}  // namespace rulerank::knn
