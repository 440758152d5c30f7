#pragma once

#include "core/cuda_check.hpp"

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// Owners of memory for sources that are compiled with CUDA. Move-only; destructors do not throw.
namespace rulerank {

/// Makes a device current and restores the one before when it goes.
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

/// Calls work() with a device current; for destructors, what fails is let go.
template <class Work>
void release_on_device(int ordinal, Work&& work) noexcept {
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(ordinal);
  work();
  cudaSetDevice(before);
}

/// n elements in the memory of the device that was current when it was made. Not initialised.
template <class T>
class device_buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  device_buffer() = default;
  explicit device_buffer(std::size_t n) : size_(n) {
    if (n > 0) check_cuda(cudaMalloc(reinterpret_cast<void**>(&data_), n * sizeof(T)));
  }
  /// A copy of host data, complete when the constructor returns.
  explicit device_buffer(std::span<T const> from) : device_buffer(from.size()) {
    if (size_ > 0)
      check_cuda(cudaMemcpy(data_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~device_buffer() { cudaFree(data_); }
  device_buffer(device_buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  device_buffer& operator=(device_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() noexcept { return data_; }
  T const* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return size_ * sizeof(T); }
  /// Room for at least n elements; what it held is lost when it grows.
  void reserve(std::size_t n) {
    if (n > size_) *this = device_buffer(n);
  }

  void fill_bytes(int byte, cudaStream_t stream = nullptr) {
    if (size_ > 0) check_cuda(cudaMemsetAsync(data_, byte, bytes(), stream));
  }
  /// The first n elements; waits for the stream.
  std::vector<T> to_host(std::size_t n, cudaStream_t stream = nullptr) const {
    std::vector<T> host(n);
    if (n > 0)
      check_cuda(
          cudaMemcpyAsync(host.data(), data_, n * sizeof(T), cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamSynchronize(stream));
    return host;
  }
  std::vector<T> to_host() const { return to_host(size_); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A copy of host memory on the current device; empty for a null pointer.
template <class T>
device_buffer<T> copy_to_device(T const* from, std::size_t n) {
  return from == nullptr ? device_buffer<T>() : device_buffer<T>(std::span<T const>(from, n));
}
template <class T>
device_buffer<T> copy_to_device(std::vector<T> const& from) {
  return copy_to_device(from.data(), from.size());
}

/// n elements of host memory that any device copies from and to at full speed, and can read.
template <class T>
class pinned_buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  pinned_buffer() = default;
  explicit pinned_buffer(std::size_t n) : size_(n) {
    if (n > 0)
      check_cuda(
          cudaHostAlloc(reinterpret_cast<void**>(&data_), n * sizeof(T), cudaHostAllocPortable));
  }
  ~pinned_buffer() { cudaFreeHost(data_); }
  pinned_buffer(pinned_buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  pinned_buffer& operator=(pinned_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  T* data() noexcept { return data_; }
  T const* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  void reserve(std::size_t n) {
    if (n > size_) *this = pinned_buffer(n);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Bytes of the current device that one engine may take: what is free less a reserve of 5 %.
inline std::size_t memory_budget() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  std::size_t const reserve = total / 20;
  return free > reserve ? free - reserve : 0;
}

}  // namespace rulerank
