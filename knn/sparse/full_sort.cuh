#pragma once

#include "core/device_memory.hpp"
#include "knn/sparse/single_precision.hpp"

#include <cstddef>
#include <cstdint>

#include <cub/device/device_radix_sort.cuh>

namespace rulerank::knn {

/// Sorts the keys of all documents on the device that was current when it was made.
class full_sort {
 public:
  explicit full_sort(std::uint32_t documents)
      : documents_(documents),
        keys_(documents),
        sorted_(documents),
        temporary_(temporary_bytes(documents)) {}

  static std::size_t bytes(std::uint32_t documents) {
    return 2 * sizeof(near_key) * documents + temporary_bytes(documents);
  }

  /// [documents] to be filled by document, all of them.
  near_key* keys() noexcept { return keys_.data(); }
  /// [documents] ascending after `sort`.
  near_key const* sorted() const noexcept { return sorted_.data(); }

  /// The sort is stable and the keys come by document: their scores are enough.
  void sort(cudaStream_t on) {
    std::size_t bytes = temporary_.size();
    check_cuda(cub::DeviceRadixSort::SortKeys(temporary_.data(), bytes, keys_.data(),
                                              sorted_.data(), documents_, 32, 64, on));
  }

 private:
  static std::size_t temporary_bytes(std::uint32_t documents) {
    std::size_t bytes = 0;
    check_cuda(cub::DeviceRadixSort::SortKeys(nullptr, bytes, static_cast<near_key const*>(nullptr),
                                              static_cast<near_key*>(nullptr), documents, 32, 64));
    return bytes;
  }

  std::uint32_t documents_;
  device_buffer<near_key> keys_, sorted_;
  device_buffer<std::byte> temporary_;
};

}  // namespace rulerank::knn
