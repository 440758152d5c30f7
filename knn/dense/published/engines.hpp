#pragma once

namespace rulerank::inline v0::knn {

/// Adds the published engines, PPK, PPB, SBQ, GS and MPI-KNN, to `dense_engines()`. To be called
/// before the module's other functions; further calls have no effect.
///
/// They report in `dense_search_work::counts`: nanoseconds in kernels, over all devices
/// (`kernel_ns`), and of these in the selection of sbq or gs (`selection_ns`). gs also reports the
/// batches of queries whose neighbours were selected by searches for the minimum (`by_minima`) and
/// by bitonic sorts (`by_sorting`).
void add_published_dense_engines();

}  // namespace rulerank::knn
