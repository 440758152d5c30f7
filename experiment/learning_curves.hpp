#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/feature_order.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"
#include "eval/table.hpp"
#include "experiment/experiment.hpp"
#include "rules/thresholds.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Learning curves: systems that learn from a part of the labels, chosen in several ways. These
// functions may be called from several threads, `run_curves` on output folders of its own each.
namespace rulerank::inline v0::experiment {

/// The systems there are (learners::system_names).
std::vector<std::string_view> curve_systems();
/// A system that is not compared, and how to get it.
struct left_out_system {
  std::string name, remedy;
};
/// Those that a user compares first: card, joint, rules, feature, and lightgbm where `lightgbm`
/// names its library or it is installed; else lightgbm is left out.
struct first_comparison {
  std::vector<std::string> systems;
  std::vector<left_out_system> left_out;
};
first_comparison first_systems(std::string const& lightgbm);
/// The ways to choose a part of the documents to learn from: chosen, random, queries, depth,
/// margin, entropy, variance (docs/reference/verbs/experiment.md).
std::vector<std::string_view> curve_ways();

struct curve_options {
  std::vector<std::string> systems;       ///< one or more, each once
  std::vector<left_out_system> left_out;  ///< what the results say of others
  std::vector<std::string> ways;          ///< likewise
  /// Shares of the training documents, above 0, at most 1, ascending. All documents are learnt
  /// from at 1, whatever the ways.
  std::vector<double> budgets;
  std::size_t draws = 10;               ///< of what is drawn, 1 or more
  std::string lightgbm;                 ///< learners::system_options has it
  std::vector<eval::measure> measures;  ///< distinct; the first one chooses settings
  eval::profile profile;
  datasets::discretizer_options discretizer;  ///< method and bins: of sampling and its committees
  rules::thresholds thresholds;               ///< of sampling, as what follows
  std::size_t partitions = 0;
  datasets::feature_order feature_order = datasets::feature_order::chi2;
  std::string feature_order_file;
  /// A folder for all that is written; made where it is missing. Empty: nothing is written.
  std::string out_dir;
};

/// How the setting of a system was chosen.
enum class setting_choice {
  defaults,      ///< not at all
  cross_fitted,  ///< inside a random sample of as many labels (cross_fitting.hpp)
  validated,     ///< on the validation set, whose labels come on top
};
inline constexpr setting_choice setting_choices[]{
    setting_choice::defaults, setting_choice::cross_fitted, setting_choice::validated};
/// defaults, cross-fitted, validated.
std::string_view name_of(setting_choice by);
/// Throws `usage_error` that lists the names.
setting_choice setting_choice_from(std::string_view name);

/// Up to this share of the labels settings are chosen inside the sample: the labels of a validation
/// set would be most of those that are read. Above it the validation set chooses.
inline constexpr double largest_untuned_budget = 0.1;

/// A setting that was chosen for a system and a budget.
struct curve_choice {
  std::string system;
  double budget = 0;
  setting_choice by = setting_choice::validated;  ///< or cross_fitted
  std::string trial;
  std::size_t steps = 0;  ///< trees; 0: as many as the trial has, or the system has none
  /// The first measure's, on the validation set, or the share of the sample's pairs in order.
  double value = 0;
};

/// What a system got on a fold's test set, having learnt from one sample.
struct curve_point {
  std::string way;
  double budget = 0;
  std::size_t draw = 0;
  std::size_t documents = 0;  ///< learnt from
  std::string how;            ///< what else is to be said of the choice, such as a rule size
  std::string system;
  setting_choice settings = setting_choice::defaults;
  std::vector<double> values;  ///< [queries x measures]
};

/// How long a system took to get a point: no two runs have the same.
struct curve_seconds {
  double fit = 0;    ///< to learn from the sample
  double score = 0;  ///< to make the test set's scores
};

struct curve_fold {
  std::string name;
  std::string fingerprint;
  std::map<std::string, std::string> inputs;  ///< SHA-256 by name
  std::size_t train_documents = 0, vali_documents = 0;
  std::vector<std::string> qids;
  std::vector<curve_choice> choices;
  std::vector<curve_point> points;     ///< by budget, way, draw, setting, system, as asked for
  std::vector<curve_seconds> seconds;  ///< of the points; none in a fold that was read from text
};

struct curve_results {
  curve_options options;               ///< as asked for, with r_max of the profile
  std::vector<std::string> libraries;  ///< of the systems that need one, with versions, each once
  std::vector<std::string> ours;       ///< the systems that need none
  std::vector<curve_fold> folds;
};

/// Throws `usage_error` for options that make no sense and for systems whose library is not there,
/// `error` for a library that cannot be used.
void check(curve_options const& options);
/// Whether validation sets are read.
bool needs_validation(curve_options const& options);

/// Trains every system on every sample of every fold and judges it on the test set, or takes the
/// folds, and of a fold what was done, from an earlier run with the same options and inputs; writes
/// curves/FoldN.json, curves.tsv, curves.md and curves.svg. The same options, inputs and libraries
/// give the same bytes for any threads and however often it was stopped, but for
/// curves/FoldN.seconds.tsv, which has times. Over processes (context::processes) trials and
/// samples are dealt to those that are free, the first one alone writes, and all return the
/// results. Throws `usage_error` for options that make no sense and systems whose library is not
/// there, `error` for bad input, `output_error`.
curve_results run_curves(context const& ctx, curve_options const& options,
                         fold_source const& source, sinks const& out = {});

/// A row for each fold, system, way, budget, setting and draw.
eval::table points_table(curve_results const& all);
/// A row for each point of a fold that has its times.
eval::table seconds_table(curve_fold const& fold);
/// The means and their spread, then the comparisons, in any format but JSON.
std::string render(curve_results const& all, eval::table_format format);
/// An SVG file of the means: a row for each way, a column for each measure, a line for each system,
/// which ends at all labels.
std::string svg_file(curve_results const& all);

}  // namespace rulerank::experiment
