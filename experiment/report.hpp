#pragma once

#include "core/context.hpp"
#include "eval/evaluate.hpp"
#include "eval/report.hpp"
#include "eval/table.hpp"
#include "experiment/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

// Results of a cross-validation. These functions may be called from several threads.
namespace rulerank::inline v0::experiment {

/// A feature as a ranker.
struct ranking_feature {
  std::uint32_t feature = 0;
  bool ascending = false;  ///< the lowest value ranks first
  double value = 0;        ///< the measure's average where it was chosen
  std::string name{};      ///< where features have names
  static auto members_of(auto& one) {
    return std::tie(one.feature, one.ascending, one.value, one.name);
  }
};

/// What one system got on the test set of one fold.
struct system_result {
  std::string name;
  std::optional<std::size_t> documents;    ///< |U|, the training documents it ranks by
  eval::query_values queries;              ///< of `random` each query's mean over the draws
  std::vector<std::vector<double>> draws;  ///< of `random`: each draw's averages, one a measure
};

/// A training set after selective sampling.
struct reduction {
  rules::rule_size rule_size = 0;
  std::size_t documents = 0;
  std::size_t partitions = 0;
};

/// Everything that tables and results.json need of one fold.
struct fold_result {
  std::string name;
  std::string fingerprint;                    ///< of settings, inputs and program
  std::map<std::string, std::string> inputs;  ///< SHA-256 by name
  std::size_t train_documents = 0;
  std::size_t test_documents = 0;
  std::vector<reduction> reductions;
  std::optional<ranking_feature> feature;
  std::vector<system_result> systems;
  /// What tuning chose, by system, as the text of a settings file.
  std::map<std::string, std::string> tuned;
  std::map<std::string, std::string> files;  ///< SHA-256 of what else was written for the fold
};

/// Reads the results of a fold as `run` wrote them (folds/FOLD.json). Throws `error` naming the
/// file for one that cannot be read or was changed: it has a checksum.
fold_result read_fold_result(std::string const& path);

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
  /// documents: it and every other system without a rank size. Over processes the first one's.
  std::vector<eval::report> comparisons;
};

/// Puts the folds together and compares. Throws `error` when a fold lacks a system.
report make_report(context const& ctx, settings const& s, std::vector<fold_result> folds,
                   eval::comparison_options const& options);

/// Settings, folds, systems, comparisons, as results.json has them: a function of the settings and
/// the inputs.
std::string to_text(report const& r, settings const& s);

/// The table of the systems, then those of the comparisons, in any format but JSON.
std::string render(report const& r, settings const& s, eval::table_format format);

}  // namespace rulerank::experiment
