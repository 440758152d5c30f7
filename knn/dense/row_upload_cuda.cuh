#pragma once

#include "core/context.hpp"
#include "core/device_memory.hpp"
#include "core/for_each_device.hpp"
#include "core/stream.hpp"
#include "knn/dense/engine.hpp"

#include <array>
#include <cstddef>

namespace rulerank::inline v0::knn {

/// Copies rows of an index to a device repeatedly: the context's threads copy them to one half of
/// pinned memory while the device reads the other half. Made and used with its device current, by
/// one thread at a time.
class row_upload {
 public:
  /// Copies the rows to `to` before it returns.
  void copy(context const& ctx, dense_rows const& rows, index_range const& of, std::byte* to,
            stream const& on);

 private:
  struct half {
    pinned_buffer<std::byte> rows;
    event copied;  // the copy from this half
  };
  std::array<half, 2> halves_;
};

}  // namespace rulerank::knn
