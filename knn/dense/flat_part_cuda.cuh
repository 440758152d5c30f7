#pragma once

#include "core/device_memory.hpp"
#include "core/for_each_device.hpp"
#include "core/stream.hpp"
#include "knn/dense/flat_search_cuda.cuh"

#include <cstddef>
#include <cstdint>
#include <span>

namespace rulerank::knn {

/// Some rows of an index and their shadow on the device that was current when it was made.
class flat_part {
 public:
  /// Copies the rows and makes the shadow; complete when it returns. `centre`: or empty.
  flat_part(dense_rows const& rows, share const& of, similarity metric,
            std::span<float const> centre, float scale);

  /// Of the rows of an index.
  share const& of() const noexcept { return of_; }
  shadow_rows const& view() const noexcept { return view_; }

  /// What so many rows take of a device.
  static std::size_t bytes(dense_rows const& rows, std::size_t count, similarity metric);

 private:
  share of_;
  device_buffer<std::byte> values_;
  device_buffer<uint4> fragments_;
  device_buffer<row_mark> marks_;
  device_buffer<double> norms_;
  device_buffer<float> centre_;
  shadow_rows view_;
};

}  // namespace rulerank::knn
