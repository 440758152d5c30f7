#pragma once

#include "core/device_memory.hpp"
#include "core/for_each_device.hpp"
#include "core/stream.hpp"
#include "knn/dense/flat_search_cuda.cuh"
#include "knn/dense/row_upload_cuda.cuh"

#include <cstddef>
#include <cstdint>
#include <span>

namespace rulerank::inline v0::knn {

/// Rows of an index and their shadow (flat_search_cuda.cuh) on the device that was current at
/// construction.
class flat_part {
 public:
  /// Copies the rows and computes the shadow before it returns. `centre` may be empty.
  flat_part(dense_rows const& rows, index_range const& of, similarity metric,
            std::span<float const> centre, float scale);
  /// Allocates space for `most` rows, without rows.
  flat_part(dense_rows const& rows, std::size_t most, similarity metric,
            std::span<float const> centre, float scale);

  /// Replaces the rows by others, at most as many as there is space for, before it returns.
  void load(context const& ctx, dense_rows const& rows, index_range const& of, row_upload& by);

  /// The range of these rows in the index.
  index_range const& of() const noexcept { return of_; }
  shadow_rows const& view() const noexcept { return view_; }

  /// The device bytes of `count` rows.
  static std::size_t bytes(dense_rows const& rows, std::size_t count, similarity metric);
  /// The number of rows that fit into `bytes`.
  static std::size_t rows_within(dense_rows const& rows, std::size_t bytes, similarity metric);

 private:
  void shadow(index_range const& of, stream const& on);

  index_range of_;
  device_buffer<std::byte> values_;
  device_buffer<uint4> fragments_;
  device_buffer<row_mark> marks_;
  device_buffer<double> norms_;
  device_buffer<float> centre_;
  shadow_rows view_;
};

}  // namespace rulerank::knn
