#include "eval/prediction_powered.hpp"

#include "core/error.hpp"
#include "core/random.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

#include <gtest/gtest.h>

namespace rulerank::inline v0::eval::prediction_powered_test {
namespace {

/// By hand (docs/concepts/machine-labels.md): six of twelve queries; slope 1/2; the machine's mean
/// is .5 in the sample and .55 over all queries.
TEST(prediction_powered, worked_by_hand) {
  two_phase_values const values{{0.1, 0.3, 0.5, 0.5, 0.7, 0.9, 0.3, 0.5, 0.6, 0.7, 0.7, 0.8},
                                {0, 1, 2, 3, 4, 5},
                                {0.35, 0.3, 0.55, 0.55, 0.5, 0.75},
                                {}};
  auto const found = estimate_mean(values);
  EXPECT_NEAR(found.human.mean, 0.5, 1e-12);
  // Squares of h: .13, variance .13 / 5 / 6; t(5) = 2.571.
  EXPECT_NEAR(found.human.high - 0.5, 2.570582 * std::sqrt(0.13 / 30), 1e-6);
  // Products .2, squares of m .4.
  EXPECT_NEAR(found.correlation, 0.2 / std::sqrt(0.13 * 0.4), 1e-12);
  EXPECT_NEAR(found.powered.mean, 0.5 + 0.5 * 0.05, 1e-12);
  EXPECT_NEAR(found.lambda, 0.5 * 0.5, 1e-12);
  double const m[] = {-0.4, -0.2, 0, 0, 0.2, 0.4}, e[] = {0.05, -0.1, 0.05, 0.05, -0.1, 0.05};
  double sum = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    double const change = (1.0 / 6 + 0.05 * m[i] / 0.4) * e[i] / (1 - 1.0 / 6 - m[i] * m[i] / 0.4);
    sum += change * change;
  }
  double const variance = 0.5 * sum * 5 / 6 + 0.5 * 0.13 / 30;
  EXPECT_NEAR(found.powered.high - found.powered.mean, 2.776445 * std::sqrt(variance), 1e-6);
}

TEST(prediction_powered, is_the_human_interval_where_the_machine_says_nothing) {
  two_phase_values values{std::vector<double>(50, 0.5), {}, {}, {}};
  for (std::size_t q = 0; q < 20; ++q) {
    values.sampled.push_back(q * 2);
    values.human.push_back(static_cast<double>(q) / 20);
  }
  auto const constant = estimate_mean(values);
  EXPECT_EQ(constant.powered.low, constant.human.low);
  EXPECT_EQ(constant.lambda, 0);
}

TEST(prediction_powered, gets_the_mean_of_all_if_the_machine_is_right) {
  two_phase_values values;
  random_engine engine(1);
  for (std::size_t q = 0; q < 100; ++q) values.machine.push_back(uniform_unit(engine));
  for (std::size_t q = 0; q < 20; ++q) {
    values.sampled.push_back(q);
    values.human.push_back(values.machine[q]);
  }
  auto const found = estimate_mean(values);
  double const all = std::accumulate(values.machine.begin(), values.machine.end(), 0.0) / 100;
  EXPECT_NEAR(found.powered.mean, all, 1e-12);
  EXPECT_LT(found.powered.high - found.powered.low, 0.6 * (found.human.high - found.human.low));
}

TEST(prediction_powered, weighs_by_inclusion_probabilities) {
  two_phase_values const values{{0, 0, 1, 1}, {0, 1, 2}, {0, 1, 1}, {1, 0.5, 0.25}};
  EXPECT_NEAR(estimate_mean(values).human.mean, 6.0 / 7, 1e-12) << "weights 1, 2, 4";
}

TEST(prediction_powered, refuses_what_is_no_sample) {
  EXPECT_THROW(estimate_mean({{0, 1, 2}, {0, 1}, {0, 1}, {}}), usage_error);
  EXPECT_THROW(estimate_mean({{0, 1, 2}, {0, 1, 1}, {0, 1, 1}, {}}), usage_error);
  EXPECT_THROW(estimate_mean({{0, 1, 2}, {0, 1, 3}, {0, 1, 1}, {}}), usage_error);
  EXPECT_THROW(estimate_mean({{0, 1, 2}, {0, 1, 2}, {0, 1}, {}}), usage_error);
  EXPECT_THROW(estimate_mean({{0, 1, 2}, {0, 1, 2}, {0, 1, 1}, {1, 1, 0}}), usage_error);
}

/// Normal values by the method of Box and Muller.
double normal(random_engine& engine) {
  return std::sqrt(-2 * std::log(1 - uniform_unit(engine))) *
         std::cos(2 * std::numbers::pi * uniform_unit(engine));
}

struct simulated {
  double coverage = 0;
  double width = 0;    ///< mean, against human judgments alone
  double largest = 0;  ///< likewise
};

/// 2,000 samples of 30 of 300 queries with correlation `rho`; `by_size`: the inclusion probability
/// grows with the machine's value.
simulated simulate(double rho, bool by_size = false) {
  random_engine engine(17);
  constexpr std::size_t samples = 2000, queries = 300;
  simulated made;
  for (std::size_t s = 0; s < samples; ++s) {
    two_phase_values values;
    for (std::size_t q = 0; q < queries; ++q) {
      double const m = normal(engine);
      values.machine.push_back(m);
      double const p = by_size ? (m > 0 ? 0.15 : 0.05) : 0.1;
      if (uniform_unit(engine) >= p) continue;
      values.sampled.push_back(q);
      values.human.push_back(rho * m + std::sqrt(1 - rho * rho) * normal(engine));
      values.probabilities.push_back(p);
    }
    if (!by_size) values.probabilities.clear();
    auto const found = estimate_mean(values);
    double const width =
        (found.powered.high - found.powered.low) / (found.human.high - found.human.low);
    made.coverage += (found.powered.low <= 0 && 0 <= found.powered.high) / double{samples};
    made.width += width / double{samples};
    made.largest = std::max(made.largest, width);
  }
  return made;
}

/// The standard error of the coverage is .005.
TEST(prediction_powered, covers_as_often_as_stated_and_is_narrower) {
  for (double const rho : {0.0, 0.5, 0.65, 0.9}) {
    simulated const found = simulate(rho);
    EXPECT_NEAR(found.coverage, 0.95, 0.015) << rho;
    EXPECT_LE(found.largest, 1.03 + 1e-9) << rho;
    EXPECT_LT(found.width, std::sqrt(1 - 0.9 * rho * rho) + 0.03) << rho;
  }
  EXPECT_LT(simulate(0.65).width, 0.82);
  EXPECT_GT(simulate(0.65, true).coverage, 0.92);
}

}  // namespace
}  // namespace rulerank::eval::prediction_powered_test
