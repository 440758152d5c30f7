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
  double value = 0;        ///< the measure's average on the validation set
  std::string name{};      ///< if features have names
  static auto members_of(auto& one) {
    return std::tie(one.feature, one.ascending, one.value, one.name);
  }
};

/// One system's results on the test set of one fold.
struct system_result {
  std::string name;
  std::optional<std::size_t> documents;  ///< |U|, the number of training documents that it ranks by
  eval::query_values queries;            ///< for `random`, each query's mean over the samples
  std::vector<std::vector<double>> draws;  ///< for `random`: [samples][measures] averages
};

/// A training set after selective sampling.
struct reduction {
  rules::rule_size rule_size = 0;
  std::size_t documents = 0;
  std::size_t partitions = 0;
};

/// Everything that tables and results.json need from one fold.
struct fold_result {
  std::string name;
  std::string fingerprint;                    ///< of settings, inputs and program
  std::map<std::string, std::string> inputs;  ///< SHA-256 by name
  std::size_t train_documents = 0;
  std::size_t test_documents = 0;
  std::vector<reduction> reductions;
  std::optional<ranking_feature> feature;
  std::vector<system_result> systems;
  /// The settings that tuning chose, by system, as the text of a settings file.
  std::map<std::string, std::string> tuned;
  std::map<std::string, std::string> files;  ///< SHA-256 of the other files written for the fold
};

/// Reads a fold's results as written by `run` (folds/FOLD.json). Throws `error` naming the file if
/// it cannot be read or was changed (it has a checksum).
fold_result read_fold_result(std::string const& path);

/// A system over all folds.
struct system_summary {
  system what;
  std::optional<double> documents;  ///< mean of |U| over the folds
  std::optional<double> share;      ///< sum of |U| over the sum of training documents
  std::vector<double> means;        ///< [measures] means of the fold means
  std::vector<double> spread;  ///< for `random`: [measures] standard deviation over the samples of
                               ///< each one's mean of fold means (n - 1; 0 for one sample); else
                               ///< empty
};

/// The whole cross-validation.
struct report {
  std::vector<fold_result> folds;
  std::vector<system_summary> systems;
  /// For each rank size with `full` and another system: `full` compared with every system of the
  /// same rank size or of none. For each tuned system on all training documents: it compared with
  /// every other system without a rank size. Over processes, those of the first one.
  std::vector<eval::report> comparisons;
};

/// Combines the folds and compares the systems. Throws `error` if a fold lacks a system.
report make_report(context const& ctx, settings const& s, std::vector<fold_result> folds,
                   eval::comparison_options const& options);

/// Settings, folds, systems and comparisons, as in results.json; depends on the settings and the
/// inputs alone.
std::string to_text(report const& r, settings const& s);

/// The table of the systems, then those of the comparisons, in any format but JSON.
std::string render(report const& r, settings const& s, eval::table_format format);

}  // namespace rulerank::experiment
