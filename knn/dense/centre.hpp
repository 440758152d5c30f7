#pragma once

#include "knn/dense/engine.hpp"
#include "knn/similarity.hpp"

#include <vector>

namespace rulerank::inline v0::knn {

/// Returns the mean of some rows if it is far from the origin compared with the distances of rows
/// to it, otherwise an empty vector. `flat` on the CPU subtracts it from rows and queries under l2,
/// so that products lose less precision.
std::vector<float> centre_of_rows(dense_rows const& rows);

/// Returns the vector that `flat` on GPUs subtracts from rows (and, except for inner products, from
/// queries) before it rounds them to bfloat16: the mean of some rows, divided by their norms for
/// cosine. Empty if the bounds are not narrower with it; integers, for example, lose their
/// exactness when shifted. `product_error`: error of tensor products relative to the product of the
/// norms.
std::vector<float> centre_of_shadow(dense_rows const& rows, similarity metric,
                                    double product_error);

}  // namespace rulerank::knn
