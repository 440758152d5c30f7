#include "core/parallel.hpp"
#include "l2r/model/query_folds.hpp"
#include "l2r/scorecard/points_objective.hpp"
#include "l2r/scorecard/query_parts.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

// Chooses the penalties of a card by cross-fitting.
namespace rulerank::inline v0::l2r {

namespace {

constexpr std::array<double, 4> penalties{1e-4, 1e-3, 1e-2, 1e-1};
constexpr std::array<double, 4> smoothnesses{0.01, 0.1, 1, 10};
constexpr double gradient_to_judge_by = 1e-6;  // the remaining error is far below the loss's noise
constexpr std::size_t documents_a_fold_piece = 4096;

/// The sum of (y - mean - s)^2, s the sum of the points of a document's items.
double squared_error(context const& ctx, datasets::binned_dataset const& of,
                     std::vector<double> const& points, double mean) {
  std::vector<double> away(of.documents);
  parallel_for(ctx, of.documents, documents_a_fold_piece,
               [&](std::size_t begin, std::size_t end, int) {
                 for (std::size_t d = begin; d < end; ++d) away[d] = of.labels[d] - mean;
                 for (std::size_t f = 0; f < of.feature_count(); ++f) {
                   std::uint8_t const* const codes = of.column(f);
                   double const* const of_feature = points.data() + of.item_begin[f];
                   for (std::size_t d = begin; d < end; ++d)
                     if (codes[d] != datasets::no_item) away[d] -= of_feature[codes[d]];
                 }
               });
  double sum = 0;
  for (double const one : away) sum += one * one;
  return sum;
}

/// Whether solving the linear system is faster than iterating, by estimated products.
bool system_is_less(datasets::binned_dataset const& of) {
  auto const items = static_cast<double>(of.items());
  return items * items < 12 * static_cast<double>(of.documents * of.feature_count());
}

using grid_values = std::array<std::array<double, smoothnesses.size()>, penalties.size()>;

/// Adds each pair of penalties' held-out loss. Larger penalties come first, and each fit starts
/// from the result of a larger one.
void judge_fold(context const& ctx, query_subset const& others, query_subset const& left_out,
                card_loss loss, grid_values& lost, std::function<void()> const& judged) {
  scorecard_options const options{loss, penalties.back(), smoothnesses.back()};
  points_objective to_fit(others.queries, others.items, options);
  points_objective to_judge(left_out.queries, left_out.items, options);
  std::optional<least_squares> system;
  if (loss == card_loss::point && system_is_less(others.items)) system.emplace(ctx, others.items);
  double const mean = mean_label(others.items);
  std::vector<double> of_penalty;  // result with the largest smoothness
  for (std::size_t i = penalties.size(); i-- > 0;) {
    std::vector<double> points = of_penalty;
    for (std::size_t j = smoothnesses.size(); j-- > 0;) {
      to_fit.penalize(penalties[i], smoothnesses[j]);
      points = system ? system->points(ctx, penalties[i], smoothnesses[j])
                      : smallest_points(ctx, to_fit, gradient_to_judge_by, std::move(points));
      if (j + 1 == smoothnesses.size()) of_penalty = points;
      lost[i][j] += loss == card_loss::point ? squared_error(ctx, left_out.items, points, mean)
                                             : to_judge.loss(ctx, points) *
                                                   static_cast<double>(to_judge.queries_counted());
      judged();
    }
  }
}

}  // namespace

scorecard_options choose_penalties(context const& ctx, scorecard_training const& training,
                                   scorecard_options const& asked) {
  check(asked);
  auto const& [queries, documents] = training;
  expect_training(queries, documents);
  scorecard_options options = asked;
  options.cross_fit = false;
  if (!asked.cross_fit) return options;
  if (options.loss == card_loss::point) expect_least_squares(documents.items());
  if (queries.size() < 2) {
    options.points_penalty = scorecard_options{}.points_penalty;
    options.smoothness = scorecard_options{}.smoothness;
    return options;
  }
  std::size_t const folds = std::min(options.folds, queries.size());
  std::vector<std::size_t> const dealt = deal_queries(ctx.seed, queries.size(), folds);
  std::uint64_t const all = folds * penalties.size() * smoothnesses.size();
  std::uint64_t done = 0;
  context one = ctx;
  one.progress = {};  // progress counts fits, not steps
  grid_values lost{};
  for (std::size_t k = 0; k < folds; ++k)
    judge_fold(one, subset_of_fold(queries, documents, dealt, k, false),
               subset_of_fold(queries, documents, dealt, k, true), options.loss, lost,
               [&] { ctx.report("penalties", ++done, all); });
  double least = lost[0][0];
  std::pair<std::size_t, std::size_t> best;
  for (std::size_t i = 0; i < penalties.size(); ++i)
    for (std::size_t j = 0; j < smoothnesses.size(); ++j)
      if (lost[i][j] < least) {
        least = lost[i][j];
        best = {i, j};
      }
  options.points_penalty = penalties[best.first];
  options.smoothness = smoothnesses[best.second];
  return options;
}

}  // namespace rulerank::l2r
