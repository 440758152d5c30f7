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

// A cross-validation: what is asked for, and which systems that makes. These functions may be
// called from several threads.
namespace rulerank::inline v0::experiment {

/// One way to rank: how features become items, and what a score depends on.
struct ranking_settings {
  datasets::discretizer_options discretizer;
  l2r::scoring_options scoring;
};

/// What is chosen on the validation set of each fold.
struct tuned_settings {
  std::vector<eval::measure> measures;  ///< a choice by each of them
  tuning::search_space search_space;
  tuning::search_options search;
  std::size_t cross_fit = 0;  ///< folds, as tuning::cross_fitting has them
};

/// How the data of folds were read.
struct data_reading {
  bool zero_based = false;
  bool regroup = false;
  std::optional<std::int32_t> unlabelled;  ///< the label of documents that are not judged
  std::vector<std::string> groups;         ///< SHA-256 of the files of group sizes
  bool drop_unlabelled = false;            ///< of training and validation sets
  std::string feature_order;               ///< SHA-256 of the file of the order; empty: none
};

/// Everything that the results of a fold depend on, besides its data.
struct settings {
  /// Rule sizes of the reduced training sets, each once, 2 or more.
  std::vector<rules::rule_size> reduce_sizes;
  /// Rule sizes of the rankers, each once, 2 or more, which all members rank with; or 0 alone: each
  /// member has its own.
  std::vector<rules::rule_size> rank_sizes;
  bool full = true;     ///< baseline: all training documents
  bool random = true;   ///< baseline: draws as large as each reduced set
  bool feature = true;  ///< baseline: the best single feature
  std::size_t random_draws = 10;
  std::vector<std::string> outside;     ///< names of systems whose scores the source of folds has
  std::vector<eval::measure> measures;  ///< distinct; the first one chooses the feature
  eval::profile profile;
  /// How `full`, `reduced` and `random` rank: by one ranker or by several, whose scores
  /// l2r::combine makes one of. The first one's cuts and thresholds are those of sampling, too, and
  /// its discretizer's options but method and bins those of tuning.
  std::vector<ranking_settings> members = std::vector<ranking_settings>(1);
  /// Not empty: `full`, `reduced` and `random` rank by a model of these instead (l2r::fit), fitted
  /// to the training set, where the documents that are not chosen have no label. Rules among them
  /// have the rank size, or at 0 their own.
  std::vector<l2r::recipe> recipes;
  bool seeded_ties = false;    ///< of sampling: by al::tie_keys of the seed
  std::size_t partitions = 0;  ///< of sampling, as al::sampler_options has them
  datasets::feature_order feature_order = datasets::feature_order::chi2;  ///< of sampling
  std::string feature_order_file;  ///< for datasets::feature_order::file
  std::optional<tuned_settings> tune;
  // Set by `run`:
  std::optional<data_reading> reading;  ///< fold_source::reading
  std::uint64_t seed = 1;               ///< the context's
};

/// Throws `usage_error` for values that make no sense.
void check(settings const& s);
/// Throws `usage_error` for a measure that is given twice: averages go by name.
void check_distinct(std::vector<eval::measure> const& measures);

/// Whether something is chosen by the validation sets.
bool needs_validation(settings const& s);

/// Where the scores of a system come from.
enum class system_kind { full, reduced, random, tuned, feature, outside };

struct system {
  system_kind kind = system_kind::full;
  rules::rule_size reduce_size = 0;  ///< of reduced, random, and tuned where it is reduced
  rules::rule_size rank_size = 0;    ///< of full, reduced and random; 0: each member's own
  std::string label;                 ///< `full`, `reduced-3`, `random-3`, `full-tuned-MAP`, ...
  std::string name;          ///< distinct: the label and, if it ranks, -rank-4, -card or -members-8
  std::size_t tuned_by = 0;  ///< of tuned: which of the measures
};

/// The systems in the order of the tables: by rank size full, reduced, random; then the tuned
/// ones by measure, the feature and the outside systems. Throws `usage_error` when there is none,
/// and for outside names that are taken or cannot be those of a folder.
std::vector<system> systems_of(settings const& s);

}  // namespace rulerank::experiment
