#include "datasets/discretizer/cut_points.hpp"

#include "core/error.hpp"
#include "core/random.hpp"
#include "datasets/discretizer/cut_points_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::cut_points_test {
namespace {

constexpr binning all_methods[] = {binning::tube, binning::width, binning::frequency,
                                   binning::capped};

/// Random features as in data sets: smooth, rounded, few values, mass on one value, powers.
std::vector<double> drawn_feature(random_engine& engine, std::size_t n) {
  std::vector<double> values(n);
  auto const kind = uniform_below(engine, 7);
  double const grid = std::pow(10.0, static_cast<double>(uniform_below(engine, 7)));
  double const scale = std::pow(10.0, static_cast<double>(uniform_below(engine, 25)) - 12);
  for (double& x : values) {
    double const u = uniform_unit(engine);
    switch (kind) {
      case 0:
        x = u;
        break;
      case 1:
        x = std::round(u * grid) / grid;
        break;
      case 2:
        x = static_cast<double>(uniform_below(engine, 4));
        break;
      case 3:
        x = u < 0.7 ? 0 : std::round(u * 1e6) / 1e6;
        break;
      case 4:
        x = -std::log(u + 1e-12);
        break;
      case 5:
        x = std::pow(u, 8) - 0.5;
        break;
      default:
        x = u < 0.5 ? u * 1e-9 : u;
        break;  // gaps below the smallest e
    }
    x *= scale;
  }
  return values;
}

TEST(cut_points, check_vector) {
  std::vector<double> const data{0, 0, 0, 0, .1, .2, .2, .3, .5, 1};
  auto const near = [](std::vector<double> const& found, std::vector<double> const& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12);
  };
  near(cut_points(binning::tube, 4, data), {.0001, .5001, .9999});
  EXPECT_EQ(cut_points(binning::width, 4, data), (std::vector<double>{.25, .5, .75}));
  EXPECT_EQ(cut_points(binning::frequency, 4, data), (std::vector<double>{.2, .3}));
  EXPECT_EQ(cut_points(binning::capped, 4, data), (std::vector<double>{.2, .3}));
  EXPECT_EQ(cut_points(binning::capped, 6, data), (std::vector<double>{.1, .2, .3, .5, 1}));
}

TEST(cut_points, are_round_numbers) {
  EXPECT_EQ(roundest_between(.2914, .3177), .3);
  EXPECT_EQ(roundest_between(.3, .3177), .31);
  EXPECT_EQ(roundest_between(.2914, .3), .3);
  EXPECT_EQ(roundest_between(1234, 5678), 5000);
  EXPECT_EQ(roundest_between(1234, 1240), 1240);
  EXPECT_EQ(roundest_between(999, 1000), 1000);
  EXPECT_EQ(roundest_between(-.5, .5), 0);
  EXPECT_EQ(roundest_between(-3, 0), 0);
  EXPECT_EQ(roundest_between(-.3177, -.2914), -.3);
  EXPECT_EQ(roundest_between(0, 3e-30), 3e-30);
  EXPECT_EQ(roundest_between(1e300, 2e300), 2e300);
  random_engine engine(9);
  for (int round = 0; round < 2000; ++round) {
    double const scale = std::pow(10.0, static_cast<double>(uniform_below(engine, 40)) - 20);
    double low = (uniform_unit(engine) - .5) * scale, high = (uniform_unit(engine) - .5) * scale;
    if (round % 4 == 0) high = std::nextafter(low, 1e30);
    if (low > high) std::swap(low, high);
    double const found = roundest_between(low, high);
    ASSERT_GT(found, low);
    ASSERT_LE(found, high);
  }
}

TEST(cut_points, capped_ones_divide_where_no_value_weighs_more_than_a_bin) {
  random_engine engine(10);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> values = drawn_feature(engine, 1 + uniform_below(engine, 60));
    std::size_t const bins = 2 + uniform_below(engine, 14);
    std::ranges::sort(values);
    std::vector<double> distinct, weights;
    for (double const x : values) {
      if (distinct.empty() ||
          fmt::format("{:.11e}", x) != fmt::format("{:.11e}", distinct.back())) {
        distinct.push_back(x);
        weights.push_back(0);
      }
      weights.back() += static_cast<double>(bins);
    }
    std::vector<double> expected;  // the smallest value of each bin except the first
    if (distinct.size() <= bins) {
      expected.assign(distinct.begin() + 1, distinct.end());
    } else {
      double all = 0, sum = 0;
      for (double& w : weights) all += w = std::min(w, static_cast<double>(values.size()));
      std::size_t i = 1;
      for (std::size_t v = 0; v < distinct.size(); ++v) {
        sum += weights[v];
        bool begins = false;
        for (; i < bins && static_cast<double>(bins) * sum >= static_cast<double>(i) * all; ++i)
          begins = v > 0;
        if (begins) expected.push_back(distinct[v]);
      }
    }
    auto const found = cut_points(binning::capped, static_cast<int>(bins), values);
    std::vector<double> smallest;
    for (double const cut : found) smallest.push_back(*std::ranges::lower_bound(distinct, cut));
    ASSERT_EQ(smallest, expected) << "round " << round;
  }
}

TEST(cut_points, capped_ones_do_not_divide_values_that_read_alike) {
  double const log_12 = std::log(12.0), above = std::nextafter(log_12, 3.0);
  std::vector<double> const values{1, log_12, above, std::nextafter(above, 3.0), 2.6, 4};
  EXPECT_EQ(cut_points(binning::capped, 12, values), (std::vector<double>{2, 2.6, 4}));
  EXPECT_EQ(cut_points(binning::capped, 3, values), (std::vector<double>{2, 2.6}));
  EXPECT_EQ(cut_points(binning::capped, 12, {log_12, above}), std::vector<double>{});
  std::vector<double> const apart{1, 1 + 1e-11};
  EXPECT_EQ(cut_points(binning::capped, 12, apart), std::vector<double>{1 + 1e-11});
}

TEST(cut_points, drawn_features_against_the_definition) {
  random_engine engine(20250101);
  for (int round = 0; round < 300; ++round) {
    std::size_t const n = 1 + uniform_below(engine, round % 10 == 0 ? 300 : 40);
    std::vector<double> const values = drawn_feature(engine, n);
    int const bins = round % 3 == 0 ? 2 : 2 + static_cast<int>(uniform_below(engine, 14));
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_EQ(cut_points(binning::tube, bins, values),
              reference::tube_cuts(static_cast<std::size_t>(bins), values));
    ASSERT_EQ(cut_points(binning::width, bins, values), reference::width_cuts(bins, values));
    ASSERT_EQ(cut_points(binning::frequency, bins, values),
              reference::frequency_cuts(static_cast<std::size_t>(bins), values));
  }
}

TEST(cut_points, values_that_are_neighbours_are_all_counted) {
  // Highway 1.0.3 sorts these as doubles wrongly in a third of all orders: it loses 0.5 - 2^-54.
  double const half = 0.5, third = 1.0 / 3, two_thirds = 2.0 / 3;
  std::map<double, std::uint64_t> const expected{{0, 407},
                                                 {0.25, 35},
                                                 {std::nextafter(third, 1), 9},
                                                 {third, 113},
                                                 {half, 754},
                                                 {std::nextafter(half, 0), 33},
                                                 {0.75, 15},
                                                 {1, 468},
                                                 {two_thirds, 141},
                                                 {std::nextafter(two_thirds, 1), 25}};
  std::vector<double> values, distinct;
  std::vector<std::uint64_t> before{0};
  for (auto const& [value, times] : expected) {
    values.insert(values.end(), times, value);
    distinct.push_back(value);
    before.push_back(before.back() + times);
  }
  random_engine engine(20251201);
  for (int round = 0; round < 300; ++round) {
    for (std::size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[uniform_below(engine, i)]);
    value_counts const found = count_values(values);
    ASSERT_EQ(found.values, distinct) << "round " << round;
    ASSERT_EQ(found.before, before) << "round " << round;
  }
}

TEST(cut_points, tubes_of_many_values_against_the_definition) {
  random_engine engine(20251130);
  for (std::size_t const n : {1023, 1024, 1025, 1500})
    for (int round = 0; round < 14; ++round) {
      std::vector<double> values = drawn_feature(engine, n);
      if (round % 7 == 1)  // whole numbers: all gaps are equal, and gains rise in steps
        for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i);
      SCOPED_TRACE(fmt::format("{} values, round {}", n, round));
      ASSERT_EQ(cut_points(binning::tube, 4, values), reference::tube_cuts(4, values));
    }
}

TEST(cut_points, the_order_of_the_values_does_not_matter) {
  random_engine engine(5);
  std::vector<double> values = drawn_feature(engine, 200);
  for (binning const method : all_methods) {
    auto const expected = cut_points(method, 10, values);
    std::vector<double> other = values;
    shuffle(std::span(other), engine);
    EXPECT_EQ(cut_points(method, 10, other), expected);
  }
}

TEST(cut_points, constant_features_have_none) {
  for (binning const method : all_methods) {
    EXPECT_TRUE(cut_points(method, 10, std::vector<double>{}).empty());
    EXPECT_TRUE(cut_points(method, 10, std::vector<double>{3.5}).empty());
    EXPECT_TRUE(cut_points(method, 10, std::vector<double>(20, -7)).empty());
    EXPECT_TRUE(cut_points(method, 10, std::vector<double>{0.0, -0.0, 0.0}).empty());
  }
}

TEST(cut_points, two_values_are_told_apart) {
  for (binning const method : all_methods)
    for (int const bins : {2, 3, 10, 250}) {
      std::vector<double> const cuts = cut_points(method, bins, {2, 2, 5, 5});
      ASSERT_FALSE(cuts.empty());
      EXPECT_LT(cuts.size(), static_cast<std::size_t>(bins));
      EXPECT_TRUE(std::any_of(cuts.begin(), cuts.end(), [](double c) { return 2 < c && c <= 5; }));
    }
}

TEST(cut_points, fewer_than_two_bins_are_refused) {
  EXPECT_THROW(cut_points(binning::tube, 1, std::vector<double>{1, 2}), usage_error);
}

TEST(cut_points, ends_of_the_exponent) {
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  std::vector<std::vector<double>> const features{{-huge, -1, 0, 1, huge},
                                                  {-huge, huge},
                                                  {0, 1e300, 1e-300, 1e300, 3e299},
                                                  {1e-300, 2e-300, 3e-300, 3e-300, 9e-300},
                                                  {-1e-300, 0, 1e-300},
                                                  {0, 1e-308, 3e-308, 1e-307},
                                                  {0, tiny},
                                                  {0, 0, tiny, 9 * tiny, 9 * tiny}};
  for (binning const method : all_methods)
    for (int const bins : {2, 10, 250})
      for (auto const& values : features) {
        std::vector<double> const cuts = cut_points(method, bins, values);
        EXPECT_LT(cuts.size(), static_cast<std::size_t>(bins));
        for (std::size_t i = 0; i < cuts.size(); ++i) {
          EXPECT_TRUE(std::isfinite(cuts[i]));
          EXPECT_TRUE(i == 0 || cuts[i] > cuts[i - 1]);
        }
        double const lo = *std::min_element(values.begin(), values.end());
        double const hi = *std::max_element(values.begin(), values.end());
        // A cut must be above the smallest value and at most the largest, to separate them.
        EXPECT_TRUE(
            std::any_of(cuts.begin(), cuts.end(), [&](double c) { return lo < c && c <= hi; }))
            << name_of(method) << " " << bins << " bins of " << lo << " .. " << hi;
      }
}

TEST(cut_points, values_next_to_each_other) {
  // No number between them can be a cut; the cuts stay finite and ascending.
  constexpr double huge = std::numeric_limits<double>::max();
  for (binning const method : all_methods)
    for (auto const& values : std::vector<std::vector<double>>{
             {1, std::nextafter(1.0, 2.0)},
             {1, std::nextafter(1.0, 2.0), 1 + 3e-16, 1 + 3e-16, 1 + 1e-15},
             {huge, std::nextafter(huge, 0.0)}}) {
      std::vector<double> const cuts = cut_points(method, 10, values);
      EXPECT_TRUE(std::is_sorted(cuts.begin(), cuts.end()));
      EXPECT_EQ(std::adjacent_find(cuts.begin(), cuts.end()), cuts.end());
      for (double const cut : cuts) EXPECT_TRUE(std::isfinite(cut));
    }
}

TEST(cut_points, tube_does_not_care_about_the_unit) {
  random_engine engine(77);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> const values = drawn_feature(engine, 60);
    std::vector<double> const cuts = cut_points(binning::tube, 8, values);
    for (int const exponent : {-900, -40, 3, 900, 960}) {
      std::vector<double> scaled = values;
      for (double& x : scaled) x = std::ldexp(x, exponent);
      std::vector<double> expected = cuts;
      for (double& x : expected) x = std::ldexp(x, exponent);
      std::vector<double> const found = cut_points(binning::tube, 8, scaled);
      ASSERT_EQ(found.size(), expected.size()) << exponent;
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i] / expected[i], 1, 1e-9) << exponent;
    }
  }
}

TEST(count_values, zeros_are_put_in_their_place) {
  value_counts const counts = count_values({-1, 2, -0.0, 2, -3}, 3);
  EXPECT_EQ(counts.values, (std::vector<double>{-3, -1, 0, 2}));
  EXPECT_EQ(counts.before, (std::vector<std::uint64_t>{0, 1, 2, 6, 8}));
  EXPECT_FALSE(std::signbit(counts.values[2]));
  EXPECT_EQ(count_values({}, 0).distinct(), 0U);
  EXPECT_EQ(count_values({}, 4).total(), 4U);
}

/// `n` documents, a share of them in [0, 0.25), the rest in [0.25, 1).
value_counts step(std::size_t n, double share) {
  random_engine engine(1);
  std::vector<double> values(n);
  for (double& x : values) {
    double const u = uniform_unit(engine);
    x = uniform_unit(engine) < share ? u / 4 : 0.25 + 0.75 * u;
  }
  return count_values(std::move(values));
}

TEST(count_values, merged_counts_are_those_of_all_values) {
  random_engine engine(17);
  for (std::size_t const n : {0, 1, 2, 50, 400}) {
    std::vector<double> all = drawn_feature(engine, n);
    std::size_t const cut = uniform_below(engine, n + 1);
    auto const middle = all.begin() + static_cast<std::ptrdiff_t>(cut);
    value_counts const merged =
        merge(count_values({all.begin(), middle}, 3), count_values({middle, all.end()}, n % 2));
    value_counts const expected = count_values(std::move(all), 3 + n % 2);
    EXPECT_EQ(merged.values, expected.values);
    EXPECT_EQ(merged.before, expected.before);
  }
}

TEST(cross_validated_bins, finds_the_steps_of_a_density) {
  // Equal widths match the step at 0.25 with 4 bins (or a multiple), and not with 2 or 3.
  int const width = cross_validated_bins(binning::width, step(4000, 0.8), 1);
  EXPECT_GE(width, 4);
  EXPECT_LE(width, 24);
  // A uniform density needs no cuts; a tree finds the single step directly.
  EXPECT_LE(cross_validated_bins(binning::width, step(4000, 0.25), 1), 10);
  EXPECT_LE(cross_validated_bins(binning::tube, step(4000, 0.8), 1), 6);
}

TEST(cross_validated_bins, is_repeatable_and_in_range) {
  random_engine engine(3);
  for (int round = 0; round < 12; ++round) {
    value_counts const counts = count_values(drawn_feature(engine, 1 + uniform_below(engine, 120)));
    for (binning const method : all_methods) {
      int const bins = cross_validated_bins(method, counts, 9);
      EXPECT_GE(bins, 2);
      EXPECT_LE(bins, most_cross_validated_bins);
      EXPECT_EQ(cross_validated_bins(method, counts, 9), bins);
    }
  }
  for (binning const method : all_methods) {
    EXPECT_EQ(cross_validated_bins(method, count_values({1}), 1), 2);
    EXPECT_GE(cross_validated_bins(method, count_values({1, 2}), 1), 2);
    EXPECT_GE(cross_validated_bins(method, count_values({-1e308, 0, 1, 1e308}), 1), 2);
    EXPECT_GE(cross_validated_bins(method, count_values({0, 5e-324}), 1), 2);
  }
}

/// The log-likelihood of leaving one document out, computed by hand: with n <= 10 documents, each
/// fold is a single document for any seed.
TEST(cross_validated_bins, leave_one_out_by_hand) {
  std::vector<double> const values{0, 0.125, 0.25, 0.25, 0.5, 0.75, 0.875, 1};
  double const margin = 1e-4, from = -margin, to = 1 + margin;
  int best = 0;
  double best_score = -std::numeric_limits<double>::infinity();
  for (int bins = 2; bins <= most_cross_validated_bins; ++bins) {
    double score = 0;
    for (std::size_t out = 0; out < values.size(); ++out) {
      std::vector<double> train = values;
      train.erase(train.begin() + static_cast<std::ptrdiff_t>(out));
      std::vector<double> edges = reference::frequency_cuts(static_cast<std::size_t>(bins), train);
      edges.insert(edges.begin(), from);
      edges.push_back(to);
      for (std::size_t b = 0; b + 1 < edges.size(); ++b) {
        auto const inside = [&](double x) { return edges[b] <= x && x < edges[b + 1]; };
        if (!inside(values[out])) continue;
        double const width = edges[b + 1] - edges[b];
        double const n = static_cast<double>(std::count_if(train.begin(), train.end(), inside));
        score +=
            std::log((n + width / (to - from)) / ((static_cast<double>(train.size()) + 1) * width));
      }
    }
    if (score > best_score + 1e-9) {
      best_score = score;
      best = bins;
    }
  }
  for (std::uint64_t const seed : {1U, 2U, 3U})
    EXPECT_EQ(cross_validated_bins(binning::frequency, count_values(values), seed), best);
}

}  // namespace
}  // namespace rulerank::datasets::cut_points_test
