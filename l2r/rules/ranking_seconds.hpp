#pragma once

#include "rules/thresholds.hpp"

#include <cmath>
#include <cstdint>

namespace rulerank::inline v0::l2r {

/// About the seconds that the default engine needs to rank `tests` documents by rules on one CPU
/// thread, for `worth_gpus` (core/device_rule.hpp). `training`: documents that the rules come from.
/// Fitted in bench/results/auto.
inline double ranking_seconds(double training, double tests, double features,
                              rules::rule_size rule_size) {
  // Words of 64 training documents x itemsets x documents that are ranked.
  constexpr double words_a_second = 3.5e10;
  double itemsets = 0, of_size = 1;  // the sum of C(features, k) for k < rule_size
  for (std::uint32_t k = 1; k < rule_size && k <= features; ++k) {
    of_size *= (features - k + 1) / k;
    itemsets += of_size;
  }
  return tests * itemsets * std::ceil(training / 64) / words_a_second;
}

}  // namespace rulerank::l2r
