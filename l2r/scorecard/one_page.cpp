#include "l2r/scorecard/one_page.hpp"

#include "core/parallel.hpp"
#include "l2r/scorecard/pair_system.hpp"
#include "l2r/scorecard/points_objective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

// How a card gets onto one page: features are added one by one, those of the largest gain in the
// squared loss; the points of the chosen ones are fitted; bins that break a feature's direction
// become one with their neighbours, and the points are fitted again; the points become whole
// numbers, which move by single steps while the loss falls.
namespace rulerank::inline v0::l2r {

namespace {

constexpr double on_diagonal = 1e-9;  // keeps systems positive definite

/// A matrix of a few rows, row by row.
struct small_matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;
  double& at(std::size_t r, std::size_t c) { return values[r * columns + c]; }
  double at(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
};

/// L of A = L L^T, in the lower triangle.
void factor(small_matrix& a) {
  for (std::size_t k = 0; k < a.rows; ++k) {
    double pivot = a.at(k, k);
    for (std::size_t j = 0; j < k; ++j) pivot -= a.at(k, j) * a.at(k, j);
    // Rounding may take what a bin that others explain has left.
    a.at(k, k) = std::sqrt(std::max(pivot, on_diagonal));
    for (std::size_t r = k + 1; r < a.rows; ++r) {
      double x = a.at(r, k);
      for (std::size_t j = 0; j < k; ++j) x -= a.at(r, j) * a.at(k, j);
      a.at(r, k) = x / a.at(k, k);
    }
  }
}

/// X := L^-1 X.
void solve_below(small_matrix const& l, small_matrix& x) {
  for (std::size_t r = 0; r < x.rows; ++r)
    for (std::size_t c = 0; c < x.columns; ++c) {
      double value = x.at(r, c);
      for (std::size_t j = 0; j < r; ++j) value -= l.at(r, j) * x.at(j, c);
      x.at(r, c) = value / l.at(r, r);
    }
}

/// Chooses features one by one: the one by which the smallest squared loss with penalties falls
/// most, of equal ones the first.
class forward_choice {
 public:
  forward_choice(context const& ctx, std::span<datasets::query_group const> queries,
                 datasets::binned_dataset const& items, scorecard_options const& options)
      : ctx_(ctx),
        items_(items),
        system_(queries, items, options.loss),
        penalties_(options),
        next_(neighbours_of(items)),
        candidates_(items.feature_count()) {
    each_candidate([&](std::size_t f) {
      candidate& one = candidates_[f];
      std::size_t const bins = items_.bins(f);
      one.left = {bins, bins, system_.block(f, f)};
      penalize(f, one.left);
      one.right = {bins, 1, system_.right_side(f)};
    });
  }

  bool learns() const { return system_.learns(); }

  /// Columns of `items`, in the order of their choice; fewer where no other gains anything.
  std::vector<std::size_t> choose(std::size_t most) {
    std::vector<std::size_t> chosen;
    while (chosen.size() < std::min(most, candidates_.size())) {
      ctx_.report("choose features", chosen.size(), std::min(most, candidates_.size()));
      std::optional<std::size_t> const best = best_left();
      if (!best) break;
      chosen.push_back(*best);
      candidates_[*best].chosen = true;
      if (chosen.size() < most) account_for(*best);
    }
    return chosen;
  }

 private:
  /// A feature: what the features chosen before leave of its block of A and of its b.
  struct candidate {
    small_matrix left, right;
    std::vector<small_matrix> seen;  // of each chosen feature, L^-1 of the blocks with it
    double gain = 0;
    bool chosen = false;
  };

  template <class Work>
  void each_candidate(Work const& work) {
    parallel_for(ctx_, candidates_.size(), 1, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t f = begin; f < end; ++f)
        if (!candidates_[f].chosen) work(f);
    });
  }

  /// A twice differentiable loss and half its curvature: the penalties of a card are added as to
  /// p^T A p.
  void penalize(std::size_t f, small_matrix& block) const {
    for (std::size_t a = 0; a < block.rows; ++a) {
      block.at(a, a) += penalties_.points_penalty + on_diagonal;
      if (!next_[items_.item_begin[f] + a]) continue;
      block.at(a, a) += penalties_.smoothness;
      block.at(a + 1, a + 1) += penalties_.smoothness;
      block.at(a, a + 1) -= penalties_.smoothness;
      block.at(a + 1, a) -= penalties_.smoothness;
    }
  }

  std::optional<std::size_t> best_left() {
    each_candidate([&](std::size_t f) {
      candidate& one = candidates_[f];
      small_matrix l = one.left;
      small_matrix z = one.right;
      factor(l);
      solve_below(l, z);
      one.gain = std::inner_product(z.values.begin(), z.values.end(), z.values.begin(), 0.0);
    });
    std::optional<std::size_t> best;
    for (std::size_t f = 0; f < candidates_.size(); ++f)
      if (!candidates_[f].chosen && candidates_[f].gain > (best ? candidates_[*best].gain : 0))
        best = f;
    return best;
  }

  /// Takes what feature g explains from the others.
  void account_for(std::size_t g) {
    candidate const& chosen = candidates_[g];
    small_matrix l = chosen.left;
    small_matrix z = chosen.right;
    factor(l);
    solve_below(l, z);
    each_candidate([&](std::size_t f) {
      candidate& one = candidates_[f];
      std::size_t const bins = items_.bins(f);
      small_matrix seen{items_.bins(g), bins, system_.block(g, f)};
      for (std::size_t k = 0; k < chosen.seen.size(); ++k)
        for (std::size_t a = 0; a < seen.rows; ++a)
          for (std::size_t b = 0; b < bins; ++b)
            for (std::size_t j = 0; j < one.seen[k].rows; ++j)
              seen.at(a, b) -= chosen.seen[k].at(j, a) * one.seen[k].at(j, b);
      solve_below(l, seen);
      for (std::size_t j = 0; j < seen.rows; ++j)
        for (std::size_t a = 0; a < bins; ++a) {
          one.right.at(a, 0) -= seen.at(j, a) * z.at(j, 0);
          for (std::size_t b = 0; b < bins; ++b) one.left.at(a, b) -= seen.at(j, a) * seen.at(j, b);
        }
      one.seen.push_back(std::move(seen));
    });
  }

  context const& ctx_;
  datasets::binned_dataset const& items_;
  pair_system system_;
  scorecard_options penalties_;
  std::vector<bool> next_;
  std::vector<candidate> candidates_;
};

/// The columns `kept`, ascending, each with its bins numbered anew: bin b becomes to[k][b].
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

/// The number of bins of values, without that of missing values.
std::size_t value_bins(datasets::binned_dataset const& items, std::size_t f) {
  return items.bins(f) - (items.has_missing_item[f] ? 1 : 0);
}

/// How many documents have each bin of a feature.
std::vector<double> documents_in(datasets::binned_dataset const& items, std::size_t f) {
  std::vector<double> count(items.bins(f));
  std::uint8_t const* const codes = items.column(f);
  for (std::size_t d = 0; d < items.documents; ++d)
    if (codes[d] != datasets::no_item) ++count[codes[d]];
  return count;
}

/// Whether points rise over the bins of values: by the slope of a line through them, weighed by
/// documents.
bool rises(std::span<double const> points, std::span<double const> weights) {
  double all = 0, mean = 0, mean_points = 0;
  for (std::size_t b = 0; b < points.size(); ++b) {
    all += weights[b];
    mean += weights[b] * static_cast<double>(b);
    mean_points += weights[b] * points[b];
  }
  if (all == 0) return true;
  double slope = 0;
  for (std::size_t b = 0; b < points.size(); ++b)
    slope += weights[b] * (static_cast<double>(b) - mean / all) * (points[b] - mean_points / all);
  return slope >= 0;
}

/// For each bin of values the number of its pool: neighbours that break the direction are one
/// (pool-adjacent violators, weighed by documents).
std::vector<std::uint8_t> pools_of(std::span<double const> points, std::span<double const> weights,
                                   bool up) {
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
      // Bins without documents have points of their neighbours' by smoothness alone.
      one.mean = weight > 0 ? (one.weight * one.mean + last.weight * last.mean) / weight
                            : (one.mean + last.mean) / 2;
      one.weight = weight;
      one.bins += last.bins;
    }
  }
  std::vector<std::uint8_t> of_bin;
  for (std::size_t p = 0; p < pools.size(); ++p)
    of_bin.insert(of_bin.end(), pools[p].bins, static_cast<std::uint8_t>(p));
  return of_bin;
}

/// A card that is being made: its items and, of each feature, the cuts between its bins and whether
/// its points rise.
struct draft {
  datasets::binned_dataset items;
  std::vector<std::vector<double>> cuts;
  std::vector<bool> up;
};

std::vector<double> fitted_points(context const& ctx,
                                  std::span<datasets::query_group const> queries,
                                  datasets::binned_dataset const& items,
                                  scorecard_options const& options, fit_for purpose,
                                  std::vector<double> from = {}) {
  if (options.loss == card_loss::point) return least_squares_points(ctx, items, options);
  points_objective objective(queries, items, options);
  return smallest_points(ctx, objective, purpose == fit_for::use ? 1e-9 : 1e-5, std::move(from));
}

/// Makes bins that break their feature's direction one, whose points become their mean; false where
/// none does.
bool pool_bins(draft& card, std::vector<double>& points) {
  std::vector<std::size_t> kept;
  std::vector<std::vector<std::uint8_t>> to;
  std::vector<std::vector<double>> cuts;
  std::vector<bool> up;
  std::vector<double> pooled_points;
  bool pooled = false;
  for (std::size_t f = 0; f < card.items.feature_count(); ++f) {
    std::size_t const bins = value_bins(card.items, f);
    std::span<double const> const own =
        std::span<double const>(points).subspan(card.items.item_begin[f], bins);
    std::vector<double> const weights = documents_in(card.items, f);
    bool const rising = rises(own, std::span(weights).first(bins));
    std::vector<std::uint8_t> of_bin = pools_of(own, std::span(weights).first(bins), rising);
    std::vector<double> between;
    for (std::size_t b = 0; b + 1 < bins; ++b)
      if (of_bin[b] != of_bin[b + 1]) between.push_back(card.cuts[f][b]);
    pooled = pooled || between.size() + 1 < bins;
    if (between.empty()) continue;  // it says nothing in any direction
    std::size_t const first = pooled_points.size();
    pooled_points.resize(first + between.size() + 1);
    std::vector<double> weight(between.size() + 1);
    for (std::size_t b = 0; b < bins; ++b) {
      pooled_points[first + of_bin[b]] += (weights[b] + on_diagonal) * own[b];
      weight[of_bin[b]] += weights[b] + on_diagonal;
    }
    for (std::size_t p = 0; p < weight.size(); ++p) pooled_points[first + p] /= weight[p];
    if (card.items.has_missing_item[f]) {
      of_bin.push_back(static_cast<std::uint8_t>(of_bin.back() + 1));
      pooled_points.push_back(points[card.items.item_begin[f] + bins]);
    }
    kept.push_back(f);
    to.push_back(std::move(of_bin));
    cuts.push_back(std::move(between));
    up.push_back(rising);
  }
  card.up = std::move(up);
  if (!pooled) return false;
  card.items = with_bins(card.items, kept, to);
  card.cuts = std::move(cuts);
  points = std::move(pooled_points);
  return true;
}

/// Makes neighbouring bins with the same points one, but leaves each feature a cut.
void join_equal_bins(draft& card, std::vector<double>& points) {
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

/// Points from 0 on, in units of which the largest item has as many as the page allows.
class scaled_points {
 public:
  scaled_points(draft const& card, std::vector<double> const& fitted, int most)
      : card_(card), most_(most), base_(fitted.size()), points_(fitted.size()) {
    double largest = 0;
    for (std::size_t f = 0; f < card.items.feature_count(); ++f) {
      std::size_t const begin = card.items.item_begin[f], end = card.items.item_begin[f + 1];
      std::size_t const missing = begin + value_bins(card.items, f);
      double least = *std::min_element(fitted.begin() + begin, fitted.begin() + missing);
      bool const none_missing = missing < end && documents_in(card.items, f).back() == 0;
      if (missing < end && !none_missing) least = std::min(least, fitted[missing]);
      for (std::size_t a = begin; a < end; ++a) {
        base_[a] = least;
        // Nobody knows what is missing where nothing was: the least points.
        points_[a] = a == missing && none_missing ? 0 : fitted[a] - least;
        largest = std::max(largest, points_[a]);
      }
    }
    unit_ = largest > 0 ? largest / most_ : 1;
    for (double& p : points_) p /= unit_;
  }

  double unit() const noexcept { return unit_; }
  /// The fitted score of a document with 0 points in every feature.
  double offset() const {
    double sum = 0;
    for (std::size_t f = 0; f < card_.items.feature_count(); ++f)
      sum += base_[card_.items.item_begin[f]];
    return sum;
  }
  /// The nearest whole points.
  std::vector<double> nearest() const {
    std::vector<double> whole;
    for (double const p : points_) whole.push_back(std::nearbyint(p));
    return whole;
  }

  /// Whole points near these: the nearest ones, moved one by one, each by a point, while that
  /// lessens the second-order approximation of what the points make smallest, whose second
  /// derivatives are [items][items].
  std::vector<double> whole(context const& ctx, std::vector<double> const& curvature) const {
    std::size_t const n = points_.size();
    std::vector<double> whole = nearest(), slope(n);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b)
        slope[a] += curvature[a * n + b] * (whole[b] - points_[b]);
    constexpr int most_sweeps = 100;
    bool moved = true;
    for (int sweep = 0; moved && sweep < most_sweeps; ++sweep) {
      moved = false;
      ctx.check_stop();
      for (std::size_t f = 0; f < card_.items.feature_count(); ++f)
        for (std::size_t a = card_.items.item_begin[f]; a < card_.items.item_begin[f + 1]; ++a) {
          double const step = slope[a] > 0 ? -1 : 1;
          double const gain = -step * slope[a] - curvature[a * n + a] / 2;
          if (!(gain > 0) || whole[a] + step < 0 || whole[a] + step > most_) continue;
          whole[a] += step;
          if (!is_monotone(whole, f)) {
            whole[a] -= step;
            continue;
          }
          moved = true;
          for (std::size_t b = 0; b < n; ++b) slope[b] += step * curvature[b * n + a];
        }
    }
    return whole;
  }

 private:
  bool is_monotone(std::vector<double> const& points, std::size_t f) const {
    auto const begin = points.begin() + card_.items.item_begin[f];
    auto const end = begin + static_cast<std::ptrdiff_t>(value_bins(card_.items, f));
    return card_.up[f] ? std::is_sorted(begin, end) : std::is_sorted(begin, end, std::greater<>());
  }

  draft const& card_;
  double most_;
  double unit_ = 1;
  std::vector<double> base_, points_;
};

/// The second derivatives of what the points make smallest, [items][items].
std::vector<double> curvature_at(context const& ctx, std::span<datasets::query_group const> queries,
                                 datasets::binned_dataset const& items,
                                 std::vector<double> const& points,
                                 scorecard_options const& options) {
  std::size_t const n = points.size();
  points_objective objective(queries, items, options);
  std::vector<double> gradient(n), unit(n), all(n * n);
  objective.evaluate(ctx, points, gradient);
  for (std::size_t a = 0; a < n; ++a) {
    unit[a] = 1;
    objective.multiply(ctx, unit, std::span(all).subspan(a * n, n));
    unit[a] = 0;
  }
  return all;
}

}  // namespace

namespace {

/// The card of some features, of which `points` are to be fitted.
page_card fit_features(context const& ctx, std::span<datasets::query_group const> queries,
                       datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                       scorecard_options const& options, std::vector<std::size_t> chosen,
                       bool learns, fit_for purpose) {
  page_card page{cuts, {}, {}, std::vector<double>(training.items()), {}};
  for (datasets::feature_cuts& one : page.cuts.features) one.cuts.clear();
  // Where nothing is to be learned the card has one feature, whose points are 0.
  if (chosen.empty()) chosen.push_back(0);
  std::ranges::sort(chosen);
  auto const cuts_of = [](auto& of, std::uint32_t feature) {
    return std::ranges::find(of.features, feature, &datasets::feature_cuts::feature);
  };
  draft card;
  std::vector<std::vector<std::uint8_t>> same;
  for (std::size_t const f : chosen) {
    same.emplace_back(training.bins(f));
    std::iota(same.back().begin(), same.back().end(), std::uint8_t{0});
    card.cuts.push_back(cuts_of(cuts, training.features[f])->cuts);
  }
  card.items = with_bins(training, chosen, same);
  card.up.assign(chosen.size(), true);
  std::vector<double> points(card.items.items());
  if (learns) {
    points = fitted_points(ctx, queries, card.items, options, purpose);
    while (pool_bins(card, points) && card.items.feature_count() > 0)
      points = fitted_points(ctx, queries, card.items, options, purpose, std::move(points));
    if (card.items.feature_count() == 0)  // no direction is left
      return fit_features(ctx, queries, training, cuts, options, {chosen.front()}, false, purpose);
    scaled_points const scaled(card, points, options.page->points);
    page.unit = scaled.unit();
    page.offset = scaled.offset();
    points = purpose == fit_for::judgment
                 ? scaled.nearest()
                 : scaled.whole(ctx, curvature_at(ctx, queries, card.items, points, options));
    join_equal_bins(card, points);
  }
  page.card.features = card.items.features;
  page.card.item_begin = card.items.item_begin;
  for (double const p : points) page.card.points.push_back(std::llrint(std::ldexp(p, card_bits)));
  for (std::size_t f = 0; f < card.items.feature_count(); ++f) {
    std::uint32_t const feature = card.items.features[f];
    auto const column = static_cast<std::size_t>(
        std::ranges::lower_bound(training.features, feature) - training.features.begin());
    std::vector<double> const& before = cuts_of(cuts, feature)->cuts;
    for (std::size_t b = 0; b < training.bins(column); ++b) {
      // The cuts of the card are some of those before.
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

}  // namespace

std::vector<card_total> totals_of(page_card const& page, datasets::binned_dataset const& labelled) {
  constexpr std::size_t groups = 10;
  std::vector<std::pair<std::int64_t, std::int32_t>> documents(labelled.documents);
  for (std::size_t d = 0; d < labelled.documents; ++d) {
    documents[d].second = labelled.labels[d];
    for (std::size_t f = 0; f < labelled.feature_count(); ++f)
      if (std::uint8_t const code = labelled.code(f, d); code != datasets::no_item)
        documents[d].first += std::llrint(page.points[labelled.item_begin[f] + code]);
  }
  std::ranges::sort(documents);
  std::vector<card_total> totals;
  std::size_t group = 0;
  for (std::size_t d = 0; d < documents.size(); ++d) {
    bool const is_new = d == 0 || documents[d].first != documents[d - 1].first;
    if (is_new && d * groups >= group * documents.size()) {
      totals.push_back({documents[d].first});
      group = d * groups / documents.size() + 1;
    }
    ++totals.back().documents;
    totals.back().mean_label += documents[d].second;
  }
  for (card_total& one : totals) one.mean_label /= one.documents;
  return totals;
}

std::vector<page_card> fit_pages(context const& ctx, std::span<datasets::query_group const> queries,
                                 datasets::binned_dataset const& training,
                                 datasets::discretizer const& cuts,
                                 scorecard_options const& options,
                                 std::span<std::size_t const> sizes, fit_for purpose) {
  check(options);
  expect_training(queries, training);
  forward_choice choice(ctx, queries, training, options);
  std::vector<std::size_t> const order =
      choice.learns() ? choice.choose(sizes.back()) : std::vector<std::size_t>();
  std::vector<page_card> pages;
  for (std::size_t const size : sizes) {
    auto const end = order.begin() + static_cast<std::ptrdiff_t>(std::min(size, order.size()));
    pages.push_back(fit_features(ctx, queries, training, cuts, options, {order.begin(), end},
                                 choice.learns(), purpose));
  }
  return pages;
}

page_card fit_page(context const& ctx, std::span<datasets::query_group const> queries,
                   datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                   scorecard_options const& options) {
  std::size_t const sizes[] = {options.page->max_features};
  page_card page =
      std::move(fit_pages(ctx, queries, training, cuts, options, sizes, fit_for::use).front());
  page.totals = totals_of(page, training);
  return page;
}

}  // namespace rulerank::l2r
