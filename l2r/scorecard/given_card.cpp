#include "core/error.hpp"
#include "l2r/scorecard/page_draft.hpp"
#include "l2r/scorecard/points_objective.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

// A card with given features, and possibly given cuts and points. Given points are kept. The scale
// of the given points and the open points are fitted; open points are then made monotone in their
// feature's direction and rounded to integers.
namespace rulerank::inline v0::l2r {

namespace {

/// [items] The given points; empty: open.
std::vector<std::optional<int>> points_given(page_draft const& card, card_page const& page) {
  std::vector<std::optional<int>> all(card.items.items());
  for (std::size_t f = 0; f < card.items.feature_count(); ++f) {
    auto const& given =
        std::ranges::find(page.features, card.items.features[f], &card_feature::feature)->points;
    std::size_t const items = std::min<std::size_t>(given.size(), card.items.bins(f));
    std::copy_n(given.begin(), items, all.begin() + card.items.item_begin[f]);
  }
  return all;
}

/// The points of all items as a function of few unknowns: the value of the largest points; an
/// offset for all bins of the first feature; and one unknown per open item.
class open_points final : public convex_function {
 public:
  open_points(points_objective& all, std::vector<std::optional<int>> const& given,
              std::size_t first_items, int most)
      : all_(all), given_(given), first_items_(first_items), most_(most) {
    for (auto const& one : given) open_ += one ? 0 : 1;
    points_.resize(given.size());
    product_.resize(given.size());
  }

  std::size_t unknowns() const noexcept override { return 2 + open_; }
  std::size_t codes() const noexcept override { return all_.codes(); }
  bool learns() const noexcept override { return all_.learns(); }

  std::vector<double> const& points_at(std::span<double const> x) {
    std::size_t next = 2;
    for (std::size_t a = 0; a < given_.size(); ++a)
      points_[a] =
          given_[a] ? x[0] * *given_[a] / most_ + (a < first_items_ ? x[1] : 0) : x[next++];
    return points_;
  }

  double evaluate(context const& ctx, std::span<double const> x,
                  std::span<double> gradient) override {
    double const value = all_.evaluate(ctx, points_at(x), product_);
    collect(gradient);
    return value;
  }
  void multiply(context const& ctx, std::span<double const> v, std::span<double> product) override {
    all_.multiply(ctx, points_at(v), product_);
    collect(product);
  }
  void prepare_preconditioner(context const&) override {}
  void precondition(std::span<double const> r, std::span<double> x) const override {
    std::ranges::copy(r, x.begin());
  }

 private:
  /// Converts derivatives by the items to derivatives by the unknowns.
  void collect(std::span<double> to) const {
    to[0] = to[1] = 0;
    std::size_t next = 2;
    for (std::size_t a = 0; a < given_.size(); ++a) {
      if (!given_[a]) {
        to[next++] = product_[a];
        continue;
      }
      to[0] += product_[a] * *given_[a] / most_;
      if (a < first_items_) to[1] += product_[a];
    }
  }

  points_objective& all_;
  std::vector<std::optional<int>> const& given_;
  std::size_t first_items_;  // items of the first feature
  double most_;
  std::size_t open_ = 0;
  std::vector<double> points_, product_;
};

/// The direction of the given points; `either` if they have none.
card_direction direction_given(std::span<std::optional<int> const> bins) {
  std::optional<int> before;
  for (auto const& one : bins) {
    if (!one) continue;
    if (before && *one != *before)
      return *one > *before ? card_direction::rising : card_direction::falling;
    before = one;
  }
  return card_direction::either;
}

/// Makes open bins between given ones monotone within their run and within the given points on both
/// sides, or `least` and `most` if there is none.
void keep_direction(std::span<double> points, std::span<double const> weights,
                    std::span<std::optional<int> const> given, card_direction direction,
                    double least, double most) {
  bool const is_free = direction == card_direction::free;
  for (std::size_t begin = 0; begin < points.size();) {
    if (given[begin]) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < points.size() && !given[end]) ++end;
    std::span<double> const run = points.subspan(begin, end - begin);
    auto const pools = pools_of(run, weights.subspan(begin, end - begin), direction);
    std::vector<double> sum(run.size()), weight(run.size());
    for (std::size_t b = 0; b < run.size(); ++b) {
      double const own = weights[begin + b] + 1e-9;  // a bin may be empty
      sum[pools[b]] += own * run[b];
      weight[pools[b]] += own;
    }
    double low = begin > 0 && !is_free ? *given[begin - 1] : least;
    double high = end < points.size() && !is_free ? *given[end] : most;
    if (direction == card_direction::falling) {
      low = end < points.size() ? *given[end] : least;
      high = begin > 0 ? *given[begin - 1] : most;
    }
    for (std::size_t b = 0; b < run.size(); ++b)
      run[b] = std::clamp(sum[pools[b]] / weight[pools[b]], low, high);
    begin = end;
  }
}

/// The value of one point, and for each feature the value of 0 points.
struct page_scale {
  double unit = 1;
  std::vector<double> base;  ///< [F]
};

/// A feature with only open bins starts at its least value. Without given points above 0, the
/// largest value gets the page's maximum points.
page_scale scale_of(page_draft& card, std::vector<double>& values,
                    std::vector<std::optional<int>> const& given, double of_given, int most) {
  page_scale scale;
  double largest = 0;
  for (std::size_t f = 0; f < card.items.feature_count(); ++f) {
    std::size_t const begin = card.items.item_begin[f], items = card.items.bins(f);
    std::size_t const bins = value_bins(card.items, f);
    auto const own = std::span(values).subspan(begin, items);
    auto const own_given = std::span(given).subspan(begin, items);
    std::vector<double> const weights = documents_in(card.items, f);
    bool const any_given = std::ranges::any_of(own_given, [](auto const& one) { return !!one; });
    card_direction const requested = card.requested[f] == card_direction::either
                                         ? direction_given(own_given.first(bins))
                                         : card.requested[f];
    card.directions[f] = direction_of(requested, own.first(bins), std::span(weights).first(bins));
    double least = *std::ranges::min_element(own.first(bins));
    if (bins < items && weights.back() > 0) least = std::min(least, own.back());
    for (std::size_t b = 0; any_given && b < items; ++b)
      if (own_given[b]) least = own[b] - of_given * *own_given[b];
    scale.base.push_back(least);
    for (double& value : own) value -= least;
    largest = std::max(largest, *std::ranges::max_element(own));
  }
  bool const is_worth = std::ranges::any_of(given, [](auto const& one) { return one && *one > 0; });
  scale.unit = is_worth ? of_given : largest > 0 ? largest / most : 1;
  return scale;
}

/// Integer points from 0 to `most`, near the values and in each feature's direction.
std::vector<double> whole_points(page_draft const& card, std::vector<double> values,
                                 std::vector<std::optional<int>> const& given, double unit,
                                 int most) {
  for (double& value : values) value /= unit;
  for (std::size_t f = 0; f < card.items.feature_count(); ++f) {
    std::size_t const begin = card.items.item_begin[f], bins = value_bins(card.items, f);
    std::vector<double> const weights = documents_in(card.items, f);
    keep_direction(std::span(values).subspan(begin, bins), std::span(weights).first(bins),
                   std::span(given).subspan(begin, bins), card.directions[f], 0, most);
    // No training document misses the value, so a missing value gets the least points.
    if (bins < weights.size() && weights.back() == 0) values[begin + bins] = 0;
  }
  for (std::size_t a = 0; a < values.size(); ++a)
    values[a] = given[a] ? *given[a] : std::nearbyint(std::clamp<double>(values[a], 0, most));
  return values;
}

}  // namespace

page_card fit_given(context const& ctx, std::span<datasets::query_group const> queries,
                    datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                    scorecard_options const& options, bool learns, fit_for purpose) {
  int const most = options.page->points;
  std::vector<std::size_t> all(training.feature_count());
  for (std::size_t f = 0; f < all.size(); ++f) all[f] = f;
  page_draft card = draft_of(training, cuts, *options.page, all);
  std::vector<std::optional<int>> const given = points_given(card, *options.page);
  std::vector<double> points;
  if (!learns) {
    for (auto const& one : given) points.push_back(one.value_or(0));
    return page_of(std::move(card), points, training, cuts);
  }
  points_objective objective(queries, card.items, options);
  open_points unknowns(objective, given, card.items.bins(0), most);
  std::vector<double> const found =
      smallest_points(ctx, unknowns, purpose == fit_for::use ? 1e-9 : 1e-5);
  std::vector<double> values = unknowns.points_at(found);
  page_scale const scale = scale_of(card, values, given, found[0] / most, most);
  if (!(scale.unit > 0))
    throw usage_error(
        "the points that the card gives rank the labelled documents in reverse, expected more "
        "points for better documents, or ? for points that are fitted");
  points = whole_points(card, std::move(values), given, scale.unit, most);
  if (purpose == fit_for::use) {
    std::vector<double> at(points.size()), gradient;
    std::vector<bool> locked(points.size());
    for (std::size_t f = 0; f < card.items.feature_count(); ++f) {
      std::vector<double> const documents = documents_in(card.items, f);
      for (std::size_t b = 0; b < documents.size(); ++b) {
        std::size_t const a = card.items.item_begin[f] + b;
        at[a] = scale.base[f] + scale.unit * points[a];
        locked[a] = given[a] || documents[b] == 0;
      }
    }
    std::vector<double> const curvature =
        curvature_at(ctx, queries, card.items, at, options, gradient);
    for (double& slope : gradient) slope /= scale.unit;
    points = stepped(ctx, card, std::move(points), std::move(gradient), curvature, most, locked);
  }
  join_equal_bins(card, points);
  page_card page = page_of(std::move(card), points, training, cuts);
  page.unit = scale.unit;
  for (double const base : scale.base) page.offset += base;
  return page;
}

}  // namespace rulerank::l2r
