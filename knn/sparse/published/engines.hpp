#pragma once

namespace rulerank::inline v0::knn {

/// Adds the published engines, MT, GKNN, GT-kNN and FiSH-kNN, to `sparse_engines()`. To be called
/// before the module's other functions; further calls have no effect.
void add_published_sparse_engines();

}  // namespace rulerank::knn
