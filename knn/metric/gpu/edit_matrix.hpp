#pragma once

#include "core/context.hpp"
#include "knn/metric/gpu/gpu_layout.hpp"

#include <cstdint>
#include <vector>

namespace rulerank::inline v0::knn {

/// The seconds of a matrix of edit distances.
struct edit_matrix_times {
  double kernel_s = 0;  ///< kernel time, results on the device
  /// From queries on the host to the matrix, on the host if it is copied there.
  double whole_s = 0;
};

/// For benchmarks: computes the distances of all pairs on the first device, for a layout by length
/// and queries, with words of at most 254 letters. matrix[q * objects + place], places as in the
/// layout. null: the results stay on the device, where each batch of queries overwrites the
/// previous one.
edit_matrix_times edit_matrix(context const& ctx, gpu_layout const& layout,
                              gpu_queries const& queries, std::vector<std::uint8_t>* matrix);

}  // namespace rulerank::knn
