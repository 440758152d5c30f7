#pragma once

#include "datasets/svmlight.hpp"
#include "eval/profile.hpp"
#include "eval/significance.hpp"
#include "experiment/learning_curves.hpp"
#include "experiment/report.hpp"
#include "report/contents.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

// Reads the folders that `experiment` wrote.
namespace rulerank::inline v0::report {

using json = nlohmann::ordered_json;

/// A test set and the systems' scores for it.
struct fold_data {
  datasets::dataset test;
  std::map<std::string, std::vector<double>> scores;  ///< [documents] scores by system
};

/// The results of a cross-validation.
struct cross_validation {
  std::string folder;
  std::string name;  ///< unique within the report
  json settings, manifest;
  eval::profile profile;
  std::vector<experiment::fold_result> folds;
  std::vector<std::optional<fold_data>> data;  ///< [folds] empty if the test set is unavailable
};

/// A row of curves.tsv, a learning curve.
struct curve_row {
  std::string fold, way, settings, system;
  double share = 0, documents = 0, labels = 0;
  std::vector<double> values;  ///< [measures]
};

struct learning_curves {
  std::string folder, name;
  json manifest;
  std::vector<std::string> measures;
  std::vector<curve_row> rows;
  /// The results by query; empty if curves/FOLD.json of any fold is missing.
  std::optional<experiment::curve_results> by_query;
};

struct found_results {
  std::vector<cross_validation> validations;
  std::vector<learning_curves> curves;
};

/// Reads all of `options.folders`.
found_results read_results(context const& ctx, report_options const& options);

/// The checksum of a fold's `test` or `train` set; empty if it was not a file.
std::string part_checksum(experiment::fold_result const& fold, std::string_view part);
/// Paths that may hold that set: in the folder that the caller names; else the manifest's file with
/// the same checksum, or next to the experiment of a pipeline.
std::vector<std::string> part_paths(cross_validation const& of, experiment::fold_result const& fold,
                                    std::string_view part, report_options const& options);
/// How the experiment read its documents; group files are not known here.
datasets::read_options reading_of(cross_validation const& of);

/// The origin of a system in a group.
struct system_source {
  cross_validation const* from = nullptr;
  std::string name;  ///< name in `from`
};

/// Cross-validations with the same queries, measures and profile.
struct validation_group {
  std::vector<cross_validation const*> validations;
  std::vector<eval::measure> measures;
  std::vector<std::string> folds;
  std::vector<eval::system_values> systems;      ///< with distinct names
  std::vector<system_source> sources;            ///< [systems]
  std::vector<std::optional<double>> documents;  ///< [systems] mean over the folds
  std::size_t baseline = 0;
  std::size_t measure = 0;  ///< for wins and losses
  /// [baselines][systems] Paired t-tests with Holm correction over the systems of a measure: one
  /// per measure; empty for the baseline itself.
  std::vector<std::vector<std::vector<eval::comparison>>> compared;

  std::string title() const;
};

/// A system's values of a measure, by query over all folds.
std::vector<double> queries_of(eval::system_values const& of, std::size_t measure);

/// A group's systems, best first by its measure.
std::vector<std::size_t> best_first(validation_group const& group);

std::vector<validation_group> groups_of(context const& ctx, found_results const& found,
                                        report_options const& options);

/// The text of a share of labels, such as `5 %`.
std::string share_text(double share);

/// The index of the measure selected by `options.metric`; empty if there is none.
std::optional<std::size_t> chosen_measure(std::vector<std::string> const& names,
                                          report_options const& options);

}  // namespace rulerank::report
