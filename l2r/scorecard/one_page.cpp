#include "l2r/scorecard/one_page.hpp"

#include "core/parallel.hpp"
#include "l2r/scorecard/page_draft.hpp"
#include "l2r/scorecard/pair_system.hpp"
#include "l2r/scorecard/points_objective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

// Fits a card on one page. Features are added greedily by gain in the squared loss; the points of
// the chosen features are fitted; bins that violate a feature's direction are merged with their
// neighbours and the points refitted; points are rounded to integers, which then change by single
// steps while the loss falls.
namespace rulerank::inline v0::l2r {

namespace {

constexpr double on_diagonal = 1e-9;  // keeps systems positive definite

/// A small matrix, stored by rows.
struct small_matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;
  double& at(std::size_t r, std::size_t c) { return values[r * columns + c]; }
  double at(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
};

/// Computes L of A = L L^T in the lower triangle.
void factor(small_matrix& a) {
  for (std::size_t k = 0; k < a.rows; ++k) {
    double pivot = a.at(k, k);
    for (std::size_t j = 0; j < k; ++j) pivot -= a.at(k, j) * a.at(k, j);
    // A pivot of a bin that other bins determine can be lost to rounding.
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

/// Forward selection of features: adds the feature that reduces the minimum of the penalized
/// squared loss most, of ties the first.
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

  /// Column indices of `items` in the order of their choice; fewer if no other feature gains
  /// anything.
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
  /// A candidate feature: the residual of its block of A and of its b after the chosen features.
  struct candidate {
    small_matrix left, right;
    std::vector<small_matrix> seen;  // per chosen feature, L^-1 times the block with it
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

  /// A twice differentiable loss has the form p^T A p with half its curvature; a card's penalties
  /// are added accordingly.
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

  /// Removes from the other candidates what feature g explains.
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

std::vector<double> fitted_points(context const& ctx,
                                  std::span<datasets::query_group const> queries,
                                  datasets::binned_dataset const& items,
                                  scorecard_options const& options, fit_for purpose,
                                  std::vector<double> from = {}) {
  if (options.loss == card_loss::point) return least_squares_points(ctx, items, options);
  points_objective objective(queries, items, options);
  return smallest_points(ctx, objective, purpose == fit_for::use ? 1e-9 : 1e-5, std::move(from));
}

/// Points from 0, scaled so that the largest item has the page's maximum points.
class scaled_points {
 public:
  scaled_points(page_draft const& card, std::vector<double> const& fitted, int most)
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
        // No training document misses the value, so a missing value gets the least points.
        points_[a] = a == missing && none_missing ? 0 : fitted[a] - least;
        largest = std::max(largest, points_[a]);
      }
    }
    unit_ = largest > 0 ? largest / most_ : 1;
    for (double& p : points_) p /= unit_;
  }

  double unit() const noexcept { return unit_; }
  /// The fitted score of a document with 0 points for every feature.
  double offset() const {
    double sum = 0;
    for (std::size_t f = 0; f < card_.items.feature_count(); ++f)
      sum += base_[card_.items.item_begin[f]];
    return sum;
  }
  /// The points rounded to nearest.
  std::vector<double> nearest() const {
    std::vector<double> whole;
    for (double const p : points_) whole.push_back(std::nearbyint(p));
    return whole;
  }

  /// The points rounded to nearest, then changed by 1 one at a time while that decreases the
  /// objective's second-order approximation. `curvature`: its second derivatives, [items][items].
  std::vector<double> whole(context const& ctx, std::vector<double> const& curvature) const {
    std::size_t const n = points_.size();
    std::vector<double> whole = nearest(), slope(n);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b)
        slope[a] += curvature[a * n + b] * (whole[b] - points_[b]);
    return stepped(ctx, card_, std::move(whole), std::move(slope), curvature, most_,
                   std::vector<bool>(n));
  }

 private:
  page_draft const& card_;
  double most_;
  double unit_ = 1;
  std::vector<double> base_, points_;
};

/// Fits the card of the chosen features.
page_card fit_features(context const& ctx, std::span<datasets::query_group const> queries,
                       datasets::binned_dataset const& training, datasets::discretizer const& cuts,
                       scorecard_options const& options, std::vector<std::size_t> chosen,
                       bool learns, fit_for purpose) {
  // If there is nothing to learn, the card has one feature with 0 points.
  if (chosen.empty()) chosen.push_back(0);
  std::ranges::sort(chosen);
  page_draft card = draft_of(training, cuts, *options.page, chosen);
  std::vector<double> points(card.items.items());
  if (!learns) return page_of(std::move(card), points, training, cuts);
  points = fitted_points(ctx, queries, card.items, options, purpose);
  while (pool_bins(card, points) && card.items.feature_count() > 0)
    points = fitted_points(ctx, queries, card.items, options, purpose, std::move(points));
  if (card.items.feature_count() == 0)  // no feature has a direction left
    return fit_features(ctx, queries, training, cuts, options, {chosen.front()}, false, purpose);
  scaled_points const scaled(card, points, options.page->points);
  std::vector<double> gradient;  // zero at the minimum
  points =
      purpose == fit_for::judgment
          ? scaled.nearest()
          : scaled.whole(ctx, curvature_at(ctx, queries, card.items, points, options, gradient));
  double const unit = scaled.unit(), offset = scaled.offset();
  join_equal_bins(card, points);
  page_card page = page_of(std::move(card), points, training, cuts);
  page.unit = unit;
  page.offset = offset;
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

namespace {

/// Whether the card has exactly these features and given points.
bool gives_points(card_page const& page) {
  return page.only_these && std::ranges::any_of(page.features, [](card_feature const& one) {
           return std::ranges::any_of(one.points, [](auto const& points) { return !!points; });
         });
}

}  // namespace

std::vector<page_card> fit_pages(context const& ctx, std::span<datasets::query_group const> queries,
                                 datasets::binned_dataset const& training,
                                 datasets::discretizer const& cuts,
                                 scorecard_options const& options,
                                 std::span<std::size_t const> sizes, fit_for purpose) {
  check(options);
  expect_training(queries, training);
  forward_choice choice(ctx, queries, training, options);
  if (gives_points(*options.page))
    return {sizes.size(),
            fit_given(ctx, queries, training, cuts, options, choice.learns(), purpose)};
  std::vector<std::size_t> order;
  if (options.page->only_these) {
    order.resize(training.feature_count());
    std::iota(order.begin(), order.end(), std::size_t{0});
  } else if (choice.learns()) {
    order = choice.choose(sizes.back() + options.page->features.size());
  }
  std::vector<page_card> pages;
  for (std::size_t const size : sizes) {
    auto const first = [&] { return std::span(order).first(std::min(size, order.size())); };
    auto const fitted = [&] {
      return fit_features(ctx, queries, training, cuts, options, {first().begin(), first().end()},
                          choice.learns(), purpose);
    };
    page_card page = fitted();
    // A feature whose labels contradict its given direction is replaced by the next.
    auto const contradicts = [&](std::size_t f) {
      return !options.page->only_these &&
             std::ranges::count(options.page->features, training.features[f],
                                &card_feature::feature) > 0 &&
             std::ranges::count(page.card.features, training.features[f]) == 0;
    };
    for (auto it = std::ranges::find_if(first(), contradicts); it != first().end();
         it = std::ranges::find_if(first(), contradicts)) {
      order.erase(order.begin() + (it - first().begin()));
      page = fitted();
    }
    pages.push_back(std::move(page));
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
