#pragma once

#include "knn/metric/gpu/measure_cuda.cuh"
#include "knn/metric/published/block_layout.hpp"

#include <cstdint>
#include <span>

namespace rulerank::inline v0::knn {

/// Runs one launch with one query per block; `which` are numbers among the placed queries.
launch_result launch_blocks(block_layout const& layout, placed_arrays const& arrays,
                            placed_tables const& tables, placed_queries const& queries,
                            device_work& on, block_job const& job,
                            std::span<std::uint32_t const> which, std::uint32_t capacity,
                            double& kernel_s);

}  // namespace rulerank::knn
