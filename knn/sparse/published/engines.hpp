#pragma once

namespace rulerank::inline v0::knn {

/// Adds the published engines, MT, GKNN, GT-kNN and FiSH-kNN, to `sparse_engines()`. Called before
/// the module's other functions; further calls add nothing.
void add_published_sparse_engines();

}  // namespace rulerank::knn
