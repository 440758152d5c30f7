#include "core/error.hpp"
#include "core/parallel.hpp"
#include "l2r/scorecard/points_objective.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

constexpr std::size_t most_steps = 200;
constexpr std::size_t most_halvings = 60;
/// Minimum number of bin codes per thread: a smaller step ends before another thread has started,
/// and thousands of steps would wait if other work occupies that thread's core.
constexpr std::size_t codes_a_thread = std::size_t{1} << 17;

double dot(std::vector<double> const& a, std::vector<double> const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double length(std::vector<double> const& a) {
  return std::sqrt(dot(a, a));
}

/// An approximate solution d of H d = -g with a residual of at most `rest`.
std::vector<double> newton_direction(context const& ctx, convex_function& of,
                                     std::vector<double> const& gradient, double rest) {
  std::size_t const n = gradient.size();
  std::vector<double> direction(n), residual(n), near(n), step(n), product(n);
  for (std::size_t i = 0; i < n; ++i) residual[i] = -gradient[i];
  of.prepare_preconditioner(ctx);
  of.precondition(residual, near);
  step = near;
  double scale = dot(residual, near);
  for (std::size_t round = 0; round < 4 * n + 100 && length(residual) > rest; ++round) {
    of.multiply(ctx, step, product);
    double const by = scale / dot(step, product);
    for (std::size_t i = 0; i < n; ++i) {
      direction[i] += by * step[i];
      residual[i] -= by * product[i];
    }
    of.precondition(residual, near);
    double const next = dot(residual, near);
    for (std::size_t i = 0; i < n; ++i) step[i] = near[i] + next / scale * step[i];
    scale = next;
  }
  return direction;
}

}  // namespace

std::vector<double> smallest_points(context const& all, convex_function& of, double to,
                                    std::vector<double> from) {
  context ctx = all;
  ctx.threads = static_cast<int>(std::clamp<std::size_t>(
      of.codes() / codes_a_thread, 1, static_cast<std::size_t>(all.thread_count())));
  std::size_t const n = of.unknowns();
  std::vector<double> points = std::move(from), gradient(n), tried(n);
  points.resize(n);
  if (!of.learns()) return points;
  double value = of.evaluate(ctx, points, gradient);
  for (std::size_t round = 0; round < most_steps; ++round) {
    double const slope = length(gradient);
    if (slope <= to) return points;
    ctx.report("steps of the fit", round, 0);
    double const rest = std::max(std::min(0.1, std::sqrt(slope)) * slope, 0.1 * to);
    std::vector<double> const direction = newton_direction(ctx, of, gradient, rest);
    double const descent = dot(gradient, direction);
    double share = 1, reached = 0;
    for (std::size_t halving = 0; halving < most_halvings; ++halving, share /= 2) {
      for (std::size_t i = 0; i < n; ++i) tried[i] = points[i] + share * direction[i];
      reached = of.evaluate(ctx, tried, gradient);
      if (reached <= value + 1e-4 * share * descent + 1e-14 * std::abs(value)) break;
      // Near the minimum the value changes by less than its rounding: then the gradient's length
      // decides.
      if (-descent < 1e-12 * std::abs(value) && length(gradient) < slope) break;
    }
    points.swap(tried);
    value = reached;
  }
  throw usage_error("the fit of the points did not converge; use a larger penalty");
}

std::size_t expect_least_squares(std::size_t items) {
  if (items > most_unknowns)
    throw usage_error(
        fmt::format("found {} items for the loss point, expected at most {}; use the loss pair or "
                    "list, which allow more",
                    items, most_unknowns));
  return items;
}

least_squares::least_squares(context const& ctx, datasets::binned_dataset const& training)
    : system_(expect_least_squares(training.items())),
      by_label_(training.items()),
      next_(neighbours_of(training)) {
  auto const documents = static_cast<double>(training.documents);
  double sum = 0, squares = 0;
  for (std::int32_t const y : training.labels) sum += y;
  double const mean = sum / documents;
  for (std::int32_t const y : training.labels) squares += (y - mean) * (y - mean);
  learns_ = squares != 0;
  if (!learns_) return;
  // Co-occurrence counts of items: integers, so the order does not matter.
  parallel_for(ctx, training.feature_count(), 1, [&](std::size_t begin, std::size_t end, int) {
    std::vector<std::uint32_t> counts;
    for (std::size_t f = begin; f < end; ++f) {
      std::uint8_t const* const codes = training.column(f);
      for (std::size_t d = 0; d < training.documents; ++d)
        if (codes[d] != datasets::no_item)
          by_label_[training.item_begin[f] + codes[d]] += (training.labels[d] - mean) / squares;
      for (std::size_t g = 0; g <= f; ++g) {
        std::uint8_t const* const others = training.column(g);
        counts.assign(256 * training.bins(f), 0);
        for (std::size_t d = 0; d < training.documents; ++d)
          if (codes[d] != datasets::no_item) ++counts[256 * codes[d] + others[d]];
        for (std::uint32_t b = 0; b < training.bins(f); ++b)
          for (std::uint32_t c = 0; c < training.bins(g); ++c)
            system_.row(training.item_begin[f] + b)[training.item_begin[g] + c] =
                counts[256 * b + c] / squares;
      }
    }
  });
}

std::vector<double> least_squares::points(context const& ctx, double points_penalty,
                                          double smoothness) const {
  if (!learns_) return std::vector<double>(next_.size());
  symmetric_matrix system = system_;
  for (std::size_t x = 0; x < next_.size(); ++x) {
    system.row(x)[x] += points_penalty;
    if (!next_[x]) continue;
    system.row(x)[x] += smoothness;
    system.row(x + 1)[x + 1] += smoothness;
    system.row(x + 1)[x] -= smoothness;
  }
  return solve_positive_definite(ctx, system, by_label_);
}

std::vector<double> least_squares_points(context const& ctx,
                                         datasets::binned_dataset const& training,
                                         scorecard_options const& options) {
  return least_squares(ctx, training).points(ctx, options.points_penalty, options.smoothness);
}

}  // namespace rulerank::l2r
