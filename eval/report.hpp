#pragma once

#include "eval/significance.hpp"
#include "eval/table.hpp"

#include <string>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::eval {

/// What a system's average over several folds is.
enum class averaging {
  folds,    ///< the mean of the folds' means, as in LETOR's tables
  queries,  ///< the mean over the queries of all folds
};

/// Systems on the same test sets under one profile, with what is to be shown of them.
struct report {
  profile rules;
  std::vector<std::string> folds;       ///< a name for each test set
  std::vector<system_values> systems;   ///< each with as many folds
  std::vector<comparison> comparisons;  ///< may be empty
  comparison_options compared;          ///< how these were made
  averaging averaged = averaging::folds;
  bool per_fold = false;
  bool per_query = false;
};

/// A system's averages, one a measure.
std::vector<double> averages(system_values const& system, averaging how);

/// A row for each system and, as asked, fold and query; the title names the profile.
table values_table(report const& r, int digits = 4);
/// A row for each system against the reference on each measure.
table comparisons_table(report const& r, int digits = 4);

/// Both tables (the second where there are comparisons) in a format; as JSON one object with the
/// profile in every part, the systems' averages by fold, their queries where asked for, and the
/// comparisons.
std::string render(report const& r, table_format format, int digits = 4);

}  // namespace rulerank::eval
