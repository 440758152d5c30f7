#pragma once

#include <cstddef>
#include <span>
#include <vector>

// Means over queries from few human and many machine judgments. Formulas, sources and a worked
// case: docs/concepts/machine-labels.md.
// Threads: functions may be called from any number of threads at once.
namespace rulerank::inline v0::eval {

/// Values of a measure: by machine judgments for all queries, and by human judgments for a random
/// sample of them.
struct two_phase_values {
  std::vector<double> machine;        ///< [queries]
  std::vector<std::size_t> sampled;   ///< [sample] indices of the queries with human judgments
  std::vector<double> human;          ///< [sample]
  std::vector<double> probabilities;  ///< [sample] of the inclusion; empty: equal
};

/// The mean of a measure with its confidence interval.
struct mean_estimate {
  double mean = 0, low = 0, high = 0;
};

struct prediction_powered_estimate {
  mean_estimate human;  ///< from human judgments alone, by Student's t
  /// From both; `human` if it is more than 3 % wider than that, or if one query alone determines
  /// the slope, for example the only one that the machine does not give the value 0.
  mean_estimate powered;
  double lambda = 0;       ///< tuned weight of the machine's values; 0: they do not help
  double correlation = 0;  ///< of both values over the sample
};

/// PPI++ with tuned weight (Angelopoulos, Duchi and Zrnic 2023) in its form for two-phase sampling,
/// with a jackknife variance and n - 2 degrees of freedom. Unequal inclusion probabilities are
/// weights 1 / p, normalized (Hajek). Throws `usage_error` for fewer than 3 sampled queries, a
/// query sampled twice, sizes or indices that do not match, and probabilities outside (0, 1].
prediction_powered_estimate estimate_mean(two_phase_values const& values, double confidence = 0.95);

}  // namespace rulerank::eval
