#include "knn/dense/device_groups.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::device_groups_test {
namespace {

TEST(device_groups, rows_are_split_over_as_few_devices_as_hold_them) {
  // devices, bytes, bytes per device, devices per group
  std::vector<std::vector<std::size_t>> const cases{
      {1, 0, 8, 1},  {1, 1000, 8, 1}, {2, 8, 8, 1},  {2, 9, 8, 2},  {2, 1000, 8, 2},
      {4, 8, 8, 1},  {4, 9, 8, 2},    {4, 16, 8, 2}, {4, 17, 8, 4}, {4, 1000, 8, 4},
      {3, 16, 8, 3}, {6, 17, 8, 3},   {6, 25, 8, 6}, {8, 32, 8, 4}, {8, 9, 0, 8}};
  for (auto const& one : cases)
    EXPECT_EQ(groups_for(one[0], one[1], one[2]).of_group, one[3])
        << one[0] << " devices, " << one[1] << " bytes, " << one[2] << " of a device";
}

/// Each query is compared with each row once, on one device.
TEST(device_groups, each_query_meets_each_row_once) {
  constexpr index_range rows{5, 36};
  for (std::size_t const devices : {1, 2, 3, 4, 6, 8})
    for (std::size_t of_group = 1; of_group <= devices; ++of_group) {
      if (devices % of_group != 0) continue;
      device_groups const groups{devices, of_group};
      for (std::size_t const queries : {1, 7, 8, 15, 16, 100}) {
        std::vector<int> met(queries * rows.end);
        for (std::size_t i = 0; i < devices; ++i) {
          index_range const asked = groups.queries_of(queries, i, 8);
          index_range const held = groups.rows_of(rows, i);
          for (std::size_t q = asked.begin; q < asked.end; ++q)
            for (std::size_t row = held.begin; row < held.end; ++row) ++met[q * rows.end + row];
        }
        for (std::size_t q = 0; q < queries; ++q)
          for (std::size_t row = 0; row < rows.end; ++row)
            ASSERT_EQ(met[q * rows.end + row], row >= rows.begin ? 1 : 0)
                << devices << " devices in groups of " << of_group << ", " << queries << " queries";
      }
    }
}

TEST(device_groups, groups_with_too_few_queries_have_none) {
  device_groups const groups{4, 2};
  EXPECT_EQ(groups.count(), 2U);
  for (std::size_t const queries : {1, 127}) {
    EXPECT_EQ(groups.queries_of(queries, 1, 64).size(), queries);
    EXPECT_EQ(groups.queries_of(queries, 2, 64).size(), 0U);
  }
  EXPECT_EQ(groups.queries_of(128, 1, 64).size(), 64U);
  EXPECT_EQ(groups.queries_of(128, 2, 64).begin, 64U);
  EXPECT_EQ(groups.queries_of(128, 3, 64).size(), 64U);
}

}  // namespace
}  // namespace rulerank::knn::device_groups_test
