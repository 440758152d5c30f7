#pragma once

#include "datasets/discretizer.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/recommended.hpp"
#include "learners/learner.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Baseline systems for comparisons: our rankers and those of other libraries, each with a fixed
// list of settings to choose from. These functions, and a system's, may be called from several
// threads at once; learners are not thread-safe.
namespace rulerank::inline v0::learners {

/// One setting of a system.
struct trial {
  std::string name;  ///< such as `lambdarank, 31 leaves of 20, rate 0.1`
  /// The cuts of the items that it learns from, if it uses items.
  datasets::binning method = datasets::binning::tube;
  /// Makes a learner with this setting. `seed`: for its random choices. `steps`: number of trees
  /// for boosting; 0: the setting's own.
  std::function<std::unique_ptr<learner>(std::uint64_t seed, std::size_t steps)> make;
};

/// A ranker to compare with others.
struct system {
  std::string name;
  std::string library;  ///< such as `LightGBM 4.7.0`; empty: our own
  trial defaults;       ///< the library's own defaults, if they rank
  /// Further settings to choose from, at most 20 including the defaults; empty: no choice.
  std::vector<trial> trials;
};

/// Maximum number of settings per system, including the defaults.
inline constexpr std::size_t most_trials = 20;

struct system_options {
  /// Path of LightGBM's library, `lib_lightgbm.so` of PyPI's package `lightgbm`; empty: that of an
  /// installed package (`find_lightgbm`).
  std::string lightgbm;
};

/// The systems' names: card, joint, rules, scorecard, linear, members, recommended, feature,
/// lightgbm, ilmart, xgboost, ranksvm, ranksvm-zscore.
std::vector<std::string_view> system_names();

/// Makes a system by name. Throws `usage_error` for an unknown name, listing the known ones, and if
/// its library is missing; `error` for an unusable library.
system make_system(std::string_view name, system_options const& options = {});

/// The systems of other libraries that `fit` compares a card with: lightgbm, xgboost, ranksvm.
std::vector<std::string_view> peer_names();
/// The peers available here. Throws `error` for an unusable library.
std::vector<std::string_view> installed_peers(system_options const& options = {});
/// A system with its defaults, for `l2r::compare_models`. Throws as `make_system` does.
l2r::compared_model make_peer(std::string_view name, system_options const& options = {});

/// Fits the members of a model (l2r::fit) to the pool with the known labels, and ranks by them.
/// Uses the pool's cuts, which do not depend on labels, and their treatment of missing and unlisted
/// values, instead of the recipes' cuts. Throws `usage_error` if the pool has no cuts.
std::unique_ptr<learner> make_members_learner(std::vector<l2r::recipe> recipes);
/// As above, for the members that `l2r::recommend` gives for the known labels, with their own cuts.
std::unique_ptr<learner> make_recommended_learner();
/// As above, for one member of a kind with cuts, with its own cuts.
std::unique_ptr<learner> make_own_cuts_learner(l2r::recipe how);
/// Ranks by a single feature, ascending or descending: the one that orders the most pairs of a
/// query's labelled documents with different labels, ties counting half; among equals the first. If
/// names of features contain BM25, only these are considered, with higher values ranking first.
std::unique_ptr<learner> make_feature_learner();

/// A rank SVM (make_ranksvm) on the features of our linear members: z-scores within the query, 0
/// for a missing value, and an indicator for each missing value. Missing and unlisted values are
/// treated as in the pool's cuts, if it has cuts.
std::unique_ptr<learner> make_zscore_ranksvm(ranksvm_options const& options);

}  // namespace rulerank::learners
