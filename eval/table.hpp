#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::eval {

enum class table_format { table, tsv, json, markdown, latex };

/// table, tsv, json, markdown or latex; throws `usage_error` for another word.
table_format table_format_from(std::string_view word);

/// A column: its name and how its numbers are displayed.
struct column {
  enum class style {
    text,     ///< left-aligned
    fixed,    ///< right-aligned, `digits` after the point
    general,  ///< right-aligned, three significant digits, for p-values and the like
  };
  std::string name;
  style shown = style::text;
  int digits = 4;
};

/// A text, a whole number or a double.
struct cell : std::variant<std::string, std::int64_t, double> {
  cell() = default;
  // NOLINTBEGIN(google-explicit-constructor): rows are lists of values
  cell(std::string text) : variant(std::move(text)) {}
  cell(std::string_view text) : variant(std::string(text)) {}
  cell(char const* text) : variant(std::string(text)) {}
  template <std::integral Whole>
  cell(Whole value) : variant(static_cast<std::int64_t>(value)) {}
  cell(double value) : variant(value) {}
  // NOLINTEND(google-explicit-constructor)
};

/// Rows of cells under named columns, for output in any format.
struct table {
  std::string title{};  ///< one line, may be empty
  std::vector<column> columns{};
  std::vector<std::vector<cell>> rows{};  ///< each as long as `columns`
  std::string key{};                      ///< identifies the table in a page; may be empty
};

/// The table as text ending with a line feed. `table`: aligned columns; `tsv`: a comment line `#
/// title`, a line of names, exact numbers; `markdown`; `latex`: a tabular that needs no package;
/// `json`: an array of objects, exact numbers.
std::string render(table const& t, table_format format);

/// A cell as displayed: text unchanged, numbers by the column's style.
std::string shown(cell const& c, column const& in);

}  // namespace rulerank::eval
