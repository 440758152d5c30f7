#pragma once

#include "core/context.hpp"
#include "core/for_each_device.hpp"
#include "knn/dense/flat_part_cuda.cuh"
#include "knn/dense/row_upload_cuda.cuh"

#include <array>
#include <cstddef>
#include <functional>
#include <span>

namespace rulerank::inline v0::knn {

/// Searches rows of an index that do not fit a device, one piece at a time. Made and used with its
/// device current, by one thread at a time.
class flat_stream {
 public:
  /// Allocates space for two pieces of `piece` rows.
  flat_stream(dense_rows const& rows, std::size_t piece, similarity metric,
              std::span<float const> centre, float scale)
      : piece_(piece),
        slots_{flat_part(rows, piece, metric, centre, scale),
               flat_part(rows, piece, metric, centre, scale)} {}

  std::size_t piece() const noexcept { return piece_; }

  /// Calls `search` with one piece after another on the device, while the next piece is copied
  /// there.
  void run(context const& ctx, dense_rows const& rows, std::span<index_range const> of,
           std::function<void(flat_part const&)> const& search);

 private:
  std::size_t piece_;
  std::array<flat_part, 2> slots_;
  row_upload upload_;
};

}  // namespace rulerank::knn
