#pragma once

#include "knn/metric/gpu/gpu_engine.hpp"

#include <memory>

namespace rulerank::inline v0::knn {

/// Vectors under l2, one at least, by dense search on the devices of the context; without any on
/// the CPU, where tests run it. Objects are in the order of their numbers.
std::unique_ptr<metric_gpu_searcher> make_dense_pairs(context const& ctx, gpu_layout layout);

}  // namespace rulerank::knn
