#pragma once

#include "eval/significance.hpp"
#include "eval/table.hpp"

#include <string>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::eval {

/// How a system's values are averaged over folds.
enum class averaging {
  folds,    ///< the mean of the folds' means, as in LETOR's tables
  queries,  ///< the mean over the queries of all folds
};

/// Systems on the same test sets under one profile, and what to show.
struct report {
  profile rules;
  std::vector<std::string> folds;       ///< [folds] names
  std::vector<system_values> systems;   ///< each with as many folds
  std::vector<comparison> comparisons;  ///< may be empty
  comparison_options compared;          ///< the options of the comparisons
  averaging averaged = averaging::folds;
  bool per_fold = false;
  bool per_query = false;
};

/// A system's averages, [measures].
std::vector<double> averages(system_values const& system, averaging how);

/// A row for each system and, if requested, fold and query; the title names the profile.
table values_table(report const& r, int digits = 4);
/// A row per system and measure against the reference.
table comparisons_table(report const& r, int digits = 4);

/// Both tables (the second if there are comparisons) in a format; as JSON one object with all
/// members of the profile, the systems' averages by fold, their queries if requested, and the
/// comparisons.
std::string render(report const& r, table_format format, int digits = 4);

}  // namespace rulerank::eval
