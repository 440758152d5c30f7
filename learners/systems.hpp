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

// What users have, to be compared with: rankers of other libraries beside our own, each with a
// fixed list of settings to choose from. These functions, and a system's, may be called from
// several threads at once; learners are one thread's each.
namespace rulerank::inline v0::learners {

/// One setting of a system.
struct trial {
  std::string name;  ///< `lambdarank, 31 leaves of 20, rate 0.1`
  /// The cuts of the items that it learns from, where it learns from items.
  datasets::binning method = datasets::binning::tube;
  /// A learner with this setting. `seed` is for what it draws. `steps`: of boosting how many trees;
  /// 0: as many as the setting has.
  std::function<std::unique_ptr<learner>(std::uint64_t seed, std::size_t steps)> make;
};

/// A ranker that is compared with others.
struct system {
  std::string name;
  std::string library;  ///< `LightGBM 4.7.0`; empty: our own
  trial defaults;       ///< without a choice: the library's own defaults, where they rank
  /// What else to choose from: other settings than the defaults, with them at most 20; empty:
  /// there is nothing to choose.
  std::vector<trial> trials;
};

/// At most so many settings a system, the defaults being one of them.
inline constexpr std::size_t most_trials = 20;

struct system_options {
  /// The library of LightGBM, `lib_lightgbm.so` of PyPI's package `lightgbm`; empty: where an
  /// installed package has it (`find_lightgbm`).
  std::string lightgbm;
};

/// The names of the systems: card, joint, rules, scorecard, linear, members, recommended, feature,
/// lightgbm, ilmart, xgboost, ranksvm, ranksvm-zscore.
std::vector<std::string_view> system_names();

/// The system of that name. Throws `usage_error` for an unknown name, listing those there are, and
/// for one whose library is not there; `error` for a library that cannot be used.
system make_system(std::string_view name, system_options const& options = {});

/// The systems of other libraries that `fit` compares a card with: lightgbm, xgboost, ranksvm.
std::vector<std::string_view> peer_names();
/// Those of them that can be made here. Throws `error` for a library that cannot be used.
std::vector<std::string_view> installed_peers(system_options const& options = {});
/// A system with its defaults, for `l2r::compare_models`. Throws as `make_system` does.
l2r::compared_model make_peer(std::string_view name, system_options const& options = {});

/// Fits the members of a model (l2r::fit) on the pool, in which the known labels are the only ones,
/// and ranks by them. Cuts of the recipes are not looked at: the pool's are taken, which read no
/// labels, with the way in which they take missing and unlisted values. Needs the cuts of the pool:
/// throws `usage_error` without.
std::unique_ptr<learner> make_members_learner(std::vector<l2r::recipe> recipes);
/// Likewise the members that `l2r::recommend` finds for the known labels, with cuts of their own.
std::unique_ptr<learner> make_recommended_learner();
/// Likewise a member of a kind that has cuts, with cuts of its own.
std::unique_ptr<learner> make_own_cuts_learner(l2r::recipe how);
/// A single feature, up or down: the one by which most pairs of labelled documents of a query with
/// different labels are in order, equal values counting half; of equal ones the first. Where names
/// of features contain BM25, one of these, up.
std::unique_ptr<learner> make_feature_learner();

/// A rank SVM (make_ranksvm) of features as our linear members see them: z-scores within
/// the query, 0 where a value is missing, and 1 beside it for each value that is. How missing and
/// unlisted values are taken is the pool's cuts' way, where it has cuts.
std::unique_ptr<learner> make_zscore_ranksvm(ranksvm_options const& options);

}  // namespace rulerank::learners
