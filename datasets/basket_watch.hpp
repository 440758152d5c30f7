#pragma once
// Files that are no baskets, or other baskets than the options make of them.

#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace rulerank::inline v0::datasets {

/// A cell of a line, and its column.
struct basket_cell {
  std::string_view text;
  std::size_t column = 1;
  bool has_quotes = false;
};

/// What `--form pairs` reads of a line.
struct pair_columns {
  std::size_t id = 0, item = 1, cells = 2;
};

/// The columns of a basket's id and of one of its items in a header of usual names.
std::optional<pair_columns> pair_columns_of(std::span<basket_cell const> header);

/// Whether all cells are usual names of columns.
bool is_basket_header(std::span<basket_cell const> cells);

/// The separator by which a line is a header as `pair_columns_of` has it; 0: there is none.
char separator_of_header(std::string_view line);

/// A character that may separate cells in this text; 0: there is none.
char inner_separator(std::string_view text);
/// The option that sets this separator: `--separator ','` for a comma.
std::string separator_option(char separator);

/// Throws `error` for a list in brackets, which has a comma or quotes. Returns whether the line is
/// in brackets without these.
bool expect_no_list(std::string_view line, std::span<basket_cell const> cells,
                    source_position const& place);

/// Throws `error` for a control character, which binary files have.
void expect_no_control(std::string_view line, source_position const& place);

/// Whether lines are a table that says for each item whether it is in the basket: all have as many
/// cells, all cells but the first say yes or no, and some line has a cell twice.
class matrix_watch {
 public:
  /// Takes a line of so many cells; whether it can go on with the table.
  bool wants(std::size_t cells) {
    ++lines_;
    could_be_ = could_be_ && cells > 1 && (cells_ == 0 || cells == cells_);
    cells_ = cells;
    return could_be_;
  }
  /// The cells of a line that `wants` was asked about.
  void take(bool say_yes_or_no, bool has_one_twice) {
    could_be_ = could_be_ && say_yes_or_no;
    repeats_ = repeats_ || has_one_twice;
  }
  /// Throws where all lines are such a table.
  void expect_none(std::string const& name) const;

 private:
  bool could_be_ = true, repeats_ = false;
  std::size_t cells_ = 0, lines_ = 0;
};

/// Sees all lines of baskets.
class basket_watch {
 public:
  explicit basket_watch(char separator) : separator_(separator) {}

  /// Throws `error` as `expect_no_list`, and for sequences and utilities of SPMF.
  void take(std::string_view line, std::span<basket_cell const> cells,
            source_position const& place);
  /// Throws `error` for a table and where most lines are in brackets; `warn` hears of what may be
  /// meant otherwise.
  void finish(std::string const& name, std::span<std::string const> items,
              std::function<void(std::string const&)> const& warn) const;

 private:
  void watch_matrix(std::span<basket_cell const> cells);
  void watch_pairs(std::span<basket_cell const> cells);
  void watch_separators(std::span<basket_cell const> cells, std::uint64_t line);
  void watch_first_items(std::span<basket_cell const> cells);
  void watch_header(std::span<basket_cell const> cells);
  std::string first_items() const;
  bool are_pairs() const;

  char separator_;
  matrix_watch matrix_;
  std::size_t lines_ = 0;
  std::size_t begin_ = 0;  // the number that begins the first line
  bool is_numbered_ = true, is_counted_ = true, is_prefixed_ = true;  // by the first items
  bool have_quantities_ = true;                                       // all items
  std::unordered_set<std::string> header_;  // the first line, while it may be one
  std::size_t columns_ = 0;                 // of all lines; 0: not as many in all
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
