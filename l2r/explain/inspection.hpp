#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/scorer.hpp"
#include "l2r/rules/ranker.hpp"
#include "rules/itemset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// The effect of features and rules on all of a model's scores (docs/reference/verbs/inspect.md).
// For a single document see l2r/explain/explanation.hpp.
//
// Threads: all functions here may be called from any number of threads at once, each call with a
// context of its own. Results do not depend on the number of threads.
namespace rulerank::inline v0::l2r {

struct inspection_options {
  std::size_t top = 50;  ///< maximum number of listed rules
  /// Number of training documents to score, evenly spaced; 0: all.
  std::size_t documents = 1000;
};

/// The effect of a feature on the scores of the sampled documents.
struct feature_part {
  std::uint32_t feature = 0;
  /// Mean over the documents of the absolute effect of the feature's item on the score, as
  /// `explain` splits it among items; in units of the score.
  double moved = 0;
};

/// A rule X -> r and its effect on the sampled documents.
struct strong_rule {
  std::vector<rules::item> antecedent;  ///< items as item_ranges numbers them, ascending
  std::int32_t label = 0;
  std::uint32_t support = 0;     ///< training documents with X and the label
  std::uint32_t documents = 0;   ///< training documents with X
  std::uint32_t with_label = 0;  ///< training documents with the label
  double moved = 0;              ///< mean effect on the score over the sampled documents
  double lift = 0;               ///< P(X r) / (P(X) P(r)) in the training set
  double p = 1;       ///< of Pearson's chi-square test that X and r are independent, one degree of
                      ///< freedom
  double p_holm = 1;  ///< Holm-corrected over all rules of the model
};

/// One item of a feature and the mean score if every sampled document had this item.
struct bin_dependence {
  rules::item item = 0;
  std::uint32_t documents = 0;  ///< training documents with the item
  double score = 0;
};

/// J. H. Friedman, Greedy function approximation: a gradient boosting machine, Annals of Statistics
/// 29(5), 2001, section 8.2.
struct partial_dependence {
  std::uint32_t feature = 0;
  std::vector<bin_dependence> bins;  ///< items of the training documents, ascending
};

struct rules_inspection {
  std::uint64_t training = 0;          ///< training documents
  std::uint64_t looked_at = 0;         ///< sampled training documents
  std::uint64_t rules = 0;             ///< valid rules over all training documents
  std::uint64_t itemsets = 0;          ///< itemsets with a valid rule
  std::vector<feature_part> features;  ///< by decreasing effect, then by number
  /// By decreasing |moved|, then decreasing support, then increasing antecedent size, then
  /// antecedent items, then decreasing label. Antecedents that hold in the same training documents
  /// are listed once: as the closed itemset if the rule size allows it, else as the first of the
  /// largest size.
  std::vector<strong_rule> strongest;
  std::vector<partial_dependence> dependence;  ///< [features], by number
};

/// Inspects the rules of `training`, the documents that `by` was made from. Throws `usage_error`
/// for other documents, and if the inspection would take too long; the message names a feasible
/// rule size.
rules_inspection inspect(context const& ctx, ranker const& by,
                         datasets::binned_dataset const& training,
                         inspection_options const& options = {});

/// The effect of a card's points on its training documents; empty if the member does not store
/// their counts. A document without an item of a feature has 0 points for it.
struct card_inspection {
  /// Mean over the documents of |points - mean points| of each feature; by decreasing value, then
  /// by number.
  std::vector<feature_part> features;
  std::vector<partial_dependence> dependence;  ///< [features], by number; with all items
};
card_inspection inspect(scorecard_member const& card);

/// Bounds for an item's points: 95 % of the samples are at or above `low`, 95 % at or below `high`.
struct points_interval {
  double low = 0, high = 0;
};
/// The sampling variance of a card's points over queries: 90 % percentile bootstrap intervals,
/// [items]. Each sample draws as many queries, with replacement, seeded by `ctx.seed`, and refits
/// the points with the card's features, cuts and penalties, scaled to the card's largest points.
/// For a card fitted to grades (card_target::members) a sample draws the queries with labels, and
/// keeps the other queries of the pool; the recommended members are fitted to its labels and grade
/// its documents. `train`: the documents that the card was fitted to, unlabelled ones of the pool
/// included. Throws `usage_error` for other documents and a member that is not a card.
std::vector<points_interval> bootstrap(context const& ctx, scorecard_member const& card,
                                       datasets::dataset const& train, std::size_t samples);

/// Mean absolute contribution of each feature over the documents that the weights were fitted to;
/// by decreasing value, then by number. Empty if the weights do not store it.
std::vector<feature_part> inspect(linear_member const& linear);
/// As above, for the curves of a joint member; pairs of features are left out.
std::vector<feature_part> inspect(joint_member const& joint);

/// The effect of features on the combined score of all members.
struct combined_inspection {
  std::size_t documents = 0;           ///< sampled documents
  std::size_t queries = 0;             ///< their queries
  std::vector<feature_part> features;  ///< by decreasing effect, then by number
};

/// Splits the score of each document of `test` as explainer::explain() does. A feature's part is
/// the sum over the members of its contribution, minus the contribution's mean over the query's
/// list, divided by the deviation of the member's scores in the list and by the number of members.
/// The parts of a document sum to its combined score. With one member nothing is divided, and the
/// parts sum to the score minus the list's mean. `moved` is the mean absolute part over the
/// documents. `documents`: for a model with rules, about how many documents to score, in whole,
/// evenly spaced queries; 0, or a model without rules: all.
combined_inspection inspect(context const& ctx, scorer const& by, datasets::dataset const& test,
                            std::size_t documents = inspection_options{}.documents);

/// The loss in ranking quality when one feature's values are permuted over a file's documents.
struct permuted_feature {
  std::uint32_t feature = 0;
  std::vector<double> loss;       ///< [measures] mean over the permutations; negative: a gain
  std::vector<double> deviation;  ///< [measures] over the permutations (n - 1); 0 for a single one
};

struct permutation_importance {
  std::vector<double> whole;               ///< [measures] of the unchanged file
  std::vector<permuted_feature> features;  ///< features that a document lists, by number
};

/// Permutation importance (L. Breiman, Random forests, Machine Learning 45, 2001, section 10):
/// shuffles the values of one feature, missing ones included, over all documents of `test`.
/// `ctx.seed`, the feature's number and the draw's index determine the permutation. Throws
/// `usage_error` for no draw or no measure.
permutation_importance permute(context const& ctx, scorer const& by, datasets::dataset const& test,
                               std::span<eval::measure const> measures,
                               eval::profile const& profile, std::size_t draws = 5);

}  // namespace rulerank::l2r
