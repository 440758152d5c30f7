#pragma once

#include "knn/metric/gpu/gpu_engine.hpp"

#include <memory>

namespace rulerank::inline v0::knn {

/// Searches at least one vector under l2 by dense search, on the context's devices or, without
/// devices (in tests), on the CPU. Objects must be in the order of their numbers.
std::unique_ptr<metric_gpu_searcher> make_dense_pairs(context const& ctx, gpu_layout layout);

}  // namespace rulerank::knn
