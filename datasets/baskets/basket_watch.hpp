#pragma once
// Detects files that are not baskets, or that need other options.

#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace rulerank::inline v0::datasets {

/// A cell of a line, and its column.
struct basket_cell {
  std::string_view text;
  std::size_t column = 1;
  bool has_quotes = false;
};

/// The columns of a line that `--form pairs` reads.
struct pair_columns {
  std::size_t id = 0, item = 1, cells = 2;
};

/// Returns the columns of the basket id and the item in a header with common names.
std::optional<pair_columns> pair_columns_of(std::span<basket_cell const> header);

/// Returns whether all cells are common names of columns.
bool is_basket_header(std::span<basket_cell const> cells);

/// Returns the separator with which a line is a header for `pair_columns_of`, or 0.
char separator_of_header(std::string_view line);

/// Returns a character of this text that may separate cells, or 0.
char inner_separator(std::string_view text);
/// Returns the option for this separator: `--separator ','` for a comma.
std::string separator_option(char separator);

/// Throws `error` for a list in brackets that contains a comma or quotes, for a list of Python or
/// R, and for sets in braces and rules as R and mlxtend write them. Returns whether the line is in
/// brackets without these.
bool expect_no_list(std::string_view line, std::span<basket_cell const> cells,
                    source_position const& place);

/// Throws `error` for a control character, as in binary files.
void expect_no_control(std::string_view line, source_position const& place);

/// Detects a table that marks for each item whether it is in the basket: all lines have the same
/// number of cells, all cells except the first mean yes or no, and some line has equal cells.
class matrix_watch {
 public:
  /// Takes the number of cells of a line; returns whether the table is still possible.
  bool wants(std::size_t cells) {
    ++lines_;
    could_be_ = could_be_ && cells > 1 && (cells_ == 0 || cells == cells_);
    cells_ = cells;
    return could_be_;
  }
  /// Takes the cells of the line that `wants` was called for.
  void take(bool say_yes_or_no, bool has_one_twice) {
    could_be_ = could_be_ && say_yes_or_no;
    repeats_ = repeats_ || has_one_twice;
  }
  /// Throws `error` at `first`, the place of the first line, if all lines form such a table.
  void expect_none(source_position const& first) const;

 private:
  bool could_be_ = true, repeats_ = false;
  std::size_t cells_ = 0, lines_ = 0;
};

/// Detects a basket's id before its items, as in `T100: bread milk`. Each line begins with an id, a
/// word with a digit that no other line begins with. The same mark, such as `:`, follows all ids
/// and occurs once in each line. Some line has several items. The separator is never the mark.
class id_watch {
 public:
  explicit id_watch(char separator);

  void take(std::string_view line);
  /// Throws `error` at `first`, the place of the first line, if all lines, two or more, begin so.
  void expect_none(source_position const& first) const;

 private:
  struct candidate {
    char mark = 0;
    std::string first;  // of the first line
    std::unordered_set<std::string> ids;
  };

  char separator_;
  std::size_t lines_ = 0;
  bool has_several_ = false;  // items after some id
  std::vector<candidate> candidates_;
};

/// Detects a header of unusual names above pairs of a basket's id and an item.
class first_pair_watch {
 public:
  void take(std::string_view line, std::string_view id, std::string_view item,
            source_position const& place);
  /// Throws `error` if only the first line's id has no digit or is no number, and warns if its id
  /// and item occur only there.
  void finish(std::string const& name, std::function<void(std::string const&)> const& warn) const;

 private:
  std::string line_, id_, item_;  // of the first line
  std::uint64_t number_ = 0;
  std::size_t pairs_ = 0;
  bool occurs_again_ = false;       // its id or item
  bool others_are_numbers_ = true;  // the other ids
  bool others_have_digits_ = true;  // the other ids
};

/// Inspects all lines of baskets.
class basket_watch {
 public:
  explicit basket_watch(char separator) : separator_(separator), ids_(separator) {}

  /// Throws `error` as `expect_no_list`, and for sequences, utilities and results of SPMF.
  void take(std::string_view line, std::span<basket_cell const> cells,
            source_position const& place);
  /// Throws `error` for a table, for lines that begin with an id or are in quotes, and if most
  /// lines are in brackets; passes ambiguous input to `warn`.
  void finish(std::string const& name, std::span<std::string const> items,
              std::function<void(std::string const&)> const& warn) const;

 private:
  void watch_matrix(std::span<basket_cell const> cells);
  void watch_pairs(std::span<basket_cell const> cells);
  void watch_separators(std::span<basket_cell const> cells, std::uint64_t line);
  void watch_first_items(std::span<basket_cell const> cells);
  void watch_quotes(std::span<basket_cell const> cells, std::uint64_t line);
  void watch_header(std::span<basket_cell const> cells);
  std::string first_items() const;
  bool are_pairs() const;

  char separator_;
  matrix_watch matrix_;
  id_watch ids_;
  std::size_t lines_ = 0;
  std::uint64_t first_line_ = 0;  // its number in the file
  std::size_t begin_ = 0;         // the number at the beginning of the first line
  // Whether the first items number or count the lines, end with ':', or alone have digits.
  bool is_numbered_ = true, is_counted_ = true, is_prefixed_ = true, are_ids_ = true;
  bool has_several_ = false;                     // items in a line
  std::unordered_set<std::string> first_items_;  // while they may be ids
  // Lines of one cell in quotes that contains a separator, while all lines are one cell in quotes.
  bool are_quoted_ = true;
  std::uint64_t quoted_line_ = 0;           // the first one
  bool have_quantities_ = true;             // whether all items have quantities
  std::unordered_set<std::string> header_;  // the first line, while it may be a header
  // Fields of every line; 0: the lines differ, or neither of the following holds.
  std::size_t columns_ = 0;
  bool has_header_ = true;  // no item of the first line occurs again
  // The first line is names that pandas or R give to columns, and no other line has any of them.
  bool has_default_names_ = false;
  bool has_columns_ = true;                                 // each item occurs in one column only
  std::unordered_map<std::string, std::size_t> column_of_;  // by item
  bool could_be_pairs_ = true, repeats_ = false;
  std::string last_;
  std::unordered_set<std::string> firsts_, seconds_;
  std::size_t lists_ = 0;
  std::uint64_t list_line_ = 0;
  std::size_t inner_lines_ = 0;
  std::uint64_t inner_line_ = 0;
  char inner_ = 0;
};

}  // namespace rulerank::datasets
