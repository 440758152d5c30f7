#pragma once

#include "core/device_memory.hpp"
#include "core/for_each_device.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

// Copies the batches of a search to a device, and the results back.
namespace rulerank::inline v0::knn {

/// An allocation on a device and one of the same layout in pinned host memory. Both grow to powers
/// of two and never shrink.
class staged_memory {
 public:
  /// The size to which each allocation grows for `needed` bytes.
  static std::size_t bytes(std::size_t needed) { return std::bit_ceil(needed); }
  /// Grows both to at least `bytes`. Bytes that a device never writes are zero, so arrays may be
  /// copied back whole.
  void reserve(std::size_t bytes) {
    if (bytes <= std::min(on_device_.size(), on_host_.size())) return;
    std::size_t const size = staged_memory::bytes(bytes);
    on_device_.reserve(size);
    on_host_.reserve(size);
    on_device_.fill_bytes(0);
    check_cuda(cudaStreamSynchronize(nullptr));
  }
  /// Starts a copy from host memory to the front of the device's allocation.
  void upload(std::byte const* from, std::size_t bytes, cudaStream_t on) {
    check_cuda(cudaMemcpyAsync(on_device_.data(), from, bytes, cudaMemcpyHostToDevice, on));
  }
  /// Copies a range of the device's allocation to the host's and waits for it.
  void download(index_range const& bytes, cudaStream_t on) {
    check_cuda(cudaMemcpyAsync(on_host_.data() + bytes.begin, on_device_.data() + bytes.begin,
                               bytes.size(), cudaMemcpyDeviceToHost, on));
    check_cuda(cudaStreamSynchronize(on));
  }
  std::byte* on_device() noexcept { return on_device_.data(); }
  std::byte* on_host() noexcept { return on_host_.data(); }

 private:
  device_buffer<std::byte> on_device_;
  pinned_buffer<std::byte> on_host_;
};

}  // namespace rulerank::knn
