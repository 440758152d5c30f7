#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/feature_order.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"
#include "eval/table.hpp"
#include "experiment/experiment.hpp"
#include "l2r/model/recommended.hpp"
#include "rules/thresholds.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Learning curves: systems fitted to parts of the labels, chosen in several ways. These functions
// may be called from several threads, `run_curves` with different output folders.
namespace rulerank::inline v0::experiment {

/// The available systems (learners::system_names).
std::vector<std::string_view> curve_systems();
/// A system that is left out of a comparison, and how to include it.
struct left_out_system {
  std::string name, remedy;
};
/// The default systems of a comparison: card, joint, rules, feature, and lightgbm if `lightgbm`
/// names its library or it is installed; otherwise lightgbm is left out.
struct first_comparison {
  std::vector<std::string> systems;
  std::vector<left_out_system> left_out;
};
first_comparison first_systems(std::string const& lightgbm);
/// The ways to choose documents to label: chosen, random, queries, depth, margin, entropy, variance
/// (docs/reference/verbs/experiment.md).
std::vector<std::string_view> curve_ways();

struct curve_options {
  std::vector<std::string> systems;       ///< one or more, distinct
  std::vector<left_out_system> left_out;  ///< systems that the results mention as left out
  std::vector<std::string> ways;          ///< one or more, distinct
  /// Shares of the training documents, above 0, at most 1, ascending. A budget of 1 uses all
  /// documents, without a way.
  std::vector<double> budgets;
  std::size_t draws = 10;               ///< samples per random way, 1 or more
  std::string lightgbm;                 ///< as in learners::system_options
  std::vector<eval::measure> measures;  ///< distinct; the first one selects settings
  eval::profile profile;
  datasets::discretizer_options discretizer;  ///< method and bins, for sampling and its committees
  rules::thresholds thresholds;               ///< of sampling, like the next two
  std::size_t partitions = 0;
  datasets::feature_order feature_order = datasets::feature_order::chi2;
  std::string feature_order_file;
  /// Folder for all output; created if missing. Empty: nothing is written.
  std::string out_dir;
};

/// How a system's setting was chosen.
enum class setting_choice {
  defaults,      ///< no choice
  cross_fitted,  ///< within a random sample with the same number of labels (cross_fitting.hpp)
  validated,     ///< on the validation set, whose labels are extra
};
inline constexpr setting_choice setting_choices[]{
    setting_choice::defaults, setting_choice::cross_fitted, setting_choice::validated};
/// The names: defaults, cross-fitted, validated.
std::string_view name_of(setting_choice by);
/// Throws `usage_error` that lists the names.
setting_choice setting_choice_from(std::string_view name);

/// Up to this share of the labels, settings are chosen within the sample, because a validation set
/// would have most of the labels read. Above it, the validation set chooses.
inline constexpr double largest_untuned_budget = 0.1;

/// The setting chosen for a system and a budget.
struct curve_choice {
  std::string system;
  double budget = 0;
  setting_choice by = setting_choice::validated;  ///< or cross_fitted
  std::string trial;
  std::size_t steps = 0;  ///< trees; 0: the trial's own number, or the system has none
  /// Validated: the first measure on the validation set; else the share of the sample's pairs in
  /// order.
  double value = 0;
};

/// A system's result on a fold's test set after learning from one sample.
struct curve_point {
  std::string way;
  double budget = 0;
  std::size_t draw = 0;
  std::size_t documents = 0;  ///< number to learn from
  std::string how;            ///< further details of the choice, such as a rule size
  std::string system;
  setting_choice settings = setting_choice::defaults;
  std::vector<double> values;              ///< [queries x measures]
  std::optional<l2r::card_sizes> sizes{};  ///< if the system chose the size of a card
};

/// The times of a point; not reproducible.
struct curve_seconds {
  double fit = 0;    ///< to learn from the sample
  double score = 0;  ///< to score the test set
};

struct curve_fold {
  std::string name;
  std::string fingerprint;
  std::map<std::string, std::string> inputs;  ///< SHA-256 by name
  std::size_t train_documents = 0, vali_documents = 0;
  std::vector<std::string> qids;
  std::vector<curve_choice> choices;
  std::vector<curve_point> points;     ///< by budget, way, draw, setting, system, in the options'
                                       ///< order
  std::vector<curve_seconds> seconds;  ///< [points]; empty for a fold read from text
};

struct curve_results {
  curve_options options;               ///< as given, with r_max of the profile
  std::vector<std::string> libraries;  ///< of the systems that need one, with versions, distinct
  std::vector<std::string> ours;       ///< systems that need no library
  std::vector<curve_fold> folds;
};

/// Throws `usage_error` for invalid options and for systems with a missing library, `error` for an
/// unusable library.
void check(curve_options const& options);
/// Whether validation sets are read.
bool needs_validation(curve_options const& options);

/// Fits every system to every sample of every fold and evaluates it on the test set. Reuses folds
/// and completed work of an earlier run with the same options and inputs. Writes curves/FoldN.json,
/// curves.tsv, curves.md and curves.svg. Equal options, inputs and libraries give equal bytes for
/// all threads, even after interruptions; only curves/FoldN.seconds.tsv, which has times, differs.
/// Over processes (context::processes), trials and samples go to free processes, only the first one
/// writes, and all return the results. Throws `usage_error` for invalid options and for systems
/// with a missing library, `error` for bad input, `output_error`.
curve_results run_curves(context const& ctx, curve_options const& options,
                         fold_source const& source, sinks const& out = {});

/// A row per fold, system, way, budget, setting and draw.
eval::table points_table(curve_results const& all);
/// A row per point of a fold that has times.
eval::table seconds_table(curve_fold const& fold);
/// The means and their spread, then the comparisons, in any format but JSON.
std::string render(curve_results const& all, eval::table_format format);
/// An SVG file of the means: a row per way, a column per measure, a line per system. Lines end at
/// all labels.
std::string svg_file(curve_results const& all);

}  // namespace rulerank::experiment
