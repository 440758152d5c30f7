#pragma once
// Cells of tables that people fill in with a spreadsheet: what a spreadsheet would take for a
// formula, a number or a date is guarded, and read back as it was.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// `text` as a cell that no spreadsheet calculates: an apostrophe stands in front of one that
/// begins with = + - @ (their full-width forms, tab, CR and an apostrophe too). Control characters
/// but tab, LF and CR, and marks that turn a line's direction, become blanks.
std::string guarded(std::string_view text);
/// The same for an id, of which a spreadsheet must not make a number, a date or a truth value
/// either: 007, 1-2, 1e5, MARCH1, true. Only what begins with a letter and looks like none of these
/// goes without the apostrophe. All bytes of the id are kept.
std::string guarded_id(std::string_view id);
/// What `guarded_id` was given, and what other programs wrote as it is, but for an apostrophe in
/// front of what it guards: `'007` is `007`, and `'tis` stays.
std::string_view unguarded_id(std::string_view cell);
/// The text of a cell: without the apostrophe in front.
std::string_view unguarded(std::string_view cell);
/// `guarded` with every other byte as it is.
std::string guarded_formula(std::string_view text);
/// What `guarded_formula` was given, and what other programs wrote as it is, but for an apostrophe
/// in front of what it guards: `'=x` is `=x`, and `'tis` stays.
std::string_view unguarded_formula(std::string_view cell);
/// With blanks in the place of control characters but tab, LF and CR, and of marks that turn a
/// line's direction.
std::string without_controls(std::string_view text);
/// Without the double quotes around it, and with single ones for doubled ones inside.
std::string without_quotes(std::string_view text);

/// A cell and where it begins, 1-based, in bytes.
struct label_cell {
  std::string text;
  std::uint64_t line = 1;
  std::uint64_t column = 1;
};

/// The cells of one line between tabs; a CR at the end is dropped.
std::vector<label_cell> split_cells(std::string_view line, std::uint64_t number);

/// The records of a table as spreadsheets save it: between tabs, commas or semicolons, whichever
/// the header has (or a first line `sep=;` names), LF or CRLF, cells in double quotes with line
/// ends in them. A cell whose quotes do not surround it is taken as it is.
class label_records {
 public:
  /// `text` outlives it.
  explicit label_records(std::string_view text);
  /// Goes on to the next record, the first at the first call; false when there is none.
  bool next();
  std::vector<label_cell> const& cells() const noexcept { return cells_; }

 private:
  std::string_view rest_;
  char delimiter_ = '\t';
  std::uint64_t line_ = 1;
  std::vector<label_cell> cells_;
};

}  // namespace rulerank::datasets
