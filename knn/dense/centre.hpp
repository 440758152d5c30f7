#pragma once

#include "knn/dense/engine.hpp"

#include <vector>

namespace rulerank::knn {

/// The mean of some rows, where it is far from the origin beside what rows are from it: what `flat`
/// subtracts from rows and queries under l2, so that products of them lose less. Else empty.
std::vector<float> centre_of_rows(dense_rows const& rows);

}  // namespace rulerank::knn
