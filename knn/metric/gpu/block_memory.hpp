#pragma once

#include "core/host_device.hpp"
#include "knn/metric/gpu/block_objects.hpp"

#include <cstddef>
#include <cstdint>

// The placement of a block's arrays: in shared memory as far as it suffices, otherwise in global
// memory.
namespace rulerank::inline v0::knn {

/// The places of `Arrays` arrays of a block.
template <std::size_t Arrays>
class block_memory {
 public:
  std::size_t own_bytes = 0;     ///< shared memory of a block
  std::size_t device_bytes = 0;  ///< global memory of a block

 protected:
  /// Places an array: in shared memory if at most `most_own` bytes are then used.
  void place(std::size_t which, std::size_t bytes, std::size_t most_own) {
    bytes = (bytes + 15) / 16 * 16;
    is_own_[which] = own_bytes + bytes <= most_own;
    std::size_t& end = is_own_[which] ? own_bytes : device_bytes;
    offset_[which] = end;
    end += bytes;
  }
  /// Returns an array, given the base addresses of the block's two memories.
  template <class T>
  RULERANK_HOST_DEVICE T* of(std::size_t which, std::byte* own, std::byte* of_device) const {
    std::byte* const base = is_own_[which] ? own : of_device;
    return base == nullptr ? nullptr : reinterpret_cast<T*>(base + offset_[which]);
  }

 private:
  std::size_t offset_[Arrays] = {};
  bool is_own_[Arrays] = {};
};

/// The memory of a block that compares objects with a query.
class query_plan : public block_memory<2> {
 public:
  /// For `threads` threads with `most_own` bytes of shared memory.
  template <class Objects>
  query_plan(Objects const& objects, std::uint32_t threads, std::size_t most_own) {
    place(query, objects.query_bytes(), most_own);
    place(rows, objects.row_numbers() * threads * sizeof(std::uint64_t), 0);
  }
  RULERANK_HOST_DEVICE query_space at(std::byte* own, std::byte* of_device) const {
    return {of<std::byte>(query, own, of_device), of<std::uint64_t>(rows, own, of_device)};
  }

 private:
  enum array : std::size_t { query, rows };
};

}  // namespace rulerank::knn
