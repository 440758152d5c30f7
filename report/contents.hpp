#pragma once

#include "core/context.hpp"
#include "report/document.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

// Makes a report on cross-validations and learning curves written by `experiment`, on models and on
// benchmarks.
//
// Threads: functions may be called from any number of threads at once.
namespace rulerank::inline v0::report {

struct report_options {
  std::string title = "Report";
  /// Folders written by `experiment` or `pipeline`. Cross-validations with the same queries,
  /// measures and profile are shown together, with their systems side by side.
  std::vector<std::string> folders;
  /// The folder of the folds' test sets (Fold1/test.txt, ...). Empty: the paths in the manifests,
  /// if the files there are unchanged.
  std::string folds;
  /// The system to compare others with; empty: the first of each cross-validation.
  std::string baseline;
  /// The measure of wins, losses and learning curves; empty: NDCG@10, or the first if there is
  /// none.
  std::string metric;
  std::vector<std::string> models;  ///< model files whose features and rules to show
  std::vector<std::string> bench;   ///< benchmark results, one JSON object per line
  std::size_t top = 10;             ///< number of won and lost queries, rules and features to show
  std::function<void(std::string const&)> opened{};  ///< called with the path of each file read;
                                                     ///< may be empty
};

/// Reads all inputs and makes the report. Throws `error` naming a folder without results or a
/// damaged file, and for test sets in `folds` that differ from those of the results; `usage_error`
/// for a baseline or metric that no results have. If a folder lacks something, such as rankings,
/// the report says so.
document make_report(context const& ctx, report_options const& options);

}  // namespace rulerank::report
