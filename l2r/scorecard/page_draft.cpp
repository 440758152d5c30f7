#include "l2r/scorecard/page_draft.hpp"

#include "l2r/scorecard/points_objective.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace rulerank::inline v0::l2r {

namespace {

constexpr double weight_of_bin = 1e-9;  // added to the number of its documents

/// The columns `kept`, ascending, with bins renumbered: bin b becomes to[k][b].
datasets::binned_dataset with_bins(datasets::binned_dataset const& all,
                                   std::vector<std::size_t> const& kept,
                                   std::vector<std::vector<std::uint8_t>> const& to) {
  datasets::binned_dataset made;
  made.documents = all.documents;
  made.stride = all.stride;
  made.labels = all.labels;
  made.max_label = all.max_label;
  made.names = all.names;
  made.item_begin.push_back(0);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    std::size_t const f = kept[k];
    made.features.push_back(all.features[f]);
    made.has_missing_item.push_back(all.has_missing_item[f]);
    made.item_begin.push_back(made.item_begin.back() + to[k].back() + 1U);
    std::uint8_t const* const codes = all.column(f);
    for (std::size_t d = 0; d < all.stride; ++d)
      made.codes.push_back(codes[d] == datasets::no_item ? codes[d] : to[k][codes[d]]);
  }
  return made;
}

}  // namespace

page_draft draft_of(datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                    card_page const& page, std::vector<std::size_t> const& chosen) {
  page_draft card;
  std::vector<std::vector<std::uint8_t>> same;
  for (std::size_t const f : chosen) {
    same.emplace_back(training.bins(f));
    std::iota(same.back().begin(), same.back().end(), std::uint8_t{0});
    std::uint32_t const feature = training.features[f];
    card.cuts.push_back(
        std::ranges::find(cuts.features, feature, &datasets::feature_cuts::feature)->cuts);
    auto const said = std::ranges::find(page.features, feature, &card_feature::feature);
    card.requested.push_back(said == page.features.end() ? card_direction::either
                                                         : said->direction);
  }
  card.items = with_bins(training, chosen, same);
  card.directions.assign(chosen.size(), card_direction::rising);
  return card;
}

std::size_t value_bins(datasets::binned_dataset const& items, std::size_t f) {
  return items.bins(f) - (items.has_missing_item[f] ? 1 : 0);
}

std::vector<double> documents_in(datasets::binned_dataset const& items, std::size_t f) {
  std::vector<double> count(items.bins(f));
  std::uint8_t const* const codes = items.column(f);
  for (std::size_t d = 0; d < items.documents; ++d)
    if (codes[d] != datasets::no_item) ++count[codes[d]];
  return count;
}

card_direction direction_of(card_direction requested, std::span<double const> points,
                            std::span<double const> weights) {
  if (requested != card_direction::either) return requested;
  double all = 0, mean = 0, mean_points = 0;
  for (std::size_t b = 0; b < points.size(); ++b) {
    all += weights[b];
    mean += weights[b] * static_cast<double>(b);
    mean_points += weights[b] * points[b];
  }
  if (all == 0) return card_direction::rising;
  double slope = 0;
  for (std::size_t b = 0; b < points.size(); ++b)
    slope += weights[b] * (static_cast<double>(b) - mean / all) * (points[b] - mean_points / all);
  return slope >= 0 ? card_direction::rising : card_direction::falling;
}

std::vector<std::uint8_t> pools_of(std::span<double const> points, std::span<double const> weights,
                                   card_direction direction) {
  std::vector<std::uint8_t> of_bin;
  if (direction == card_direction::free) {
    of_bin.resize(points.size());
    std::iota(of_bin.begin(), of_bin.end(), std::uint8_t{0});
    return of_bin;
  }
  bool const up = direction == card_direction::rising;
  struct pool {
    double weight, mean;
    std::size_t bins;
  };
  std::vector<pool> pools;
  for (std::size_t b = 0; b < points.size(); ++b) {
    pools.push_back({weights[b], up ? points[b] : -points[b], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean > pools.back().mean) {
      pool const last = pools.back();
      pools.pop_back();
      pool& one = pools.back();
      double const weight = one.weight + last.weight;
      // Smoothness alone gives bins without documents their points.
      one.mean = weight > 0 ? (one.weight * one.mean + last.weight * last.mean) / weight
                            : (one.mean + last.mean) / 2;
      one.weight = weight;
      one.bins += last.bins;
    }
  }
  for (std::size_t p = 0; p < pools.size(); ++p)
    of_bin.insert(of_bin.end(), pools[p].bins, static_cast<std::uint8_t>(p));
  return of_bin;
}

bool pool_bins(page_draft& card, std::vector<double>& points) {
  std::vector<std::size_t> kept;
  std::vector<std::vector<std::uint8_t>> to;
  std::vector<std::vector<double>> cuts;
  std::vector<card_direction> requested, directions;
  std::vector<double> pooled_points;
  bool pooled = false;
  for (std::size_t f = 0; f < card.items.feature_count(); ++f) {
    std::size_t const bins = value_bins(card.items, f);
    std::span<double const> const own =
        std::span<double const>(points).subspan(card.items.item_begin[f], bins);
    std::vector<double> const weights = documents_in(card.items, f);
    card_direction const direction =
        direction_of(card.requested[f], own, std::span(weights).first(bins));
    std::vector<std::uint8_t> of_bin = pools_of(own, std::span(weights).first(bins), direction);
    std::vector<double> between;
    for (std::size_t b = 0; b + 1 < bins; ++b)
      if (of_bin[b] != of_bin[b + 1]) between.push_back(card.cuts[f][b]);
    pooled = pooled || between.size() + 1 < bins;
    if (between.empty()) continue;  // a constant feature
    std::size_t const first = pooled_points.size();
    pooled_points.resize(first + between.size() + 1);
    std::vector<double> weight(between.size() + 1);
    for (std::size_t b = 0; b < bins; ++b) {
      pooled_points[first + of_bin[b]] += (weights[b] + weight_of_bin) * own[b];
      weight[of_bin[b]] += weights[b] + weight_of_bin;
    }
    for (std::size_t p = 0; p < weight.size(); ++p) pooled_points[first + p] /= weight[p];
    if (card.items.has_missing_item[f]) {
      of_bin.push_back(static_cast<std::uint8_t>(of_bin.back() + 1));
      pooled_points.push_back(points[card.items.item_begin[f] + bins]);
    }
    kept.push_back(f);
    to.push_back(std::move(of_bin));
    cuts.push_back(std::move(between));
    requested.push_back(card.requested[f]);
    directions.push_back(direction);
  }
  card.requested = std::move(requested);
  card.directions = std::move(directions);
  if (!pooled) return false;
  card.items = with_bins(card.items, kept, to);
  card.cuts = std::move(cuts);
  points = std::move(pooled_points);
  return true;
}

void join_equal_bins(page_draft& card, std::vector<double>& points) {
  std::vector<std::size_t> kept(card.items.feature_count());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  std::vector<std::vector<std::uint8_t>> to;
  std::vector<double> joined;
  for (std::size_t f = 0; f < card.items.feature_count(); ++f) {
    std::size_t const begin = card.items.item_begin[f], bins = value_bins(card.items, f);
    std::vector<double> cuts;
    std::vector<std::uint8_t> of_bin{0};
    joined.push_back(points[begin]);
    for (std::size_t b = 1; b < bins; ++b) {
      bool const is_last_cut = cuts.empty() && b + 1 == bins;
      if (points[begin + b] != joined.back() || is_last_cut) {
        cuts.push_back(card.cuts[f][b - 1]);
        joined.push_back(points[begin + b]);
      }
      of_bin.push_back(static_cast<std::uint8_t>(cuts.size()));
    }
    if (card.items.has_missing_item[f]) {
      of_bin.push_back(static_cast<std::uint8_t>(cuts.size() + 1));
      joined.push_back(points[begin + bins]);
    }
    card.cuts[f] = std::move(cuts);
    to.push_back(std::move(of_bin));
  }
  card.items = with_bins(card.items, kept, to);
  points = std::move(joined);
}

std::vector<double> curvature_at(context const& ctx, std::span<datasets::query_group const> queries,
                                 datasets::binned_dataset const& items,
                                 std::vector<double> const& points,
                                 scorecard_options const& options, std::vector<double>& gradient) {
  std::size_t const n = points.size();
  points_objective objective(queries, items, options);
  std::vector<double> unit(n), all(n * n);
  gradient.assign(n, 0);
  objective.evaluate(ctx, points, gradient);
  for (std::size_t a = 0; a < n; ++a) {
    unit[a] = 1;
    objective.multiply(ctx, unit, std::span(all).subspan(a * n, n));
    unit[a] = 0;
  }
  return all;
}

namespace {

bool is_monotone(page_draft const& card, std::vector<double> const& points, std::size_t f) {
  auto const begin = points.begin() + card.items.item_begin[f];
  auto const end = begin + static_cast<std::ptrdiff_t>(value_bins(card.items, f));
  switch (card.directions[f]) {
    case card_direction::free:
      return true;
    case card_direction::falling:
      return std::is_sorted(begin, end, std::greater<>());
    default:
      return std::is_sorted(begin, end);
  }
}

}  // namespace

std::vector<double> stepped(context const& ctx, page_draft const& card, std::vector<double> whole,
                            std::vector<double> slope, std::vector<double> const& curvature,
                            double most, std::vector<bool> const& locked) {
  std::size_t const n = whole.size();
  constexpr int most_sweeps = 100;
  bool moved = true;
  for (int sweep = 0; moved && sweep < most_sweeps; ++sweep) {
    moved = false;
    ctx.check_stop();
    for (std::size_t f = 0; f < card.items.feature_count(); ++f)
      for (std::size_t a = card.items.item_begin[f]; a < card.items.item_begin[f + 1]; ++a) {
        double const step = slope[a] > 0 ? -1 : 1;
        double const gain = -step * slope[a] - curvature[a * n + a] / 2;
        if (locked[a] || !(gain > 0) || whole[a] + step < 0 || whole[a] + step > most) continue;
        whole[a] += step;
        if (!is_monotone(card, whole, f)) {
          whole[a] -= step;
          continue;
        }
        moved = true;
        for (std::size_t b = 0; b < n; ++b) slope[b] += step * curvature[b * n + a];
      }
  }
  return whole;
}

page_card page_of(page_draft card, std::vector<double> const& points,
                  datasets::binned_dataset const& training, datasets::discretizer const& cuts) {
  auto const cuts_of = [](auto& of, std::uint32_t feature) {
    return std::ranges::find(of.features, feature, &datasets::feature_cuts::feature);
  };
  page_card page{cuts, {}, {}, std::vector<double>(training.items()), {}};
  for (datasets::feature_cuts& one : page.cuts.features) one.cuts.clear();
  page.card.features = card.items.features;
  page.card.item_begin = card.items.item_begin;
  for (double const p : points) page.card.points.push_back(std::llrint(std::ldexp(p, card_bits)));
  for (std::size_t f = 0; f < card.items.feature_count(); ++f) {
    std::uint32_t const feature = card.items.features[f];
    auto const column = static_cast<std::size_t>(
        std::ranges::lower_bound(training.features, feature) - training.features.begin());
    std::vector<double> const& before = cuts_of(cuts, feature)->cuts;
    for (std::size_t b = 0; b < training.bins(column); ++b) {
      // The draft's cuts are a subset of the original ones.
      std::size_t const bin =
          b > before.size() ? card.cuts[f].size() + 1
          : b == 0
              ? 0
              : static_cast<std::size_t>(std::ranges::upper_bound(card.cuts[f], before[b - 1]) -
                                         card.cuts[f].begin());
      page.points[training.item_begin[column] + b] = points[card.items.item_begin[f] + bin];
    }
    cuts_of(page.cuts, feature)->cuts = card.cuts[f];
  }
  page.items = std::move(card.items);
  return page;
}

}  // namespace rulerank::l2r
