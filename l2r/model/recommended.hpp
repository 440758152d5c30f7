#pragma once

#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "eval/significance.hpp"
#include "l2r/linear/linear.hpp"
#include "l2r/model/model.hpp"
#include "l2r/rules/options.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// Chooses the members to fit from the number of labels (docs/reference/components.md).
// Threads: functions may be called from any number of threads at once.
namespace rulerank::inline v0::l2r {

/// Counts of the labelled training documents.
struct label_counts {
  std::size_t documents = 0;  ///< documents with a label
  std::size_t pool = 0;       ///< documents with and without a label
  std::size_t relevant = 0;   ///< labelled documents with a label above 0
  // Queries with a labelled document.
  std::size_t queries = 0;
  std::size_t queries_with_pairs = 0;  ///< queries with documents of different labels
  std::size_t documents_compared = 0;  ///< documents of these queries
  std::size_t features = 0;            ///< features that a document lists

  /// documents_compared / documents; 0 without documents.
  double share_compared() const;
  /// There are unlabelled documents: values are standardized over all documents of a query.
  bool knows_pool() const { return pool > documents; }
};

/// Counts labelled documents; `features` counts over all documents. Throws `error` naming the
/// documents if none has a label.
label_counts count_labels(datasets::dataset const& train);

/// The options of a member, in the order of `recipe`.
using member_options = std::variant<scoring_options, scorecard_options, linear_options>;

/// A row of the table of recommendations: the members for a range of label counts. Rows of the same
/// name have the same members and differ in their reason.
struct recommended_case {
  std::string_view name;
  std::size_t least_documents = 0;
  std::size_t most_items = 0;  ///< limit on the items of the row's cuts; 0: none
  int bins = 10;               ///< of the method `frequency`
  std::vector<member_options> members;
  std::string_view why;               ///< reason if there are unlabelled documents
  std::string_view why_without_pool;  ///< reason if all documents have a label
};

/// The table. The first row whose bounds hold applies; the last row has no bounds.
std::span<recommended_case const> recommended_cases();

/// Approximate seconds for one thread to solve a system of this size; grows with its cube.
double seconds_to_solve(std::size_t unknowns);

struct recommendation {
  std::string name;  ///< of the row
  std::vector<recipe> recipes;
  std::string members;  ///< the members in words
  /// Upper bound on the size of the linear system that the fit solves: the number of items of a
  /// scorecard with loss `point`; 0 without one. Solving takes 16 bytes times its square.
  std::size_t unknowns = 0;
  std::string reason;  ///< the label counts and the reason for these members
};

/// `discretizer`: supplies missing and unlisted values and the norm; the row supplies method and
/// bins. `cuts`: used instead if not null.
recommendation recommend(label_counts const& labels,
                         datasets::discretizer_options const& discretizer = {},
                         std::shared_ptr<datasets::discretizer const> const& cuts = nullptr);

/// A candidate model and its quality on held-out queries.
struct compared_model {
  std::string name;
  std::vector<recipe> recipes;
  /// If not empty, ranks instead of `recipes`: fits a ranker to the labelled documents of `train`
  /// and returns scores [test]. For rankers of other libraries.
  std::function<std::vector<double>(context const& ctx, datasets::dataset const& train,
                                    datasets::dataset const& test)>
      rank{};
  std::size_t queries = 0;      ///< queries with documents of different labels
  double quality = 0;           ///< mean NDCG over these, ties in expectation
  eval::mean_interval ahead{};  ///< of the differences to the first model, 95 % confidence
  /// Significantly better than the first model at .05 after Bonferroni correction over the other
  /// models.
  bool is_better = false;
};

/// The models that a card is compared with: a scorecard and linear with loss `pair`, the
/// recommended members, linear, rules, and joint if its problem is not too large. Arguments as for
/// `recommend`.
std::vector<compared_model> models_beside_card(
    datasets::dataset const& train, datasets::discretizer_options const& discretizer = {},
    std::shared_ptr<datasets::discretizer const> const& cuts = nullptr);

/// Measures the models by cross-fitting: the context's seed deals the queries into folds, and
/// models fitted to the other folds rank each fold. `queries` stays 0 if there is nothing to
/// compare: fewer than two queries, or no different labels. Throws as `fit` does.
void compare_models(context const& ctx, datasets::dataset const& train,
                    std::span<compared_model> models, std::size_t folds = 5);

/// The card sizes that cross-fitting tried.
struct card_sizes {
  card_loss loss = card_loss::pair;
  std::vector<card_trial> tried;  ///< the frontier: two or more, smallest first
  std::size_t chosen = 0;         ///< maximum number of features
};

/// The sizes tried for each card of a model whose size cross-fitting chose.
std::vector<card_sizes> tried_sizes(model const& of);

/// A fitted model and the reason for its choice.
struct fit_result {
  l2r::model model;
  std::vector<card_sizes> sizes;         ///< tried_sizes
  std::vector<compared_model> compared;  ///< the card first; empty: no comparison
  std::size_t best = 0;    ///< index into `compared`: the best by quality among those with recipes
  std::size_t chosen = 0;  ///< index into `compared`: the model in `model`
  std::string reason;      ///< conclusion of the comparison; empty without one
};

/// The result of a fit without a comparison.
fit_result result_of(model fitted);

/// With fewer labels, the confidence intervals of a comparison are too wide to be useful.
inline constexpr std::size_t labels_to_compare = 1000;

/// How to compare a card with the other models.
struct card_comparison {
  datasets::discretizer_options card;                   ///< cuts of the card
  datasets::discretizer_options discretizer{};          ///< as for `recommend`
  std::shared_ptr<datasets::discretizer const> cuts{};  ///< as for `recommend`
  std::size_t folds = 5;
  bool fits_best = false;               ///< fit the best model with recipes instead of the card
  std::vector<compared_model> peers{};  ///< further models to compare: rankers of other libraries
};

/// Cross-fits smaller sizes of the result's card if it was fitted to grades (card_target::members):
/// labels of the left-out queries judge cards fitted to grades that the other labels give. Adds the
/// sizes to the card and to `result.sizes`; the card keeps its size. Changes nothing for other
/// models, and where fewer than 20 queries can judge. Throws as `fit` does.
void try_sizes(context const& ctx, datasets::dataset const& train, fit_result& result,
               card_comparison const& how);

/// Compares the result's model, a card, with `models_beside_card` and `peers`. If nothing can be
/// compared, only the reason changes. Throws as `fit` does.
void compare_card(context const& ctx, datasets::dataset const& train, fit_result& result,
                  card_comparison const& how);

}  // namespace rulerank::l2r
