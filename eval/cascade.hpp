#pragma once

#include "eval/groups.hpp"

#include <cstddef>
#include <vector>

namespace rulerank::inline v0::eval {

/// For a reader who scans the ranking and stops at a document of label r with probability
/// `stops(r)`: calls `work(rank, chance)` for the first `cut` ranks, from 0, with the expected
/// probability of stopping at that rank.
///
/// Within a tie, let q_d = 1 - stops(d) and E_p the mean, over all p-subsets, of the product of
/// their q (an elementary symmetric mean): the reader passes p of the tie's documents with
/// probability E_p, and stops at the next with E_p - E_{p+1}. E_p is computed document by document:
/// E_p over n = (n - p) / n E_p over n - 1 + p / n q_n E_{p-1} over n - 1, a sum of positive terms.
template <class Stops, class Work>
void for_each_stop(ranked_query const& query, std::size_t cut, Stops&& stops, Work&& work) {
  double passed = 1;  // probability of passing all earlier groups
  std::vector<double> mean;
  for_each_group(query, cut, [&](tie_group const& group) {
    if (group.size() == 1) {
      double const stop = stops(group.labels[0]);
      work(group.begin, passed * stop);
      passed *= 1 - stop;
      return passed > 0;
    }
    std::size_t const ranks = group.cut - group.begin;
    mean.assign(ranks + 1, 0);
    mean[0] = 1;
    for (std::size_t n = 1; n <= group.size(); ++n) {
      double const q = 1 - stops(group.labels[n - 1]);
      auto const count = static_cast<double>(n);
      for (std::size_t p = std::min(n, ranks); p > 0; --p) {
        double const share = static_cast<double>(p) / count;
        mean[p] = (1 - share) * mean[p] + share * q * mean[p - 1];
      }
    }
    for (std::size_t p = 0; p < ranks; ++p)
      work(group.begin + p, passed * std::max(0.0, mean[p] - mean[p + 1]));
    passed *= mean[ranks];
    return passed > 0;
  });
}

}  // namespace rulerank::eval
