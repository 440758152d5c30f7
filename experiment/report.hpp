#pragma once

#include "core/context.hpp"
#include "eval/report.hpp"
#include "eval/table.hpp"
#include "experiment/fold_result.hpp"
#include "experiment/settings.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace rulerank::experiment {

/// A system over all folds.
struct system_summary {
  system what;
  std::optional<double> documents;  ///< mean |U| of the folds
  std::optional<double> share;      ///< |U| of all folds over their training documents
  std::vector<double> means;        ///< mean of the fold means, one a measure
  std::vector<double> spread;  ///< of `random`: standard deviation over the draws of each draw's
                               ///< mean of fold means (n - 1; 0 for one draw); else empty
};

/// The whole cross-validation.
struct report {
  std::vector<fold_result> folds;
  std::vector<system_summary> systems;
  /// For each rank size with `full` and another system: that `full` and every system beside it of
  /// the same rank size or of none, compared with it; and for each tuned system on all training
  /// documents: it and every other system without a rank size.
  std::vector<eval::report> comparisons;
};

/// Puts the folds together and compares. Throws `error` when a fold lacks a system.
report make_report(context const& ctx, settings const& s, std::vector<fold_result> folds,
                   eval::comparison_options const& options);

/// results.json: settings, folds, systems, comparisons; a function of the settings and the inputs.
nlohmann::ordered_json to_json(report const& r, settings const& s);

/// The table of the systems, then those of the comparisons, in any format but JSON.
std::string render(report const& r, settings const& s, eval::table_format format);

}  // namespace rulerank::experiment
