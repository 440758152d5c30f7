#pragma once
// Cells of tables that people fill in with a spreadsheet: text that a spreadsheet would interpret
// as a formula, number or date is guarded, and restored when read.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::datasets {

/// Returns `text` as a cell that no spreadsheet evaluates: text that begins with = + - @ (also
/// full-width forms, tab, CR and an apostrophe) gets an apostrophe in front. Control characters
/// except tab, LF and CR, and direction marks, become spaces.
std::string guarded(std::string_view text);
/// Guards an id, which a spreadsheet must also not convert to a number, date or boolean: 007, 1-2,
/// 1e5, MARCH1, true. Only ids that begin with a letter and resemble none of these get no
/// apostrophe. All bytes of the id are kept.
std::string guarded_id(std::string_view id);
/// Inverts `guarded_id`. Text of other programs is unchanged, except for an apostrophe before text
/// that must be guarded: `'007` becomes `007`, and `'tis` stays.
std::string_view unguarded_id(std::string_view cell);
/// Returns the text of a cell without an apostrophe in front.
std::string_view unguarded(std::string_view cell);
/// Guards as `guarded`, and keeps all other bytes.
std::string guarded_formula(std::string_view text);
/// Inverts `guarded_formula`. Text of other programs is unchanged, except for an apostrophe before
/// text that must be guarded: `'=x` becomes `=x`, and `'tis` stays.
std::string_view unguarded_formula(std::string_view cell);
/// Returns whether a text begins or ends with a character that shows as a blank or not at all:
/// U+00A0, U+00AD, U+200B, U+202F, U+3000 or U+FEFF.
bool has_hidden_end(std::string_view text);

/// Replaces control characters except tab, LF and CR, and direction marks, by spaces.
std::string without_controls(std::string_view text);
/// Removes surrounding double quotes, and replaces doubled quotes inside by single ones.
std::string without_quotes(std::string_view text);

/// A cell and its position, 1-based, in bytes.
struct label_cell {
  std::string text;
  std::uint64_t line = 1;
  std::uint64_t column = 1;
};

/// Splits a line at tabs; drops a CR at its end.
std::vector<label_cell> split_cells(std::string_view line, std::uint64_t number);

/// The records of a table as spreadsheets save it: separated by tabs, commas or semicolons,
/// whichever the header contains (or a first line `sep=;` names), with LF or CRLF; cells in double
/// quotes may contain line ends. A cell that is not completely quoted is used as it is.
class label_records {
 public:
  /// `text` must outlive it.
  explicit label_records(std::string_view text);
  /// Moves to the next record, at first to the first; returns false at the end.
  bool next();
  std::vector<label_cell> const& cells() const noexcept { return cells_; }

 private:
  std::string_view rest_;
  char delimiter_ = '\t';
  std::uint64_t line_ = 1;
  std::vector<label_cell> cells_;
};

}  // namespace rulerank::datasets
