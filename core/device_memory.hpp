#pragma once

#include "core/cuda_check.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Owners of memory, for CUDA sources. Move-only; destructors do not throw. One thread at a time may
// use an owner. The current device, which several functions here read or set, belongs to the
// calling thread.
namespace rulerank::inline v0 {

/// Makes a device current, and restores the previous device on destruction.
class current_device {
 public:
  explicit current_device(int ordinal) {
    check_cuda(cudaGetDevice(&before_));
    check_cuda(cudaSetDevice(ordinal));
  }
  ~current_device() { cudaSetDevice(before_); }
  current_device(current_device const&) = delete;
  current_device& operator=(current_device const&) = delete;

 private:
  int before_ = 0;
};

/// n elements of memory that Source allocates and frees. Not initialized.
template <class T, class Source>
class owned_array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  owned_array() = default;
  explicit owned_array(std::size_t n) : size_(n) {
    if (n > 0) data_ = static_cast<T*>(Source::take(n * sizeof(T)));
  }
  ~owned_array() {
    if (data_ != nullptr) Source::give_back(data_);
  }
  owned_array(owned_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  owned_array& operator=(owned_array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() noexcept { return data_; }
  T const* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return size_ * sizeof(T); }
  /// Grows to at least n elements. Growing discards the elements; if it fails, the array is empty.
  void reserve(std::size_t n) {
    if (n <= size_) return;
    *this = owned_array();  // frees first, since both may not fit
    *this = owned_array(n);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

struct device_source {
  static void* take(std::size_t bytes) {
    void* data = nullptr;
    if (cudaError_t const status = cudaMalloc(&data, bytes); status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      int device = -1;
      std::size_t free = 0;
      std::size_t total = 0;
      cudaGetDevice(&device);
      cudaMemGetInfo(&free, &total);
      throw device_error("CUDA device " + std::to_string(device) + ": " + std::to_string(bytes) +
                         " bytes requested, " + std::to_string(free) + " of " +
                         std::to_string(total) + " free");
    } else {
      check_cuda(status);
    }
    return data;
  }
  static void give_back(void* data) noexcept { cudaFree(data); }
};
struct pinned_source {
  static void* take(std::size_t bytes) {
    void* data = nullptr;
    check_cuda(cudaHostAlloc(&data, bytes, cudaHostAllocPortable));
    return data;
  }
  static void give_back(void* data) noexcept { cudaFreeHost(data); }
};

/// n elements in the memory of the device that was current at construction.
template <class T>
class device_buffer : public owned_array<T, device_source> {
 public:
  using owned_array<T, device_source>::owned_array;
  device_buffer() = default;
  /// A copy of host data, complete when the constructor returns.
  explicit device_buffer(std::span<T const> from) : device_buffer(from.size()) {
    if (from.empty()) return;
    check_cuda(cudaMemcpy(this->data(), from.data(), this->bytes(), cudaMemcpyHostToDevice));
    // A copy from pageable memory may return as soon as the data is staged.
    check_cuda(cudaStreamSynchronize(nullptr));
  }

  void fill_bytes(int byte, cudaStream_t stream = nullptr) {
    if (this->size() > 0) check_cuda(cudaMemsetAsync(this->data(), byte, this->bytes(), stream));
  }
  /// Returns the first n elements; waits for the stream.
  std::vector<T> to_host(std::size_t n, cudaStream_t stream = nullptr) const {
    std::vector<T> host(n);
    if (n > 0)
      check_cuda(cudaMemcpyAsync(host.data(), this->data(), n * sizeof(T), cudaMemcpyDeviceToHost,
                                 stream));
    check_cuda(cudaStreamSynchronize(stream));
    return host;
  }
  std::vector<T> to_host() const { return to_host(this->size()); }
};

/// Copies host memory to the current device; empty for a null pointer.
template <class T>
device_buffer<T> copy_to_device(T const* from, std::size_t n) {
  return from == nullptr ? device_buffer<T>() : device_buffer<T>(std::span<T const>(from, n));
}
template <class T>
device_buffer<T> copy_to_device(std::vector<T> const& from) {
  return copy_to_device(from.data(), from.size());
}

/// n elements of pinned host memory: every device can read it and copies at full speed.
template <class T>
class pinned_buffer : public owned_array<T, pinned_source> {
 public:
  using owned_array<T, pinned_source>::owned_array;
  T& operator[](std::size_t i) { return this->data()[i]; }
};

/// Returns the bytes of the current device that one engine may use: the free memory minus a reserve
/// of 5 % of the total.
inline std::size_t memory_budget() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  std::size_t const reserve = total / 20;
  return free > reserve ? free - reserve : 0;
}

}  // namespace rulerank
