#pragma once

namespace rulerank::inline v0::knn {

/// Adds the published engines, PPK, PPB, SBQ, GS and MPI-KNN, to `dense_engines()`. Called before
/// the module's other functions; further calls add nothing.
void add_published_dense_engines();

}  // namespace rulerank::knn
