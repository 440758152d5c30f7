#pragma once

#include "datasets/dataset.hpp"

#include <span>
#include <vector>

namespace rulerank::l2r {

/// One ranking of several: the mean of the members' scores, each standardised within its query
/// (less the mean of the query's scores, over their standard deviation; all 0 where they are
/// equal). Averaging takes away what rankers that are equally good have of chance.
/// (Montague and Aslam, Relevance score normalization for metasearch, CIKM 2001: ZMUV, with the
/// sum of Fox and Shaw, Combination of multiple searches, TREC-2, 1994: CombSUM.)
///
/// `members`: scores [documents] of each; `queries` cover them. One member alone is given back as
/// it is. Throws `usage_error` without members and where sizes differ.
std::vector<double> combine(std::span<datasets::query_group const> queries,
                            std::span<std::vector<double> const> members);

}  // namespace rulerank::l2r
