#pragma once

#include "knn/metric/gpu_layout.hpp"

#include <memory>

namespace rulerank::inline v0::knn {

/// Vectors under l2, one at least, by dense search on the devices of the context; without any on
/// the CPU, where tests run it. The layout is that of `pairs`: rising numbers.
std::unique_ptr<metric_gpu_searcher> make_dense_pairs(gpu_build const& from);

}  // namespace rulerank::knn
