#include "l2r/export/additive.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

// One query that PostgreSQL, SQLite and DuckDB run.
namespace rulerank::inline v0::l2r {

namespace {

/// With an exponent a number is a double in all three; DuckDB would read `0.1` as a decimal.
std::string sql_number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find('e') == std::string::npos) text += "e0";
  return text;
}

/// Whole points need no exponent.
std::string sql_points(double points) {
  bool const whole = points == std::floor(points) && std::abs(points) < 0x1p31;
  return whole ? fmt::format("{}", points) : sql_number(points);
}

std::string sql_name(std::string_view name) {
  std::string text = "\"";
  for (char const c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

std::string sql_case(additive_feature const& feature) {
  std::string const column = sql_name(feature.name);
  // PostgreSQL and DuckDB sort NaN above all numbers.
  std::string text =
      fmt::format("CASE\n      WHEN {0} IS NULL OR {0} > {1} THEN {2}\n", column,
                  sql_number(std::numeric_limits<double>::max()), sql_points(feature.missing));
  for (std::size_t bin = feature.cuts.size(); bin > 0; --bin)
    text += fmt::format("      WHEN {} >= {} THEN {}\n", column, sql_number(feature.cuts[bin - 1]),
                        sql_points(feature.points[bin]));
  return text + fmt::format("      ELSE {} END", sql_points(feature.points[0]));
}

}  // namespace

std::string write_sql(additive_form const& form, export_options const& options) {
  std::string columns, sum;
  for (additive_feature const& one : form.features) {
    std::string const points = sql_name("points of " + one.name);
    columns += fmt::format(",\n    {} AS {}", sql_case(one), points);
    sum += (sum.empty() ? "" : " + ") + points;
  }
  return head_comment(form, options, "--") +
         fmt::format(
             "-- `documents` is a table with a column of each feature. NULL, NaN and infinity are "
             "missing values;\n-- the value of a feature that a document does not list is {}.\n"
             "SELECT *, {} AS score\nFROM (\n  SELECT documents.*{}\n  FROM documents\n) AS {};\n",
             form.absent_is_missing ? "NULL" : "0", sum, columns, sql_name(options.name));
}

}  // namespace rulerank::l2r
