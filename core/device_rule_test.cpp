#include "core/device_rule.hpp"

#include <gtest/gtest.h>

namespace rulerank::inline v0 {
namespace {

TEST(DeviceRule, WorkThatRepaysTheStartTakesGpus) {
  EXPECT_FALSE(worth_gpus(0, 1));
  EXPECT_FALSE(worth_gpus(0.5, 1));
  EXPECT_TRUE(worth_gpus(0.51, 1));
  EXPECT_FALSE(worth_gpus(0.51, 2));
}

TEST(DeviceRule, WorkOfTheGpuCountsBesideItsStart) {
  EXPECT_TRUE(worth_gpus(10, 8));
  EXPECT_FALSE(worth_gpus(10, 8, 1));
}

}  // namespace
}  // namespace rulerank
