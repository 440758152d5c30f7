#pragma once

#include "datasets/discretizer.hpp"
#include "datasets/feature_order.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"
#include "l2r/model/model.hpp"
#include "l2r/rules/options.hpp"
#include "tuning/search_space.hpp"
#include "tuning/tuner.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The settings of a cross-validation, and the systems that they define. These functions may be
// called from several threads.
namespace rulerank::inline v0::experiment {

/// One way to rank: how features become items, and the options of the score.
struct ranking_settings {
  datasets::discretizer_options discretizer;
  l2r::scoring_options scoring;
};

/// The choices to make on each fold's validation set.
struct tuned_settings {
  std::vector<eval::measure> measures;  ///< one choice by each
  tuning::search_space search_space;
  tuning::search_options search;
  std::size_t cross_fit = 0;  ///< number of folds, as in tuning::cross_fitting
};

/// How the folds' data were read.
struct data_reading {
  bool zero_based = false;
  bool regroup = false;
  std::optional<std::int32_t> unlabelled;  ///< the label of unlabelled documents
  std::vector<std::string> groups;         ///< SHA-256 of the group-size files
  bool drop_unlabelled = false;            ///< from training and validation sets
  std::string feature_order;               ///< SHA-256 of the feature-order file; empty: none
};

/// All inputs of a fold's results, besides its data.
struct settings {
  /// Rule sizes of the reduced training sets, distinct, 2 or more.
  std::vector<rules::rule_size> reduce_sizes;
  /// Rule sizes of the rankers, distinct, 2 or more, used by all members; or only 0: each member
  /// has its own.
  std::vector<rules::rule_size> rank_sizes;
  bool full = true;     ///< baseline: all training documents
  bool random = true;   ///< baseline: random samples as large as each reduced set
  bool feature = true;  ///< baseline: the best single feature
  std::size_t random_draws = 10;
  std::vector<std::string> outside;     ///< names of systems with scores in the source of folds
  std::vector<eval::measure> measures;  ///< distinct; the first one chooses the feature
  eval::profile profile;
  /// How `full`, `reduced` and `random` rank: by one ranker, or by several with scores combined by
  /// l2r::combine. The first one's cuts and thresholds also apply to sampling. Its discretizer's
  /// options except method and bins also apply to tuning.
  std::vector<ranking_settings> members = std::vector<ranking_settings>(1);
  /// If not empty, `full`, `reduced` and `random` rank instead by a model of these recipes
  /// (l2r::fit), fitted to the training set with labels only for the chosen documents. Rules in it
  /// use the rank size, or at 0 their own.
  std::vector<l2r::recipe> recipes;
  bool seeded_ties = false;    ///< for sampling: al::tie_keys of the seed
  std::size_t partitions = 0;  ///< for sampling, as in al::sampler_options
  datasets::feature_order feature_order = datasets::feature_order::chi2;  ///< for sampling
  std::string feature_order_file;  ///< for datasets::feature_order::file
  std::optional<tuned_settings> tune;
  // Set by `run`:
  std::optional<data_reading> reading;  ///< fold_source::reading
  std::uint64_t seed = 1;               ///< the context's
};

/// Throws `usage_error` for invalid values.
void check(settings const& s);
/// Throws `usage_error` for a duplicate measure, because averages are stored by name.
void check_distinct(std::vector<eval::measure> const& measures);

/// Whether the validation sets are used.
bool needs_validation(settings const& s);

/// The source of a system's scores.
enum class system_kind { full, reduced, random, tuned, feature, outside };

struct system {
  system_kind kind = system_kind::full;
  rules::rule_size reduce_size = 0;  ///< of reduced, random, and tuned if it is reduced
  rules::rule_size rank_size = 0;    ///< of full, reduced and random; 0: each member's own
  std::string label;                 ///< `full`, `reduced-3`, `random-3`, `full-tuned-MAP`, ...
  std::string name;          ///< unique: the label and, for rankers, -rank-4, -card or -members-8
  std::size_t tuned_by = 0;  ///< of tuned: index of the measure
};

/// The systems in table order: by rank size full, reduced, random; then tuned by measure, the
/// feature, and the outside systems. Throws `usage_error` if there is none, and for outside names
/// that are taken or are not valid folder names.
std::vector<system> systems_of(settings const& s);

}  // namespace rulerank::experiment
