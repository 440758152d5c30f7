#pragma once

namespace rulerank::inline v0::al {

/// Approximate seconds for the default engine to sample documents on one CPU thread, for
/// `worth_gpus` (core/device_rule.hpp). Fitted to bench/results/auto.
inline double sampling_seconds(double documents, double features) {
  constexpr double values_a_second = 3.2e7;
  return documents * features / values_a_second;
}

}  // namespace rulerank::al
