#include "core/random.hpp"
#include "core/testing.hpp"
#include "rules/mining/miner.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::rules::mining_estimate_test {
namespace {

datasets::transactions draw(std::size_t n, std::uint32_t items, double density) {
  random_engine engine(n);
  datasets::transactions data;
  for (std::size_t t = 0; t < n; ++t) {
    for (item x = 0; x < items; ++x)
      if (x == 3 || uniform_unit(engine) < density) data.items.push_back(x);
    data.row.push_back(data.items.size());
  }
  data.names.resize(items);
  return data;
}

void expect_near(datasets::transactions const& data, std::uint32_t min_support, double factor) {
  mining_options const options{.min_support = min_support};
  auto const exact = static_cast<double>(mine({}, view_of(data), options).size());
  double const about = estimated_itemsets({}, view_of(data), options);
  EXPECT_LT(about, exact * factor) << min_support;
  EXPECT_GT(about, exact / factor) << min_support;
  EXPECT_EQ(about, estimated_itemsets({}, view_of(data), options)) << "the same seed";
}

TEST(mining_estimate, is_near) {
  expect_near(draw(500, 20, 0.5), 20, 1.3);
  expect_near(draw(2000, 200, 0.02), 5, 1.5);
}

TEST(mining_estimate, of_one_path_is_exact) {
  datasets::transactions const all = draw(10, 8, 1);
  EXPECT_EQ(estimated_itemsets({}, view_of(all), {.min_support = 1}), 255);
  EXPECT_EQ(estimated_itemsets({}, view_of(all), {.min_support = 11}), 0);
  EXPECT_EQ(estimated_itemsets({}, view_of(all), {.max_size = 2}), 8 + 28);
  EXPECT_EQ(estimated_itemsets({}, view_of({}), {}), 0);
}

TEST(mining_estimate, of_real_transactions) {
  RULERANK_REAL_DATA(mushroom, "fim/mushroom.dat");
  expect_near(datasets::read_fimi({}, mushroom), 813, 2);
  RULERANK_REAL_DATA(chess, "fim/chess.dat");
  expect_near(datasets::read_fimi({}, chess), 1918, 2);
}

TEST(support_that_fits, fits) {
  auto const data = draw(500, 20, 0.5);
  mining_options options{.min_support = 1, .max_bytes = 200 * bytes_an_itemset};
  auto const fitting = support_that_fits({}, view_of(data), options);
  ASSERT_GT(fitting.support, 1U);
  EXPECT_LE(fitting.itemsets, 100);
  options.min_support = fitting.support;
  EXPECT_LE(mine({}, view_of(data), {.min_support = fitting.support}).size(), 200U);
  options.max_bytes = 0;
  EXPECT_EQ(support_that_fits({}, view_of(data), options).support, 0U);
}

}  // namespace
}  // namespace rulerank::rules::mining_estimate_test
