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

// What a model does as a whole: which features and rules move its scores, and how far
// (docs/reference/verbs/inspect.md). An explanation (l2r/explain/explanation.hpp) says it of one
// document.
//
// Threads: all functions here may be called from any number of threads at once, each call with a
// context of its own. Results do not depend on the number of threads.
namespace rulerank::inline v0::l2r {

struct inspection_options {
  std::size_t top = 50;  ///< rules at most
  /// Training documents that scores are looked at of, at even distances; 0: all.
  std::size_t documents = 1000;
};

/// How far a feature moves the scores of the documents looked at.
struct feature_part {
  std::uint32_t feature = 0;
  /// The mean over the documents of the size of what the feature's item moves a document's score
  /// by, as explain() splits it among items; in the score's units.
  double moved = 0;
};

/// A rule X -> r, and what it does to all documents looked at.
struct strong_rule {
  std::vector<rules::item> antecedent;  ///< items as item_ranges numbers them, ascending
  std::int32_t label = 0;
  std::uint32_t support = 0;     ///< training documents with X and the label
  std::uint32_t documents = 0;   ///< those with X
  std::uint32_t with_label = 0;  ///< those with the label
  double moved = 0;   ///< the mean over the documents looked at of what it moves a score by
  double lift = 0;    ///< P(X r) / (P(X) P(r)) in the training set
  double p = 1;       ///< of Pearson's chi-square, X and r independent, one degree of freedom
  double p_holm = 1;  ///< after Holm's correction over all rules of the model
};

/// One item of a feature and the mean score if all documents looked at had it.
struct bin_dependence {
  rules::item item = 0;
  std::uint32_t documents = 0;  ///< of the training set with the item
  double score = 0;
};

/// J. H. Friedman, Greedy function approximation: a gradient boosting machine, Annals of Statistics
/// 29(5), 2001, section 8.2.
struct partial_dependence {
  std::uint32_t feature = 0;
  std::vector<bin_dependence> bins;  ///< items that a training document has, ascending
};

struct rules_inspection {
  std::uint64_t training = 0;          ///< training documents
  std::uint64_t looked_at = 0;         ///< of them
  std::uint64_t rules = 0;             ///< valid ones, of all training documents
  std::uint64_t itemsets = 0;          ///< with a valid rule
  std::vector<feature_part> features;  ///< the furthest first, then by number
  /// Those that move furthest, up or down; then by support, larger first; then small antecedents
  /// first, in the order of their items; then by label, larger first. Of antecedents that the same
  /// training documents hold one is listed: the closed itemset where the rule size allows it, else
  /// the first of the largest size.
  std::vector<strong_rule> strongest;
  std::vector<partial_dependence> dependence;  ///< [features], by number
};

/// Inspects the rules of `training`, which `by` was made of. Throws `usage_error` for documents
/// that the ranker was not made of, and where it would take too long, naming the rule size that
/// fits.
rules_inspection inspect(context const& ctx, ranker const& by,
                         datasets::binned_dataset const& training,
                         inspection_options const& options = {});

/// What the points of a card do to the documents that it was fitted to; nothing where the member
/// does not know them. A document without an item of a feature has 0 points of it.
struct card_inspection {
  /// The mean over the documents of the distance of the feature's points from their mean; the
  /// furthest first, then by number.
  std::vector<feature_part> features;
  std::vector<partial_dependence> dependence;  ///< [features], by number; all items
};
card_inspection inspect(scorecard_member const& card);

/// Points of an item, the same or more in .95 of the samples each way.
struct points_interval {
  double low = 0, high = 0;
};
/// How far the points of a card depend on the queries that it was fitted to: percentile intervals
/// of .90 for each item [items]. Each sample has as many queries, drawn with replacement by
/// `ctx.seed`; the points are fitted to it anew, with the card's features, cuts and penalties, and
/// the largest is again the card's most. `train` are the documents that the card was fitted to.
/// Throws `usage_error` for other documents, for a member that is no card, and for a card whose
/// points are fitted to grades (card_target::members).
std::vector<points_interval> bootstrap(context const& ctx, scorecard_member const& card,
                                       datasets::dataset const& train, std::size_t samples);

/// The mean over the documents that the weights were fitted to of the size of what a feature adds;
/// the furthest first, then by number. Nothing where the weights do not know them.
std::vector<feature_part> inspect(linear_member const& linear);
/// The same of the curves of a joint member: pairs of features are left out.
std::vector<feature_part> inspect(joint_member const& joint);

/// What features move in the score of all members together.
struct combined_inspection {
  std::size_t documents = 0;           ///< looked at
  std::size_t queries = 0;             ///< of them
  std::vector<feature_part> features;  ///< the furthest first, then by number
};

/// As explainer::explain() splits the score of each document of `test`: a feature's part is the sum
/// over the members of what it adds to the member's score, less the mean of that over the query's
/// list, over the deviation of the member's scores there and the number of members (a member alone:
/// over 1), so that the parts of a document's features add up to its combined score (a member
/// alone: less the list's mean). `moved` is the mean over the documents of the part's size. A model
/// with rules has its queries looked at, at even distances, that have about `documents` of them; 0,
/// or without rules: all.
combined_inspection inspect(context const& ctx, scorer const& by, datasets::dataset const& test,
                            std::size_t documents = inspection_options{}.documents);

/// What a ranking loses when one feature's values are dealt anew to the documents of a file.
struct permuted_feature {
  std::uint32_t feature = 0;
  std::vector<double> loss;       ///< [measures] the mean over the draws; below 0: it gains
  std::vector<double> deviation;  ///< [measures] of the draws (n - 1); 0 for one draw
};

struct permutation_importance {
  std::vector<double> whole;               ///< [measures] as the file is
  std::vector<permuted_feature> features;  ///< that a document lists, by number
};

/// L. Breiman, Random forests, Machine Learning 45, 2001, section 10: the values of one feature,
/// missing ones included, are shuffled over all documents of `test`; `ctx.seed`, the feature's
/// number and the draw make the permutation. Throws `usage_error` for no draw or no measure.
permutation_importance permute(context const& ctx, scorer const& by, datasets::dataset const& test,
                               std::span<eval::measure const> measures,
                               eval::profile const& profile, std::size_t draws = 5);

}  // namespace rulerank::l2r
