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

/// Some rows of an index and their shadow on the device that was current when it was made.
class flat_part {
 public:
  /// Copies the rows and makes the shadow; complete when it returns. `centre`: or empty.
  flat_part(dense_rows const& rows, index_range const& of, similarity metric,
            std::span<float const> centre, float scale);
  /// Has space for so many rows, and none of them yet.
  flat_part(dense_rows const& rows, std::size_t most, similarity metric,
            std::span<float const> centre, float scale);

  /// Takes other rows in place of those that it has, no more than it has space for; complete when
  /// it returns.
  void load(context const& ctx, dense_rows const& rows, index_range const& of, row_upload& by);

  /// Of the rows of an index.
  index_range const& of() const noexcept { return of_; }
  shadow_rows const& view() const noexcept { return view_; }

  /// What so many rows take of a device.
  static std::size_t bytes(dense_rows const& rows, std::size_t count, similarity metric);
  /// How many rows take no more than so much.
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
