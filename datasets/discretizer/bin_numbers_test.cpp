#include "datasets/discretizer.hpp"
#include "datasets/svmlight.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace rulerank::inline v0::datasets::bin_numbers_test {
namespace {

TEST(bin_numbers, replace_the_values) {
  context const ctx;
  dataset const data = parse_svmlight(ctx,
                                      "0 qid:1 1:0 2:5 3:1 # a\n1 qid:1 1:1 3:nan\n"
                                      "2 qid:2 1:9 2:5 3:7 # b\n",
                                      "in");
  discretizer cuts;
  cuts.options.unlisted = unlisted_values::missing;
  cuts.features = {{1, {0.5, 2}}, {2, {}}, {3, {3}}};
  auto const binned = apply_discretizer(ctx, data, cuts);
  dataset const numbers = with_bin_numbers(ctx, data, binned);
  EXPECT_EQ(numbers.labels, data.labels);
  ASSERT_EQ(numbers.size(), 3U);
  ASSERT_EQ(binned.features, (std::vector<std::uint32_t>{1, 3})) << "feature 2 has one bin";
  for (std::size_t d = 0; d < 3; ++d) {
    auto const entries = numbers.document(d);
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].feature, 1U);
    EXPECT_EQ(entries[0].value, static_cast<double>(d));
    EXPECT_EQ(entries[1].feature, 3U);
  }
  EXPECT_EQ(numbers.document(0)[1].value, 0);
  EXPECT_TRUE(std::isnan(numbers.document(1)[1].value));
  EXPECT_EQ(numbers.document(2)[1].value, 1);
}

}  // namespace
}  // namespace rulerank::datasets::bin_numbers_test
