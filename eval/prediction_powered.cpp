#include "eval/prediction_powered.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

namespace rulerank::inline v0::eval {

namespace {

constexpr std::size_t fewest_sampled = 3;
/// The interval may be wider than the one from human judgments alone by this factor at most.
constexpr double most_widening = 1.03;
/// Weighted mean squares of values that are equal up to rounding.
constexpr double no_variance = 1e-20;
/// 1 - leverage of a query that alone determines the slope, up to rounding.
constexpr double least_rest = 1e-9;

void expect_two_phases(two_phase_values const& values) {
  if (values.sampled.size() < fewest_sampled)
    throw usage_error(fmt::format("found {} with human judgments, expected {} or more",
                                  counted(values.sampled.size(), "query", "queries"),
                                  fewest_sampled));
  if (values.human.size() != values.sampled.size() ||
      (!values.probabilities.empty() && values.probabilities.size() != values.sampled.size()))
    throw usage_error("found different numbers of queries, values and inclusion probabilities");
  std::vector<bool> seen(values.machine.size());
  for (std::size_t const q : values.sampled) {
    if (q >= seen.size() || seen[q])
      throw usage_error(fmt::format(
          "found query {} of {} in the sample, expected each query at most once", q, seen.size()));
    seen[q] = true;
  }
  for (double const p : values.probabilities)
    if (!(p > 0 && p <= 1))
      throw usage_error(
          fmt::format("found the inclusion probability {}, expected more than 0 and at most 1", p));
}

/// Normalized weights of the sampled queries.
std::vector<double> sampling_weights(two_phase_values const& values) {
  std::vector<double> weights(values.sampled.size(), 1);
  for (std::size_t i = 0; i < values.probabilities.size(); ++i)
    weights[i] = 1 / values.probabilities[i];
  double sum = 0;
  for (double const w : weights) sum += w;
  for (double& w : weights) w /= sum;
  return weights;
}

double weighted_mean(std::span<double const> values, std::span<double const> weights) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += weights[i] * values[i];
  return sum;
}

mean_estimate estimate_of(double mean, double variance, double degrees, double confidence) {
  boost::math::students_t const t(degrees);
  double const half = boost::math::quantile(t, (1 + confidence) / 2) * std::sqrt(variance);
  return {mean, mean - half, mean + half};
}

}  // namespace

prediction_powered_estimate estimate_mean(two_phase_values const& values, double confidence) {
  expect_two_phases(values);
  std::size_t const n = values.sampled.size();
  auto const sample = static_cast<double>(n), all = static_cast<double>(values.machine.size());
  std::vector<double> const weights = sampling_weights(values);
  std::vector<double> machine;
  for (std::size_t const q : values.sampled) machine.push_back(values.machine[q]);

  double const human_mean = weighted_mean(values.human, weights);
  double const machine_mean = weighted_mean(machine, weights);
  double human_square = 0, machine_square = 0, product = 0, human_variance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double const h = values.human[i] - human_mean, m = machine[i] - machine_mean;
    human_square += weights[i] * h * h;
    machine_square += weights[i] * m * m;
    product += weights[i] * h * m;
    human_variance += weights[i] * weights[i] * h * h;
  }
  human_variance *= sample / (sample - 1);

  prediction_powered_estimate made;
  made.human = estimate_of(human_mean, human_variance, sample - 1, confidence);
  made.powered = made.human;
  if (!(machine_square > no_variance) || !(human_square > no_variance)) return made;
  made.correlation = product / std::sqrt(human_square * machine_square);
  double const slope = product / machine_square;
  double all_machine = 0;
  for (double const m : values.machine) all_machine += m / all;
  // The jackknife: the change of the estimate without query i, whose residual has a leverage.
  double residual_variance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double const m = machine[i] - machine_mean;
    double const e = values.human[i] - human_mean - slope * m;
    double const leverage = weights[i] * (1 + m * m / machine_square);
    double const weight = weights[i] * (1 + (all_machine - machine_mean) * m / machine_square);
    // Without such a query the machine's values are equal, and there is no slope to compare with.
    if (!(1 - leverage > least_rest)) return made;
    double const change = weight * e / (1 - leverage);
    residual_variance += change * change;
  }
  residual_variance *= (sample - 1) / sample;
  double const rest = 1 - sample / all;  // share of the queries without human judgments
  mean_estimate const both =
      estimate_of(human_mean + slope * (all_machine - machine_mean),
                  residual_variance * rest + human_variance * (1 - rest), sample - 2, confidence);
  if (both.high - both.low > most_widening * (made.human.high - made.human.low)) return made;
  made.powered = both;
  made.lambda = slope * rest;
  return made;
}

}  // namespace rulerank::eval
