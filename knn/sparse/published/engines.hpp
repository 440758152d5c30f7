#pragma once

namespace rulerank::inline v0::knn {

/// Adds the published engines, MT, GKNN, GT-kNN and FiSH-kNN, to `sparse_engines()`. To be called
/// before the module's other functions; further calls have no effect.
///
/// fish, gt and gknn report allocations of device memory for queries in
/// `sparse_search_work::counts` (`allocations`). fish and gt also report launches, one per group of
/// queries (`groups`), and the postings that the busiest block of each query added, summed over
/// queries (`busiest_block`).
void add_published_sparse_engines();

}  // namespace rulerank::knn
