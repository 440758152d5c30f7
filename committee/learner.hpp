#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace rulerank::committee {

/// Documents as the members want them: with features, and as items. What is referred to outlives
/// the call; both hold the same documents.
struct documents {
  datasets::dataset const& data;
  datasets::binned_dataset const& items;
};

/// Documents of a pool that have labels.
struct labelled {
  std::span<std::size_t const> documents;  ///< ascending, distinct
  std::span<std::int32_t const> labels;    ///< [N] 0 or more for those documents
};

/// A ranker that can sit on a committee. What it learns and its scores depend on the documents, the
/// labels and its options alone, not on threads. Where nothing is to be learnt (no two labelled
/// documents of a query differ), a member that learns from pairs scores all documents alike.
class learner {
 public:
  learner() = default;
  virtual ~learner() = default;
  learner(learner const&) = delete;
  learner& operator=(learner const&) = delete;

  /// Forgets what it knew and learns from the labelled documents of a pool, of which there is one.
  virtual void learn(context const& ctx, documents const& pool, labelled const& known) = 0;
  /// Scores every document [N], higher is more relevant; after `learn`.
  virtual std::vector<double> score(context const& ctx, documents const& test) = 0;
};

/// A kind of member.
struct learner_info {
  std::string_view name;
  std::string_view what;
  bool available = false;    ///< whether this build has the library that it needs
  std::string_view library;  ///< empty: none
};
std::span<learner_info const> learners();

struct ranksvm_options {
  double c = 0.001;  ///< weight of a pair's squared loss beside the length of the weight vector
  /// At most so many pairs; of more, every so-manieth is taken.
  std::size_t max_pairs = 100'000;
};

struct boosted_options {
  int trees = 100;
  int depth = 2;
  double eta = 0.05;
};

struct learner_options {
  l2r::ranker_options rules;
  ranksvm_options ranksvm;
  boosted_options boosted;
};

/// The member of a name. Throws `usage_error` for an unknown name (with those there are) and for
/// one whose library this build has not.
std::unique_ptr<learner> make_learner(std::string_view name, learner_options const& options);

/// Our ranker, by the rules of the labelled documents.
std::unique_ptr<learner> make_rules_learner(l2r::ranker_options const& options);
/// Linear rank SVM (Joachims 2002) with squared loss: liblinear's primal solver on the differences
/// of the pairs of a query with different labels. A feature is divided by the difference of its
/// largest and smallest value in the pool; unlisted and missing values are 0.
std::unique_ptr<learner> make_ranksvm(ranksvm_options const& options);
/// Boosted trees with pairwise logistic loss (XGBoost's rank:pairwise), one thread. Unlisted values
/// are missing ones.
std::unique_ptr<learner> make_boosted(boosted_options const& options);

}  // namespace rulerank::committee
