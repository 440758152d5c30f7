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

// Which members to fit on the labels at hand (docs/reference/components.md).
// Threads: functions may be called from any number of threads at once.
namespace rulerank::inline v0::l2r {

/// What the labels at hand are.
struct label_counts {
  std::size_t documents = 0;  ///< that have a label
  std::size_t pool = 0;       ///< with and without one
  std::size_t relevant = 0;   ///< of these, with a label above 0
  std::size_t queries = 0;
  std::size_t queries_with_pairs = 0;  ///< of these, with documents of different labels
  std::size_t documents_compared = 0;  ///< the documents of those
  std::size_t features = 0;            ///< that a document lists

  /// documents_compared of documents; without documents 0.
  double share_compared() const;
  /// Documents without a label are there: values are standardized among all of their query.
  bool knows_pool() const { return pool > documents; }
};

/// Of the documents that have a label; features are those of all. Throws `error` naming the
/// documents where none has one.
label_counts count_labels(datasets::dataset const& train);

/// The options of a member, in the order of `recipe`.
using member_options = std::variant<scoring_options, scorecard_options, linear_options>;

/// A row of the table that recommendations come from: for these labels these members. Rows of one
/// name have the same members, each a reason of its own.
struct recommended_case {
  std::string_view name;
  std::size_t least_documents = 0;
  std::size_t most_items = 0;  ///< that the row's cuts can make; 0: any number
  int bins = 10;               ///< of `frequency`
  std::vector<member_options> members;
  std::string_view why;               ///< where the pool is known
  std::string_view why_without_pool;  ///< where all documents have a label
};

/// The table. The first row whose bounds hold is taken; the last one has none.
std::span<recommended_case const> recommended_cases();

/// Seconds that one thread takes to solve a system of that many unknowns, roughly: their cube.
double seconds_to_solve(std::size_t unknowns);

struct recommendation {
  std::string name;  ///< of the row
  std::vector<recipe> recipes;
  std::string members;  ///< these, in words
  /// Of the system of linear equations that fitting solves, at most: the items of the scorecard of
  /// the loss point; 0 without one. Solving takes 16 bytes times their square.
  std::size_t unknowns = 0;
  std::string reason;  ///< the labels, and why these members are for them
};

/// `discretizer`: what missing and unlisted values are, and the norm; the row has method and bins.
/// `cuts`, where not null, are used instead.
recommendation recommend(label_counts const& labels,
                         datasets::discretizer_options const& discretizer = {},
                         std::shared_ptr<datasets::discretizer const> const& cuts = nullptr);

/// A model that could be fitted, and its quality on queries that it was not fitted to.
struct compared_model {
  std::string name;
  std::vector<recipe> recipes;
  /// Ranks in place of `recipes` where not empty: scores [test] of a ranker that is fitted to the
  /// documents of `train` that have a label. For rankers of other libraries.
  std::function<std::vector<double>(context const& ctx, datasets::dataset const& train,
                                    datasets::dataset const& test)>
      rank{};
  std::size_t queries = 0;      ///< that have documents of different labels
  double quality = 0;           ///< the mean over these of NDCG, ties in expectation
  eval::mean_interval ahead{};  ///< of the differences to the first model, with 95 % confidence
  /// Better than the first model, significantly at .05 after Bonferroni's correction for the
  /// others.
  bool is_better = false;
};

/// The models that a card is compared with: a scorecard and linear by pairs, the recommended
/// members, linear, rules, and joint where the documents and features are not too many. Arguments
/// as `recommend` has them.
std::vector<compared_model> models_beside_card(
    datasets::dataset const& train, datasets::discretizer_options const& discretizer = {},
    std::shared_ptr<datasets::discretizer const> const& cuts = nullptr);

/// Measures the models by cross-fitting: the context's seed deals the queries into folds, and the
/// documents of each fold are ranked by models that are fitted to the others. `queries` stays 0 if
/// fewer than two queries, or no different labels, leave nothing to compare. Throws as `fit` does.
void compare_models(context const& ctx, datasets::dataset const& train,
                    std::span<compared_model> models, std::size_t folds = 5);

/// The sizes of a card that cross-fitting tried.
struct card_sizes {
  card_loss loss = card_loss::pair;
  std::vector<card_trial> tried;  ///< the frontier: two or more, smallest first
  std::size_t chosen = 0;         ///< features at most
};

/// A fitted model, and why it is this one.
struct fit_result {
  l2r::model model;
  std::vector<card_sizes> sizes;         ///< of each card whose size cross-fitting chose
  std::vector<compared_model> compared;  ///< the card first; empty: nothing was compared
  std::size_t best = 0;                  ///< of those compared that have recipes, by quality
  std::size_t chosen = 0;                ///< of `compared`: what `model` is
  std::string reason;                    ///< what the comparison says; empty without one
};

/// The result of a fit that compares nothing.
fit_result result_of(model fitted);

/// With fewer labels the intervals of a comparison are too wide to say anything.
inline constexpr std::size_t labels_to_compare = 1000;

/// How a card is compared with the models beside it.
struct card_comparison {
  datasets::discretizer_options card;                   ///< the cuts of the card
  datasets::discretizer_options discretizer{};          ///< as `recommend` has it
  std::shared_ptr<datasets::discretizer const> cuts{};  ///< as `recommend` has them
  std::size_t folds = 5;
  bool fits_best = false;               ///< the model becomes the best that has recipes
  std::vector<compared_model> peers{};  ///< compared, too: rankers of other libraries
};

/// Compares the model of a result, a card, with `models_beside_card` and peers. Where nothing can
/// be compared the reason alone changes. Throws as `fit` does.
void compare_card(context const& ctx, datasets::dataset const& train, fit_result& result,
                  card_comparison const& how);

}  // namespace rulerank::l2r
