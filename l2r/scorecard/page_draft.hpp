#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/scorecard/one_page.hpp"

#include <cstddef>
#include <span>
#include <vector>

// A card on one page while it is fitted.
namespace rulerank::inline v0::l2r {

struct page_draft {
  datasets::binned_dataset items;
  std::vector<std::vector<double>> cuts;   ///< [F] between bins of values
  std::vector<card_direction> requested;   ///< [F] as given by the page
  std::vector<card_direction> directions;  ///< [F] of the points; never `either`
};

/// The columns `chosen`, ascending, of `training`, which `cuts` binned.
page_draft draft_of(datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                    card_page const& page, std::vector<std::size_t> const& chosen);

/// The number of bins of values, without the bin of missing values.
std::size_t value_bins(datasets::binned_dataset const& items, std::size_t f);
/// The number of documents in each bin of a feature.
std::vector<double> documents_in(datasets::binned_dataset const& items, std::size_t f);

/// `requested`; if that is `either`, the sign of the slope of a line through the points, weighted
/// by documents.
card_direction direction_of(card_direction requested, std::span<double const> points,
                            std::span<double const> weights);
/// The pool of each bin of values: neighbours that violate the direction share a pool
/// (pool-adjacent violators, weighted by documents).
std::vector<std::uint8_t> pools_of(std::span<double const> points, std::span<double const> weights,
                                   card_direction direction);

/// Merges bins that violate their feature's direction; their points become the mean. Drops a
/// feature with one bin. False if nothing changed.
bool pool_bins(page_draft& card, std::vector<double>& points);
/// Merges neighbouring bins with equal points, but keeps at least one cut per feature.
void join_equal_bins(page_draft& card, std::vector<double>& points);

/// The objective's second derivatives at the points, [items][items]; the first derivatives go to
/// `gradient`.
std::vector<double> curvature_at(context const& ctx, std::span<datasets::query_group const> queries,
                                 datasets::binned_dataset const& items,
                                 std::vector<double> const& points,
                                 scorecard_options const& options, std::vector<double>& gradient);

/// Changes integer points one at a time by 1 while that decreases the objective's second-order
/// approximation. `slope` [items] and `curvature` [items][items] are the derivatives at `whole`, by
/// points. Points stay monotone and within 0 to `most`; `locked` items keep theirs.
std::vector<double> stepped(context const& ctx, page_draft const& card, std::vector<double> whole,
                            std::vector<double> slope, std::vector<double> const& curvature,
                            double most, std::vector<bool> const& locked);

/// The card with these integer points. `training` and `cuts`: those of draft_of.
page_card page_of(page_draft card, std::vector<double> const& points,
                  datasets::binned_dataset const& training, datasets::discretizer const& cuts);

/// The card with exactly the features that the page names: given points are kept, the others are
/// fitted. Throws `usage_error` if the given points rank against the labels.
page_card fit_given(context const& ctx, std::span<datasets::query_group const> queries,
                    datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                    scorecard_options const& options, bool learns, fit_for purpose);

}  // namespace rulerank::l2r
