#pragma once

#include "core/context.hpp"
#include "knn/metric/gpu/gpu_layout.hpp"

#include <cstdint>
#include <vector>

namespace rulerank::inline v0::knn {

/// Seconds of a matrix of edit distances.
struct edit_matrix_times {
  double kernel_s = 0;  ///< of the kernels, results on the device
  double whole_s = 0;   ///< from queries on the host, to the matrix on the host where it goes there
};

/// For benchmarks: the distances of all pairs on the first device, of a layout by length whose
/// words have at most 254 letters, and queries as short. matrix[q * objects + place], in the order
/// of the layout's places; null: it stays on the device, where one part of the queries overwrites
/// the one before.
edit_matrix_times edit_matrix(context const& ctx, gpu_layout const& layout,
                              gpu_queries const& queries, std::vector<std::uint8_t>* matrix);

}  // namespace rulerank::knn
