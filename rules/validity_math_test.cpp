#include "rules/validity_math.hpp"

#include "core/random.hpp"
#include "rules/thresholds.hpp"

#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::rules::validity_math_test {
namespace {

TEST(validity_math, counts_what_two_counts_of_all_rules_differ_by) {
  constexpr std::uint32_t documents = 200;
  random_engine engine(7);
  for (thresholds const& t :
       {thresholds{1, 0.001}, thresholds{3, 0.2}, thresholds{1, 0.5}, thresholds{5, 1.0}})
    for (std::uint32_t const classes : {1U, 2U, 5U}) {
      validity const valid(t, documents);
      validity_view const view{valid.table().data(), valid.all_valid_up_to()};
      std::vector<std::uint32_t> supports(classes + 1);
      std::span<std::uint32_t const> const by_class = std::span(supports).subspan(1);
      for (std::uint32_t n = 0; n < documents; ++n) {
        auto const before = static_cast<std::int32_t>(valid.count(by_class, n));
        auto const k = static_cast<std::uint32_t>(uniform_below(engine, classes));
        rule_change const change = view.count(supports.data(), classes, k);
        ASSERT_EQ(supports[0], n + 1);
        EXPECT_EQ(before + change.gained - change.lost,
                  static_cast<std::int32_t>(valid.count(by_class, n + 1)));
        EXPECT_GE(change.gained, 0);
        EXPECT_LE(change.gained, 1);  // only the document's own class can gain
        EXPECT_GE(change.lost, 0);
      }
    }
}

TEST(validity_math, a_document_of_another_class_makes_a_rule_invalid) {
  validity const valid({1, 0.6}, 3);
  validity_view const view{valid.table().data(), valid.all_valid_up_to()};
  std::uint32_t supports[3] = {};
  rule_change change = view.count(supports, 2, 0);  // 1 of 1
  EXPECT_EQ(change.gained, 1);
  EXPECT_EQ(change.lost, 0);
  change = view.count(supports, 2, 1);  // 1 and 1 of 2: both below 0.6
  EXPECT_EQ(change.gained, 0);
  EXPECT_EQ(change.lost, 1);
  change = view.count(supports, 2, 0);  // 2 and 1 of 3
  EXPECT_EQ(change.gained, 1);
  EXPECT_EQ(change.lost, 0);
}

}  // namespace
}  // namespace rulerank::rules::validity_math_test
