#pragma once

#include "knn/dense/engine.hpp"
#include "knn/similarity.hpp"

#include <vector>

namespace rulerank::inline v0::knn {

/// The mean of some rows, where it is far from the origin beside what rows are from it: what `flat`
/// on the CPU subtracts from rows and queries under l2, so that products of them lose less. Else
/// empty.
std::vector<float> centre_of_rows(dense_rows const& rows);

/// What `flat` on GPUs subtracts from rows, and but for inner products from queries, before it
/// rounds them to bfloat16: the mean of some rows, under cosine of rows divided by their norms,
/// where bounds are narrower with it, else empty. Integers, say, are no longer exact when they are
/// moved. `product_error`: of tensor products, over the product of the norms.
std::vector<float> centre_of_shadow(dense_rows const& rows, similarity metric,
                                    double product_error);

}  // namespace rulerank::knn
