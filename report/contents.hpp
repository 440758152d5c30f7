#pragma once

#include "core/context.hpp"
#include "report/document.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

// What a report says: of cross-validations and learning curves as `experiment` writes them, of
// models and benchmarks.
//
// Threads: functions may be called from any number of threads at once.
namespace rulerank::inline v0::report {

struct report_options {
  std::string title = "Report";
  /// Folders that `experiment` or `pipeline` wrote. Cross-validations of the same queries by the
  /// same measures and profile are shown together, their systems side by side.
  std::vector<std::string> folders;
  /// Where the test sets of the folds lie (Fold1/test.txt, ...). Empty: where the manifests say,
  /// as far as the files there are the same.
  std::string folds;
  /// The system that others are compared with; empty: the first one of each cross-validation.
  std::string baseline;
  /// The measure of wins, losses and learning curves; empty: NDCG@10, else the first.
  std::string metric;
  std::vector<std::string> models;  ///< model files, whose features and rules are shown
  std::vector<std::string> bench;   ///< results of benchmarks, a JSON object a line
  std::size_t top = 10;             ///< queries won and lost, rules and features that are shown
  std::function<void(std::string const&)> opened{};  ///< gets each file that is read; may be empty
};

/// Reads everything and puts it together. Throws `error` naming a folder that holds no results, a
/// damaged file, and test sets of `folds` that are not those of the results; `usage_error` for a
/// baseline or metric that no results have. What a folder does not hold, such as rankings, is said
/// in the report.
document make_report(context const& ctx, report_options const& options);

}  // namespace rulerank::report
