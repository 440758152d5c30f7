#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// A scorecard on one page: few features, each monotone, whole points (card_page).
namespace rulerank::inline v0::l2r {

/// A fitted card, and the cuts of its bins: neighbouring bins with the same points are one.
struct page_card {
  datasets::discretizer cuts;  ///< those given, without the features that are not on the card
  datasets::binned_dataset items;
  scorecard card;
  /// The points of each item of the given training documents; 0 for features that are not on the
  /// card.
  std::vector<double> points;
  std::vector<card_total> totals;  ///< about ten, of equally many documents
  /// A total t stands for the fitted score offset + unit t.
  double unit = 1, offset = 0;
};

/// Fits the card that `options.page` describes, by the penalties of the options, which are not
/// chosen here. `training` are the documents that `cuts` make; `queries` cover them. All sums run
/// in a fixed order: the same bits for any number of threads. Throws as `fit_scorecard` does.
page_card fit_page(context const& ctx, std::span<datasets::query_group const> queries,
                   datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                   scorecard_options const& options);

/// The totals that a card gives labelled documents, as `cuts` made them, in about ten groups of
/// equally many.
std::vector<card_total> totals_of(page_card const& page, datasets::binned_dataset const& labelled);

/// The purpose of a fit.
enum class fit_for {
  use,       ///< points fitted to the smallest value, then rounded as well as can be
  judgment,  ///< points fitted to about the smallest value, then rounded to the nearest
};

/// Fits cards of at most so many features each: card i has the features of card i + 1 that were
/// chosen first. `sizes` ascend, and stand for `options.page->max_features`.
std::vector<page_card> fit_pages(context const& ctx, std::span<datasets::query_group const> queries,
                                 datasets::binned_dataset const& training,
                                 datasets::discretizer const& cuts,
                                 scorecard_options const& options,
                                 std::span<std::size_t const> sizes, fit_for purpose);

struct page_choice {
  scorecard_options options;  ///< of the card that is to be fitted
  std::vector<card_trial> frontier;
};

/// Chooses loss, smoothness and the number of features, at most `asked.page->max_features`, by
/// cross-fitting over seeded folds of queries. A card of each size has smoothness 0.1, unless
/// cards of another smoothness are better by more than two standard errors of the paired
/// difference. The size is the smallest whose card is, beyond two standard errors, at most 0.5 %
/// of its quality behind the largest. Without `asked.cross_fit`, with fewer than two queries, and
/// where no query tells cards apart, the options are those asked for, and there is no frontier.
page_choice choose_page(context const& ctx, std::span<datasets::query_group const> queries,
                        datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                        scorecard_options const& asked);

}  // namespace rulerank::l2r
