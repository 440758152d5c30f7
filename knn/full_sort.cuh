#pragma once

#include "core/device_memory.hpp"
#include "knn/near_key.hpp"

#include <cstddef>
#include <cstdint>

#include <cub/device/device_radix_sort.cuh>

namespace rulerank::inline v0::knn {

/// Sorts the keys of all items on the device that was current at construction.
class full_sort {
 public:
  explicit full_sort(std::uint32_t items)
      : items_(items), keys_(items), sorted_(items), temporary_(temporary_bytes(items)) {}

  static std::size_t bytes(std::uint32_t items) {
    return 2 * sizeof(near_key) * items + temporary_bytes(items);
  }

  /// [items] to be filled completely, in the order of the items.
  near_key* keys() noexcept { return keys_.data(); }
  /// [items] ascending after `sort`.
  near_key const* sorted() const noexcept { return sorted_.data(); }

  /// The sort is stable and the keys are in the order of items, so it sorts by their values only.
  void sort(cudaStream_t on) {
    std::size_t bytes = temporary_.size();
    check_cuda(cub::DeviceRadixSort::SortKeys(temporary_.data(), bytes, keys_.data(),
                                              sorted_.data(), items_, 32, 64, on));
  }

 private:
  static std::size_t temporary_bytes(std::uint32_t items) {
    std::size_t bytes = 0;
    check_cuda(cub::DeviceRadixSort::SortKeys(nullptr, bytes, static_cast<near_key const*>(nullptr),
                                              static_cast<near_key*>(nullptr), items, 32, 64));
    return bytes;
  }

  std::uint32_t items_;
  device_buffer<near_key> keys_, sorted_;
  device_buffer<std::byte> temporary_;
};

}  // namespace rulerank::knn
