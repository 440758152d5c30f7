#include "core/error.hpp"
#include "rules/mining/miner.hpp"

#include <gtest/gtest.h>

namespace rulerank::inline v0::rules::support_bound_test {
namespace {

TEST(support_bound, counts_and_percentages) {
  EXPECT_EQ(support_bound_from("500").of(10), 500U);
  EXPECT_EQ(support_bound_from("0").of(10), 1U);
  EXPECT_EQ(support_bound_from("10%").of(8124), 813U);
  EXPECT_EQ(support_bound_from("0.1%").of(100000), 100U) << "exactly, not 101";
  EXPECT_EQ(support_bound_from("0.02%").of(100000), 20U);
  EXPECT_EQ(support_bound_from("100%").of(7), 7U);
  EXPECT_EQ(support_bound_from("0%").of(7), 1U);
  EXPECT_EQ(support_bound_from("33.333333333%").of(3), 1U);
  EXPECT_EQ(support_bound_from("33.333333334%").of(3), 2U);
  EXPECT_EQ(support_bound_from("0.006046802249410437%").of(100'000), 7U)
      << "all digits of a double";
  EXPECT_EQ(support_bound_from("25.0000000000000001%").of(4), 2U) << "exactly";
  EXPECT_EQ(support_bound_from("100.0%").of(4294967295U), 4294967295U);
  EXPECT_EQ(support_bound_from("6.046802249410437e-05").of(100'000), 7U);
  for (char const* text : {"0.2", ".2", "2e-1", "2E-1", "0.02e+1", "20%", "2e1%", ".2e2%"}) {
    EXPECT_EQ(support_bound_from(text).of(10), 2U) << text;
    EXPECT_EQ(support_bound_from(text).of(11), 3U) << text;
    EXPECT_TRUE(support_bound_from(text).percent);
  }
  EXPECT_EQ(support_bound_from("1").of(10), 1U) << "a count";
  EXPECT_EQ(support_bound_from("1.0").of(10), 10U) << "a share";
  EXPECT_EQ(support_bound_from("1e0").of(10), 10U);
}

TEST(support_bound, refuses_the_rest) {
  for (char const* text : {"",        "%",
                           "-5",      "1.5",
                           "101%",    "100.1%",
                           "5 %",     "a",
                           "1.%",     "1.0000000000000000000000000000000000001%",
                           "1e3",     "99999999999999999999",
                           "1e-40",   "1e",
                           "e-1",     ".",
                           "1e-1e-1", "1e99999999999",
                           "0x1",     "1.5.0"})
    EXPECT_THROW(support_bound_from(text), usage_error) << text;
}

TEST(shares, both_ways) {
  EXPECT_EQ(share_from("80%"), 0.8);
  EXPECT_EQ(share_from("0.8"), 0.8);
  EXPECT_EQ(share_from("1"), 1.0);
  EXPECT_EQ(share_from("33.3%"), 0.333);
  EXPECT_EQ(share_from("0.006046802249410437%"), 6.046802249410437e-05);
  EXPECT_EQ(share_from("33.333333333333333333333333333333333333333%"), 1. / 3) << "of any length";
  EXPECT_EQ(share_from("0.1000000000000000055511151231257827"), 0.1);
  EXPECT_EQ(share_from("100.0%"), 1.0);
  EXPECT_EQ(share_from(".5"), 0.5);
  EXPECT_EQ(share_from("6.046802249410437e-05"), 6.046802249410437e-05);
  EXPECT_EQ(share_from("5E-1%"), 0.005);
  for (char const* text : {"80", "101%", "-0.5", "", "x", "1.", "1e1", "1e-", "1.%", "%", "1%%",
                           "1.0.0", "nan", "100.1%"})
    EXPECT_THROW(share_from(text), usage_error) << text;
}

}  // namespace
}  // namespace rulerank::rules::support_bound_test
