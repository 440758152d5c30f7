#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/rules/options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::learners {

/// Documents with their features, and the same documents as items: a learner uses one of the two.
/// The references must be valid during the call.
struct documents {
  datasets::dataset const& data;
  datasets::binned_dataset const& items;
  /// The cuts that made the items; null if no member needs them.
  std::shared_ptr<datasets::discretizer const> cuts{};
};

/// The labelled documents of a pool.
struct labelled {
  std::span<std::size_t const> documents;  ///< ascending, distinct
  std::span<std::int32_t const> labels;    ///< [N] 0 or more for those documents
};

/// A ranker that can be a member of a committee. The fit and the scores depend only on the
/// documents, the labels and the options, not on threads. If there is nothing to learn (no query
/// has two different labels), a learner from pairs gives all documents equal scores. Not
/// thread-safe; learners are independent of each other.
class learner {
 public:
  learner() = default;
  virtual ~learner() = default;
  learner(learner const&) = delete;
  learner& operator=(learner const&) = delete;

  /// Fits the labelled documents of a pool, at least one. Discards any earlier fit.
  virtual void fit(context const& ctx, documents const& pool, labelled const& known) = 0;
  /// Scores every document [N], higher is more relevant; after `fit`.
  virtual std::vector<double> score(context const& ctx, documents const& test) = 0;

  /// The card sizes that the last `fit` tried; empty if it chose none.
  virtual std::optional<l2r::card_sizes> sizes() const { return std::nullopt; }
  /// The steps of the last `fit`: trees of boosting, else 1.
  virtual std::size_t steps() const { return 1; }
  /// The scores as if the fit had ended after fewer steps, one row for each of `counts`, from 1 to
  /// `steps()`. Costs about as much as the largest count alone.
  virtual std::vector<std::vector<double>> scores_by_steps(context const& ctx,
                                                           documents const& test,
                                                           std::span<std::size_t const> counts);
  /// As above, for one number of steps.
  std::vector<double> score_by_steps(context const& ctx, documents const& test, std::size_t count);
};

/// A kind of learner.
struct learner_info {
  std::string_view name;
  bool available = false;    ///< this build has its library
  std::string_view library;  ///< empty: none
};
/// All kinds, including those that this build lacks. May be called from several threads at once.
std::span<learner_info const> learners();

struct ranksvm_options {
  double c = 0.001;  ///< weight of the squared losses relative to the norm of the weight vector
  /// Maximum number of pairs; more are subsampled at even intervals.
  std::size_t max_pairs = 100'000;
};

struct boosted_options {
  int trees = 100;
  int depth = 2;
  double eta = 0.05;
  /// XGBoost's name: rank:pairwise, rank:ndcg, reg:squarederror, ...
  std::string objective = "rank:pairwise";
  std::uint64_t seed = 0;
};

struct learner_options {
  l2r::ranker_options rules;
  ranksvm_options ranksvm;
  boosted_options boosted;
};

/// Makes a learner by name. Throws `usage_error` for an unknown name, listing the known ones, and
/// if this build lacks the learner's library.
std::unique_ptr<learner> make_learner(std::string_view name, learner_options const& options);

/// Ranks by the association rules of the labelled documents (l2r::ranker).
std::unique_ptr<learner> make_rules_learner(l2r::ranker_options const& options);
/// Linear rank SVM (Joachims 2002) with squared loss: liblinear's primal solver on the differences
/// of a query's pairs with different labels. Each feature is divided by its range in the pool;
/// unlisted and missing values are 0.
std::unique_ptr<learner> make_ranksvm(ranksvm_options const& options);
/// XGBoost's boosted trees on one thread; by default with pairwise logistic loss. Unlisted values
/// are missing. Errors of XGBoost become `error` with its version and text.
std::unique_ptr<learner> make_boosted(boosted_options const& options);

/// The library of a learner with its version, such as `liblinear 2.30` or `XGBoost 1.7.4`; empty if
/// it needs none or this build lacks it.
std::string library_of(std::string_view learner);

}  // namespace rulerank::learners
