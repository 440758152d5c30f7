#include "rules/mining/association_rules.hpp"

#include <gtest/gtest.h>

namespace rulerank::inline v0::rules::appearing_items_test {
namespace {

TEST(appearing_items, are_kept_and_the_transactions_too) {
  datasets::transactions data;
  data.row = {0, 3, 4, 4, 6};
  data.items = {0, 1, 2, 1, 0, 2};
  data.names = {"a", "b", "c"};
  auto const all = data;
  drop_unplaced_items(data, {});
  EXPECT_EQ(data.items, all.items);
  std::vector<appearance> where(3, appearance::both);
  drop_unplaced_items(data, where);
  EXPECT_EQ(data.row, all.row);
  where[1] = appearance::neither;
  drop_unplaced_items(data, where);
  EXPECT_EQ(data.row, (std::vector<std::size_t>{0, 2, 2, 2, 4}));
  EXPECT_EQ(data.items, (std::vector<std::uint32_t>{0, 2, 0, 2}));
  EXPECT_EQ(data.names, all.names);
}

}  // namespace
}  // namespace rulerank::rules::appearing_items_test
