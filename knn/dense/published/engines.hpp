#pragma once

namespace rulerank::inline v0::knn {

/// Adds the published engines, PPK, PPB, SBQ, GS and MPI-KNN, to `dense_engines()`. To be called
/// before the module's other functions; further calls have no effect.
void add_published_dense_engines();

}  // namespace rulerank::knn
