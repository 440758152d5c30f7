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

// What `experiment` left in folders.
namespace rulerank::inline v0::report {

using json = nlohmann::ordered_json;

/// A test set and what ranks it.
struct fold_data {
  datasets::dataset test;
  std::map<std::string, std::vector<double>> scores;  ///< [documents] by system
};

/// A cross-validation.
struct cross_validation {
  std::string folder;
  std::string name;  ///< distinct in the report
  json settings, manifest;
  eval::profile profile;
  std::vector<experiment::fold_result> folds;
  std::vector<std::optional<fold_data>> data;  ///< [folds] none where the test set is not there
};

/// Learning curves: a row of curves.tsv.
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
  /// The results by query; none where curves/FOLD.json of a fold is missing.
  std::optional<experiment::curve_results> by_query;
};

struct found_results {
  std::vector<cross_validation> validations;
  std::vector<learning_curves> curves;
};

/// Reads all of `options.folders`.
found_results read_results(context const& ctx, report_options const& options);

/// The checksum of a fold's part, `test` or `train`; empty where it was not a file.
std::string part_checksum(experiment::fold_result const& fold, std::string_view part);
/// Files that may be that part: in the folder that the caller names, else where the manifest has a
/// file with its checksum, or beside the experiment of a pipeline.
std::vector<std::string> part_paths(cross_validation const& of, experiment::fold_result const& fold,
                                    std::string_view part, report_options const& options);
/// How the experiment read its documents; group files are not known here.
datasets::read_options reading_of(cross_validation const& of);

/// Where a system of a group comes from.
struct system_source {
  cross_validation const* from = nullptr;
  std::string name;  ///< there
};

/// Cross-validations of the same queries, measures and profile.
struct validation_group {
  std::vector<cross_validation const*> validations;
  std::vector<eval::measure> measures;
  std::vector<std::string> folds;
  std::vector<eval::system_values> systems;      ///< distinct names
  std::vector<system_source> sources;            ///< [systems]
  std::vector<std::optional<double>> documents;  ///< [systems] mean of the folds
  std::size_t baseline = 0;
  std::size_t measure = 0;  ///< of wins and losses
  /// [baselines][systems] paired t-tests, Holm's correction over the systems of a measure: those of
  /// each system with every measure, empty for the baseline itself.
  std::vector<std::vector<std::vector<eval::comparison>>> compared;

  std::string title() const;
};

/// The values of a system by a measure, query by query over the folds.
std::vector<double> queries_of(eval::system_values const& of, std::size_t measure);

/// The systems of a group, the best by its measure first.
std::vector<std::size_t> best_first(validation_group const& group);

std::vector<validation_group> groups_of(context const& ctx, found_results const& found,
                                        report_options const& options);

/// The text of a share of the labels, such as `5 %`.
std::string share_text(double share);

/// Which of these measures is meant by `options.metric`; none where they lack it.
std::optional<std::size_t> chosen_measure(std::vector<std::string> const& names,
                                          report_options const& options);

}  // namespace rulerank::report
