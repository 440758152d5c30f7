#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/scorecard/graded_pool.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// A scorecard on one page: few features, each monotone, whole points (card_page).
namespace rulerank::inline v0::l2r {

/// A fitted card and the cuts of its bins. Neighbouring bins with equal points are merged.
struct page_card {
  datasets::discretizer cuts;  ///< the given cuts, without the features that are not on the card
  datasets::binned_dataset items;
  scorecard card;
  /// The points of each item of the given training documents; 0 for features not on the card.
  std::vector<double> points;
  std::vector<card_total> totals;  ///< about ten groups of equally many documents
  /// A total t corresponds to the fitted score offset + unit * t.
  double unit = 1, offset = 0;
};

/// Fits the card described by `options.page`, with the penalties of the options as they are.
/// `training`: the documents binned by `cuts`; `queries` cover them. Sums run in a fixed order: the
/// same bits for any number of threads. Throws as `fit_scorecard` does.
page_card fit_page(context const& ctx, std::span<datasets::query_group const> queries,
                   datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                   scorecard_options const& options);

/// The totals of labelled documents, binned by `page.cuts`, in about ten groups of equal size.
std::vector<card_total> totals_of(page_card const& page, datasets::binned_dataset const& labelled);

/// The purpose of a fit.
enum class fit_for {
  use,       ///< fit to convergence, then round with a search
  judgment,  ///< fit roughly, then round to nearest
};

/// Fits cards of several sizes: card i has the features of card i + 1 that were chosen first.
/// `sizes` ascend and replace `options.page->max_features`.
std::vector<page_card> fit_pages(context const& ctx, std::span<datasets::query_group const> queries,
                                 datasets::binned_dataset const& training,
                                 datasets::discretizer const& cuts,
                                 scorecard_options const& options,
                                 std::span<std::size_t const> sizes, fit_for purpose);

struct page_choice {
  scorecard_options options;  ///< for fitting the card
  std::vector<card_trial> frontier;
};

/// Chooses loss, smoothness and the number of features, at most `asked.page->max_features`, by
/// cross-fitting over seeded folds of queries. Each size uses smoothness 0.1, unless another
/// smoothness is better by more than two standard errors of the paired difference. The chosen size
/// is the smallest whose quality, minus two standard errors of the difference, is at most 0.5 %
/// below the largest card's. With fewer than two queries, and if no query distinguishes the cards,
/// chooses the loss alone and returns no frontier. Without `asked.cross_fit`, returns the options
/// unchanged.
page_choice choose_page(context const& ctx, std::span<datasets::query_group const> queries,
                        datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                        scorecard_options const& asked);

/// The sizes that were tried for a card, and the loss whose quality the trials have.
struct tried_cards {
  card_loss loss = card_loss::pair;
  std::vector<card_trial> trials;
};

/// Cross-fits cards of several sizes, at most `options.page->max_features`, over folds of the
/// labelled queries: a fold's labels judge cards fitted to grades that the other folds' labels
/// give. The quality is NDCG over the labelled documents, or minus the squared error of the labels
/// where `choose_page` would use the loss `point`. No trials where fewer than 20 queries judge.
tried_cards try_graded_sizes(context const& ctx, datasets::dataset const& train, grading const& how,
                             datasets::discretizer const& cuts, scorecard_options const& options);

}  // namespace rulerank::l2r
