#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/rules/options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::learners {

/// Documents with their features, and as items: members learn from one or the other. What is
/// referred to outlives the call; both hold the same documents.
struct documents {
  datasets::dataset const& data;
  datasets::binned_dataset const& items;
  /// Those that made the items; null where no member asks for them.
  std::shared_ptr<datasets::discretizer const> cuts{};
};

/// Documents of a pool that have labels.
struct labelled {
  std::span<std::size_t const> documents;  ///< ascending, distinct
  std::span<std::int32_t const> labels;    ///< [N] 0 or more for those documents
};

/// A ranker that can be a member of a committee. What it learns and its scores depend on the
/// documents, the labels and its options alone, not on threads. Where there is nothing to learn (no
/// two labelled documents of a query differ), a member that learns from pairs scores all documents
/// alike. One call at a time; learners are independent of each other.
class learner {
 public:
  learner() = default;
  virtual ~learner() = default;
  learner(learner const&) = delete;
  learner& operator=(learner const&) = delete;

  /// Learns from the labelled documents of a pool, of which there is at least one. What it learnt
  /// before is forgotten.
  virtual void fit(context const& ctx, documents const& pool, labelled const& known) = 0;
  /// Scores every document [N], higher is more relevant; after `fit`.
  virtual std::vector<double> score(context const& ctx, documents const& test) = 0;

  /// The steps that the last `fit` took: trees of boosting; 1 where there is nothing to count.
  virtual std::size_t steps() const { return 1; }
  /// Scores as if learning had ended after so many steps, a row for each of `counts`, which are
  /// 1 to `steps()`. All at once costs about as much as the last of them alone.
  virtual std::vector<std::vector<double>> scores_by_steps(context const& ctx,
                                                           documents const& test,
                                                           std::span<std::size_t const> counts);
  /// The same for one number of steps.
  std::vector<double> score_by_steps(context const& ctx, documents const& test, std::size_t count);
};

/// A kind of member.
struct learner_info {
  std::string_view name;
  bool available = false;    ///< whether this build has the library that it needs
  std::string_view library;  ///< empty: none
};
/// The kinds there are, in this build or not. May be called from several threads at once.
std::span<learner_info const> learners();

struct ranksvm_options {
  double c = 0.001;  ///< weight of a pair's squared loss beside the length of the weight vector
  /// Pairs at most; of more, so many are taken at even distances.
  std::size_t max_pairs = 100'000;
};

struct boosted_options {
  int trees = 100;
  int depth = 2;
  double eta = 0.05;
  /// XGBoost's: rank:pairwise, rank:ndcg, reg:squarederror, ...
  std::string objective = "rank:pairwise";
  std::uint64_t seed = 0;
};

struct learner_options {
  l2r::ranker_options rules;
  ranksvm_options ranksvm;
  boosted_options boosted;
};

/// The member of that name. Throws `usage_error` for an unknown name, listing those there are, and
/// for one whose library this build does not have.
std::unique_ptr<learner> make_learner(std::string_view name, learner_options const& options);

/// Our ranker, by the association rules of the labelled documents.
std::unique_ptr<learner> make_rules_learner(l2r::ranker_options const& options);
/// Linear rank SVM (Joachims 2002) with squared loss: liblinear's primal solver on the differences
/// of the pairs of a query with different labels. A feature is divided by the difference of its
/// largest and smallest value in the pool; unlisted and missing values are 0.
std::unique_ptr<learner> make_ranksvm(ranksvm_options const& options);
/// XGBoost's boosted trees, one thread; by default with pairwise logistic loss. Unlisted values are
/// missing ones. What XGBoost finds wrong becomes an `error` with its version and text.
std::unique_ptr<learner> make_boosted(boosted_options const& options);

/// `liblinear 2.30`, `XGBoost 1.7.4`: the library of the member of that name, with its version;
/// empty for one that needs none, or that this build has not.
std::string library_of(std::string_view learner);

}  // namespace rulerank::learners
