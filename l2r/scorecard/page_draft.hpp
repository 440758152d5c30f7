#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/scorecard/one_page.hpp"

#include <cstddef>
#include <span>
#include <vector>

// A card on one page while it is made.
namespace rulerank::inline v0::l2r {

struct page_draft {
  datasets::binned_dataset items;
  std::vector<std::vector<double>> cuts;   ///< [F] between the bins of values
  std::vector<card_direction> told;        ///< [F] of the page
  std::vector<card_direction> directions;  ///< [F] of the points: no longer `either`
};

/// The columns `chosen`, ascending, of `training`, which `cuts` made.
page_draft draft_of(datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                    card_page const& page, std::vector<std::size_t> const& chosen);

/// The number of bins of values, without that of missing values.
std::size_t value_bins(datasets::binned_dataset const& items, std::size_t f);
/// How many documents have each bin of a feature.
std::vector<double> documents_in(datasets::binned_dataset const& items, std::size_t f);

/// `told`, or where that is `either` the slope of a line through the points, weighed by documents.
card_direction direction_of(card_direction told, std::span<double const> points,
                            std::span<double const> weights);
/// For each bin of values the number of its pool: neighbours that break the direction are one
/// (pool-adjacent violators, weighed by documents).
std::vector<std::uint8_t> pools_of(std::span<double const> points, std::span<double const> weights,
                                   card_direction direction);

/// Makes bins that break their feature's direction one, whose points become their mean. A feature
/// of one bin is dropped. False where nothing changes.
bool pool_bins(page_draft& card, std::vector<double>& points);
/// Makes neighbouring bins with the same points one, but leaves each feature a cut.
void join_equal_bins(page_draft& card, std::vector<double>& points);

/// The second derivatives of what the points make smallest, [items][items]; the first ones go to
/// `gradient`.
std::vector<double> curvature_at(context const& ctx, std::span<datasets::query_group const> queries,
                                 datasets::binned_dataset const& items,
                                 std::vector<double> const& points,
                                 scorecard_options const& options, std::vector<double>& gradient);

/// Moves whole points one by one, each by a point, while that lessens the second-order
/// approximation of what they make smallest. `slope` [items] and `curvature` [items][items] are its
/// derivatives at `whole`, by points. Points stay monotone and from 0 to `most`; those of `locked`
/// items stay as they are.
std::vector<double> stepped(context const& ctx, page_draft const& card, std::vector<double> whole,
                            std::vector<double> slope, std::vector<double> const& curvature,
                            double most, std::vector<bool> const& locked);

/// The card of whole points. `training` and `cuts` are those that the draft was made of.
page_card page_of(page_draft card, std::vector<double> const& points,
                  datasets::binned_dataset const& training, datasets::discretizer const& cuts);

/// The card of the features that the page names, and no other: their points that are given stay,
/// the others are fitted. Throws `usage_error` where the points given rank against the labels.
page_card fit_given(context const& ctx, std::span<datasets::query_group const> queries,
                    datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                    scorecard_options const& options, bool learns, fit_for purpose);

}  // namespace rulerank::l2r
