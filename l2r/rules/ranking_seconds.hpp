#pragma once

#include "rules/thresholds.hpp"

#include <cmath>
#include <cstdint>

namespace rulerank::inline v0::l2r {

/// Approximate seconds for the default engine to rank `tests` documents by rules on one CPU thread,
/// for `worth_gpus` (core/device_rule.hpp). `training`: number of training documents. Fitted to
/// bench/results/auto.
inline double ranking_seconds(double training, double tests, double features,
                              rules::rule_size rule_size) {
  // In units of words (64 training documents) x itemsets x test documents.
  constexpr double words_a_second = 3.5e10;
  double itemsets = 0, of_size = 1;  // the sum of C(features, k) for k < rule_size
  for (std::uint32_t k = 1; k < rule_size && k <= features; ++k) {
    of_size *= (features - k + 1) / k;
    itemsets += of_size;
  }
  return tests * itemsets * std::ceil(training / 64) / words_a_second;
}

}  // namespace rulerank::l2r
