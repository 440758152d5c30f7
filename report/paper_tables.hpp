#pragma once

#include "eval/table.hpp"

#include <vector>

namespace rulerank::inline v0::report {

/// What a line of paper holds, in widths of a digit.
struct paper_line {
  double room;
  double between;          ///< more of each column: its margins
  double least_names = 0;  ///< where texts are broken into lines: what a column of them has room
  double most_names = 0;   ///< for, however short or long they are; 0: they are not broken
};

/// The tables that show a table on paper: as many columns side by side as a line holds, each with
/// those that name the rows, before the first of style `fixed`. One, where all fit, where there are
/// no names or texts behind them, and where the names alone fill a line.
std::vector<eval::table> parts_on_paper(eval::table const& of, paper_line const& line);

}  // namespace rulerank::report
