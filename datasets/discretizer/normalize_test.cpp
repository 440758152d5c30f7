#include "core/random.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::normalize_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

dataset make(std::vector<std::vector<feature_value>> const& rows,
             std::vector<std::size_t> const& sizes) {
  dataset data;
  for (auto const& row : rows) {
    data.labels.push_back(0);
    data.entries.insert(data.entries.end(), row.begin(), row.end());
    data.row.push_back(data.entries.size());
  }
  std::size_t begin = 0;
  for (std::size_t const size : sizes) {
    data.queries.push_back({std::to_string(begin), begin, begin + size});
    begin += size;
  }
  return data;
}

void expect_row(dataset const& data, std::size_t d, std::vector<feature_value> const& expected) {
  auto const row = data.document(d);
  ASSERT_EQ(row.size(), expected.size()) << "document " << d;
  for (std::size_t i = 0; i < row.size(); ++i) {
    EXPECT_EQ(row[i].feature, expected[i].feature) << "document " << d;
    if (std::isnan(expected[i].value))
      EXPECT_TRUE(std::isnan(row[i].value)) << "document " << d;
    else
      EXPECT_DOUBLE_EQ(row[i].value, expected[i].value) << "document " << d;
  }
}

TEST(normalize, minmax_by_hand) {
  dataset const data = make({{{1, 2}, {2, 5}, {3, nan}},
                             {{1, 4}, {2, 5}, {3, 1}},
                             {{1, 6}, {3, 3}},
                             {{1, 100}, {2, 1}, {4, nan}}},
                            {3, 1});
  dataset const zero =
      normalize({}, data, normalization::query_minmax, missing_values::item, unlisted_values::zero);
  expect_row(zero, 0, {{1, 0}, {2, 1}, {3, nan}});
  expect_row(zero, 1, {{1, .5}, {2, 1}, {3, 0}});
  expect_row(zero, 2, {{1, 1}, {3, 1}});            // feature 2: 0 of 0 .. 5
  expect_row(zero, 3, {{1, 0}, {2, 0}, {4, nan}});  // the only one in its query: constant
  dataset const missing = normalize({}, data, normalization::query_minmax, missing_values::item,
                                    unlisted_values::missing);
  expect_row(missing, 0, {{1, 0}, {2, 0}, {3, nan}});  // feature 2 is 5 wherever it has a value
  expect_row(missing, 2, {{1, 1}, {3, 1}});
  dataset const read_as_zero =
      normalize({}, data, normalization::query_minmax, missing_values::zero, unlisted_values::zero);
  expect_row(read_as_zero, 0, {{1, 0}, {2, 1}, {3, 0}});
  expect_row(read_as_zero, 1, {{1, .5}, {2, 1}, {3, 1.0 / 3}});
  // Unlisted is missing, and missing is 0: the same result.
  dataset const both_as_zero = normalize({}, data, normalization::query_minmax,
                                         missing_values::zero, unlisted_values::missing);
  for (std::size_t d = 0; d < data.size(); ++d) {
    auto const row = read_as_zero.document(d);
    expect_row(both_as_zero, d, {row.begin(), row.end()});
  }
}

TEST(normalize, zscore_by_hand) {
  dataset const data = make({{{1, 1}}, {{1, 3}, {2, 2}}, {{1, nan}}, {{1, 5}, {2, 2}}}, {4});
  dataset const found =
      normalize({}, data, normalization::query_zscore, missing_values::item, unlisted_values::zero);
  double const sd = std::sqrt(8.0 / 3);           // of 1 3 5
  expect_row(found, 0, {{1, -2 / sd}, {2, -1}});  // feature 2: 0 2 0 2
  expect_row(found, 1, {{1, 0}, {2, 1}});
  expect_row(found, 2, {{1, nan}, {2, -1}});
  expect_row(found, 3, {{1, 2 / sd}, {2, 1}});
  dataset const present = normalize({}, data, normalization::query_zscore, missing_values::item,
                                    unlisted_values::missing);
  expect_row(present, 0, {{1, -2 / sd}});
  expect_row(present, 1, {{1, 0}, {2, 0}});
}

TEST(normalize, ends_of_the_exponent) {
  constexpr double huge = std::numeric_limits<double>::max();
  for (auto const& [low, high] : std::map<double, double>{
           {-huge, huge}, {0, huge}, {0, 1e-300}, {0, 5e-324}, {-1e-310, 1e-310}}) {
    dataset const data = make({{{1, low}}, {{1, high}}}, {2});
    dataset const minmax = normalize({}, data, normalization::query_minmax, missing_values::item,
                                     unlisted_values::zero);
    expect_row(minmax, 0, {{1, 0}});
    expect_row(minmax, 1, {{1, 1}});
    dataset const zscore = normalize({}, data, normalization::query_zscore, missing_values::item,
                                     unlisted_values::zero);
    expect_row(zscore, 0, {{1, -1}});
    expect_row(zscore, 1, {{1, 1}});
  }
}

TEST(normalize, none_copies) {
  dataset const data = make({{{1, 2}, {7, nan}}, {}}, {2});
  dataset const copy =
      normalize({}, data, normalization::none, missing_values::zero, unlisted_values::zero);
  expect_row(copy, 0, {{1, 2}, {7, nan}});
  EXPECT_TRUE(copy.document(1).empty());
}

/// Compares every query with a table, one feature at a time. Long because the definition is written
/// out independently, next to its test data.
TEST(normalize, drawn_sets_against_a_table_and_any_number_of_threads) {
  random_engine engine(11);
  for (int round = 0; round < 24; ++round) {
    std::vector<std::vector<feature_value>> rows;
    std::vector<std::size_t> sizes;
    for (std::size_t q = 0; q < 7; ++q) {
      sizes.push_back(1 + uniform_below(engine, 9));
      for (std::size_t d = 0; d < sizes.back(); ++d) {
        rows.emplace_back();
        for (std::uint32_t f = 1; f <= 6; ++f) {
          auto const kind = uniform_below(engine, 10);
          if (kind < 2) continue;
          rows.back().push_back({f, kind == 2 ? nan : std::round(9 * uniform_unit(engine))});
        }
      }
    }
    dataset const data = make(rows, sizes);
    auto const how = round % 2 == 0 ? normalization::query_minmax : normalization::query_zscore;
    auto const missing = round % 4 < 2 ? missing_values::item : missing_values::zero;
    auto const unlisted = round % 8 < 4 ? unlisted_values::zero : unlisted_values::missing;
    context one;
    one.threads = 1;
    dataset const found = normalize(one, data, how, missing, unlisted);
    for (int const threads : {2, 5}) {
      context ctx;
      ctx.threads = threads;
      dataset const again = normalize(ctx, data, how, missing, unlisted);
      ASSERT_EQ(again.row, found.row);
      for (std::size_t i = 0; i < found.entries.size(); ++i) {
        ASSERT_EQ(again.entries[i].feature, found.entries[i].feature);
        ASSERT_TRUE(again.entries[i].value == found.entries[i].value ||
                    std::isnan(found.entries[i].value));
      }
    }
    auto const value = [&](dataset const& of, std::size_t d, std::uint32_t f) {
      for (feature_value const& entry : of.document(d))
        if (entry.feature == f)
          return std::isnan(entry.value) && missing == missing_values::zero ? 0 : entry.value;
      return unlisted == unlisted_values::zero || missing == missing_values::zero ? 0 : nan;
    };
    for (query_group const& query : data.queries)
      for (std::uint32_t f = 1; f <= 6; ++f) {
        std::vector<double> present;
        for (std::size_t d = query.begin; d < query.end; ++d)
          if (double const x = value(data, d, f); !std::isnan(x)) present.push_back(x);
        if (present.empty()) continue;
        auto const [lo, hi] = std::minmax_element(present.begin(), present.end());
        double mean = 0, variance = 0;
        for (double const x : present) mean += x / static_cast<double>(present.size());
        for (double const x : present)
          variance += (x - mean) * (x - mean) / static_cast<double>(present.size());
        for (std::size_t d = query.begin; d < query.end; ++d) {
          double const x = value(data, d, f);
          double const y = value(found, d, f);
          if (std::isnan(x))
            EXPECT_TRUE(std::isnan(y));
          else if (*lo == *hi)
            EXPECT_EQ(y, 0);
          else if (how == normalization::query_minmax)
            EXPECT_NEAR(y, (x - *lo) / (*hi - *lo), 1e-12);
          else
            EXPECT_NEAR(y, (x - mean) / std::sqrt(variance), 1e-12);
        }
      }
  }
}

TEST(normalized_within_queries, finds_features_that_normalize_made) {
  // 1: any value; 2: 0 or 1; 3: sometimes missing; 4: constant.
  std::string text;
  for (int d = 0; d < 160; ++d)
    text += fmt::format("0 qid:{} 1:{} 2:{} 3:{} 4:7\n", d / 8, d * 37 % 101, d * 5 % 8 / 4,
                        d % 6 == 0 ? "NULL" : fmt::format("{}", d * 53 % 89));
  context const ctx;
  auto const raw = parse_svmlight(ctx, text, "raw");
  EXPECT_TRUE(features_normalized_within_queries(raw).empty());
  using features = std::vector<std::uint32_t>;
  auto const made_by = [&](normalization how) {
    return features_normalized_within_queries(
        normalize(ctx, raw, how, missing_values::item, unlisted_values::zero));
  };
  // A feature with two values has the same form before and after.
  EXPECT_EQ(made_by(normalization::query_minmax), (features{1, 3}));
  EXPECT_EQ(made_by(normalization::query_zscore), (features{1, 2, 3}));
  // Nine queries are too few to decide.
  std::vector<std::size_t> few(72);
  std::iota(few.begin(), few.end(), std::size_t{0});
  EXPECT_TRUE(features_normalized_within_queries(
                  subset(normalize(ctx, raw, normalization::query_minmax, {}, {}), few))
                  .empty());
}

}  // namespace
}  // namespace rulerank::datasets::normalize_test
