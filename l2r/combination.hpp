#pragma once

#include "datasets/dataset.hpp"

#include <span>
#include <vector>

namespace rulerank::l2r {

/// The mean and standard deviation of the scores of one query's list.
struct list_moments {
  double mean = 0;
  double deviation = 0;  ///< 0 where all scores are equal, but for rounding
};

/// Sums run in the order of the scores.
list_moments moments_of(std::span<double const> scores);

/// How many deviations a score lies above its list's mean; 0 where there is no deviation.
inline double standardized(double score, list_moments const& list) {
  return list.deviation == 0 ? 0 : (score - list.mean) / list.deviation;
}

/// One ranking of several: the mean of the members' scores, each standardised within its query's
/// list. Averaging takes away what rankers that are equally good have of chance.
/// (Montague and Aslam, Relevance score normalization for metasearch, CIKM 2001: ZMUV, with the
/// sum of Fox and Shaw, Combination of multiple searches, TREC-2, 1994: CombSUM.)
///
/// `members`: scores [documents] of each; `queries` cover them. One member alone is given back as
/// it is. Throws `usage_error` without members and where sizes differ.
std::vector<double> combine(std::span<datasets::query_group const> queries,
                            std::span<std::vector<double> const> members);

}  // namespace rulerank::l2r
