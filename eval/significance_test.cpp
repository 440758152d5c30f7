#include "eval/significance.hpp"

#include "core/error.hpp"
#include "core/random.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace rulerank::inline v0::eval::significance_test {
namespace {

TEST(paired_t_test, of_a_worked_example) {
  // Student's sleep data (Biometrika 6, 1908): t = 4.0621, 9 degrees of freedom, p = .002833.
  std::vector<double> const sleep{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  test_result const result = paired_t_test(sleep);
  EXPECT_NEAR(result.statistic, 4.0621, 5e-5);
  EXPECT_NEAR(result.p, 0.002833, 5e-7);
  std::vector<double> turned = sleep;
  for (double& d : turned) d = -d;
  EXPECT_DOUBLE_EQ(paired_t_test(turned).statistic, -result.statistic);
  EXPECT_DOUBLE_EQ(paired_t_test(turned).p, result.p);
}

TEST(standard_error, of_worked_examples) {
  EXPECT_DOUBLE_EQ(standard_error(std::vector{1.0, 2.0, 3.0, 4.0}), std::sqrt(5.0 / 12));
  EXPECT_EQ(standard_error(std::vector{0.5, 0.5}), 0);
  EXPECT_EQ(standard_error(std::vector{0.3}), 0);
  EXPECT_EQ(standard_error({}), 0);
}

TEST(paired_t_test, at_its_limits) {
  EXPECT_EQ(paired_t_test({}).p, 1);
  EXPECT_EQ(paired_t_test(std::vector{0.3}).p, 1);
  EXPECT_EQ(paired_t_test(std::vector{0.0, 0.0, 0.0}).p, 1);
  EXPECT_EQ(paired_t_test(std::vector{0.1, 0.1, 0.1}).p, 0);
  EXPECT_EQ(paired_t_test(std::vector{-0.1, -0.1}).statistic,
            -std::numeric_limits<double>::infinity());
  EXPECT_NEAR(paired_t_test(std::vector{-1.0, 1.0}).p, 1, 1e-15);
}

TEST(confidence_interval, of_a_worked_example) {
  // Student's sleep data again: R's t.test gives 0.7001142 to 2.4598858.
  std::vector<double> const sleep{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  mean_interval const found = confidence_interval(sleep);
  EXPECT_NEAR(found.mean, 1.58, 1e-12);
  EXPECT_NEAR(found.low, 0.7001142, 5e-8);
  EXPECT_NEAR(found.high, 2.4598858, 5e-8);
  EXPECT_GT(confidence_interval(sleep, 0.99).high, found.high);
  // Its p-value is .002833: an interval of exactly that confidence ends at 0.
  EXPECT_NEAR(confidence_interval(sleep, 1 - paired_t_test(sleep).p).low, 0, 1e-9);
}

TEST(confidence_interval, at_its_limits) {
  EXPECT_EQ(confidence_interval({}).high, 0);
  EXPECT_EQ(confidence_interval(std::vector{0.3}).low, 0.3);
  EXPECT_EQ(confidence_interval(std::vector{0.25, 0.25}).high, 0.25);
  EXPECT_THROW(confidence_interval(std::vector{0.3}, 0), usage_error);
  EXPECT_THROW(confidence_interval(std::vector{0.3}, 1), usage_error);
}

TEST(within_query_intervals, of_two_conditions_by_their_differences) {
  // With two conditions, each half width is the mean difference's, divided by sqrt(2).
  std::vector<double> const sleep{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  std::vector<std::vector<double>> values(2);
  for (std::size_t q = 0; q < sleep.size(); ++q) {
    values[0].push_back(100.0 * static_cast<double>(q));  // queries differ
    values[1].push_back(values[0].back() + sleep[q]);
  }
  for (double const half : within_query_intervals(values))
    EXPECT_NEAR(half, (2.4598858 - 0.7001142) / 2 / std::sqrt(2), 5e-8);
  std::vector<std::vector<double>> const alone{sleep};
  EXPECT_NEAR(within_query_intervals(alone).front(), (2.4598858 - 0.7001142) / 2, 5e-8);
  EXPECT_TRUE(within_query_intervals({}).empty());
  values[1].pop_back();
  EXPECT_THROW(within_query_intervals(values), usage_error);
}

/// Enumerates all signs of few differences.
double exact_randomisation(std::vector<double> const& d) {
  double const found = std::abs(std::accumulate(d.begin(), d.end(), 0.0));
  std::size_t extreme = 0;
  std::size_t const all = std::size_t{1} << d.size();
  for (std::size_t signs = 0; signs < all; ++signs) {
    double sum = 0;
    for (std::size_t i = 0; i < d.size(); ++i) sum += (signs >> i & 1) != 0 ? -d[i] : d[i];
    extreme += std::abs(sum) >= found - 1e-9 ? 1 : 0;
  }
  return static_cast<double>(extreme) / static_cast<double>(all);
}

TEST(fisher_randomisation, comes_near_the_exact_test) {
  random_engine engine(5);
  for (int round = 0; round < 10; ++round) {
    std::vector<double> d(2 + uniform_below(engine, 11));
    for (double& x : d) x = uniform_unit(engine) - 0.3;
    context ctx;
    ctx.seed = static_cast<std::uint64_t>(round);
    // five standard errors of 100,000 draws are at most .008
    EXPECT_NEAR(fisher_randomisation(ctx, d).p, exact_randomisation(d), 0.008);
  }
}

TEST(fisher_randomisation, counts_what_is_equal_up_to_rounding) {
  // sums of .1 and .3 in other orders differ in the last bit; all permutations are extreme except
  // those that cancel: the signs agree in 1 of 2 permutations of two values, and so on
  std::vector<double> const d{0.1, 0.3};
  EXPECT_NEAR(fisher_randomisation(context{}, d).p, 0.5, 0.008);
  std::vector<double> const ties{0.1, 0.2, 0.3, -0.6};  // d = 0: everything is as extreme
  EXPECT_EQ(fisher_randomisation(context{}, ties).p, 1);
}

TEST(fisher_randomisation, is_the_same_for_any_number_of_threads) {
  random_engine engine(6);
  std::vector<double> d(300);
  for (double& x : d) x = uniform_unit(engine) - 0.45;
  std::vector<double> found;
  for (int threads : {1, 2, 7}) {
    context ctx;
    ctx.threads = threads;
    ctx.seed = 17;
    found.push_back(fisher_randomisation(ctx, d, 100'001).p);
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
  context other;
  other.seed = 18;
  EXPECT_NE(fisher_randomisation(other, d, 100'001).p, found[0]);
}

TEST(fisher_randomisation, at_its_limits) {
  EXPECT_EQ(fisher_randomisation(context{}, {}).p, 1);
  EXPECT_EQ(fisher_randomisation(context{}, std::vector{0.0, 0.0}).p, 1);
  std::vector<double> const certain(60, 0.5);  // 2 of 2^60 signs
  EXPECT_EQ(fisher_randomisation(context{}, certain, 999).p, 1.0 / 1000);
  EXPECT_EQ(fisher_randomisation(context{}, certain).statistic, 0.5);
  EXPECT_THROW(fisher_randomisation(context{}, certain, 0), usage_error);
}

TEST(holm, of_a_worked_example) {
  EXPECT_EQ(holm(std::vector{0.01, 0.04, 0.03, 0.005}), (std::vector{0.03, 0.06, 0.06, 0.02}));
  EXPECT_EQ(holm(std::vector{0.9, 0.8}), (std::vector{1.0, 1.0}));
  EXPECT_TRUE(holm({}).empty());
}

query_values column_of(std::vector<double> values) {
  query_values v;
  v.measures = parse_measures("MAP");
  for (std::size_t q = 0; q < values.size(); ++q) v.qids.push_back(std::to_string(q));
  v.values = std::move(values);
  return v;
}

TEST(compare, pairs_all_queries_of_all_folds) {
  std::vector<system_values> const systems{
      {"base", {column_of({0.1, 0.2}), column_of({0.3})}},
      {"better", {column_of({0.2, 0.2}), column_of({0.6})}},
      {"same", {column_of({0.1, 0.2 + 1e-15}), column_of({0.3})}}};
  std::vector<comparison> const found = compare(context{}, systems, 0);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].system, "better");
  EXPECT_EQ(found[0].reference, "base");
  EXPECT_EQ(found[0].queries, 3U);
  EXPECT_DOUBLE_EQ(found[0].difference, 0.4 / 3);
  EXPECT_EQ(found[0].wins, 2U);
  EXPECT_EQ(found[0].ties, 1U);
  EXPECT_EQ(found[0].losses, 0U);
  EXPECT_EQ(found[1].ties, 3U);
  EXPECT_EQ(found[1].difference, 0);
  EXPECT_EQ(found[1].fisher->p, 1);
  EXPECT_DOUBLE_EQ(found[0].fisher->p_holm, std::min(1.0, 2 * found[0].fisher->p));
  std::vector<comparison> const turned = compare(context{}, systems, 1);
  EXPECT_EQ(turned[0].system, "base");
  EXPECT_EQ(turned[0].losses, 2U);
}

TEST(compare, corrects_within_a_measure_or_the_report) {
  auto const values = [](double shift) {
    query_values v;
    v.measures = parse_measures("MAP,P@1");
    random_engine engine(2);
    for (int q = 0; q < 30; ++q) {
      v.qids.push_back(std::to_string(q));
      v.values.push_back(uniform_unit(engine) + shift * uniform_unit(engine));
      v.values.push_back(uniform_unit(engine) + shift / 2 * uniform_unit(engine));
    }
    return v;
  };
  std::vector<system_values> const systems{
      {"a", {values(0)}}, {"b", {values(.1)}}, {"c", {values(.2)}}};
  comparison_options options;
  options.fisher = false;
  for (comparison const& c : compare(context{}, systems, 0, options)) {
    EXPECT_FALSE(c.fisher);
    EXPECT_LE(c.paired_t->p_holm, 2 * c.paired_t->p);
  }
  options.family = holm_family::report;
  double largest = 0;
  for (comparison const& c : compare(context{}, systems, 0, options))
    largest = std::max(largest, c.paired_t->p_holm / c.paired_t->p);
  EXPECT_DOUBLE_EQ(largest, 4);
}

TEST(compare, refuses_what_cannot_be_paired) {
  system_values const one{"one", {column_of({0.1, 0.2})}};
  system_values other{"other", {column_of({0.1})}};
  EXPECT_THROW(compare(context{}, std::vector{one}, 0), usage_error);
  EXPECT_THROW(compare(context{}, std::vector{one, one}, 2), usage_error);
  EXPECT_THROW(compare(context{}, std::vector{one, other}, 0), usage_error);
  other.folds.push_back(column_of({0.2}));
  EXPECT_THROW(compare(context{}, std::vector{one, other}, 0), usage_error);
  other = one;
  other.folds[0].measures = parse_measures("P@1");
  EXPECT_THROW(compare(context{}, std::vector{one, other}, 0), usage_error);
}

}  // namespace
}  // namespace rulerank::eval::significance_test
