#pragma once

#include "eval/table.hpp"

#include <vector>

namespace rulerank::inline v0::report {

/// The width of a printed line, in widths of a digit.
struct paper_line {
  double room;
  double between;          ///< margins per column, added to its width
  double least_names = 0;  ///< if texts are wrapped: minimum width of a text column
  double most_names = 0;   ///< likewise its maximum width; 0: texts are not wrapped
};

/// Splits a table that is too wide for paper: each part repeats the name columns (those before the
/// first of style `fixed`) and has as many others as fit. Returns the table itself if it fits, if
/// it has no name columns or has text columns after them, and if the name columns alone fill a
/// line.
std::vector<eval::table> parts_on_paper(eval::table const& of, paper_line const& line);

}  // namespace rulerank::report
