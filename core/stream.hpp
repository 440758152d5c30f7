#pragma once

#include "core/cuda_check.hpp"

#include <utility>

namespace rulerank::inline v0 {

/// A stream of the device that was current at construction. Move-only; the destructor does not
/// throw. Several threads may queue work on it at once.
class stream {
 public:
  stream() { check_cuda(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking)); }
  ~stream() {
    if (handle_ != nullptr) cudaStreamDestroy(handle_);
  }
  stream(stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  stream& operator=(stream&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  cudaStream_t get() const noexcept { return handle_; }
  void synchronize() const { check_cuda(cudaStreamSynchronize(handle_)); }

 private:
  cudaStream_t handle_ = nullptr;
};

/// A point in a stream, with its time. Move-only; the destructor does not throw. One thread at a
/// time may record it.
class event {
 public:
  event() { check_cuda(cudaEventCreate(&handle_)); }
  ~event() {
    if (handle_ != nullptr) cudaEventDestroy(handle_);
  }
  event(event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  event& operator=(event&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  void record(stream const& in) { check_cuda(cudaEventRecord(handle_, in.get())); }
  /// Makes all work queued later on `in` wait for this event.
  void hold(stream const& in) const { check_cuda(cudaStreamWaitEvent(in.get(), handle_, 0)); }
  /// Waits on the host; returns at once if the event was never recorded.
  void wait() const { check_cuda(cudaEventSynchronize(handle_)); }
  /// Returns the device time in seconds since an earlier event; waits for this event.
  double seconds_since(event const& earlier) const {
    check_cuda(cudaEventSynchronize(handle_));
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, earlier.handle_, handle_));
    return milliseconds / 1e3;
  }

 private:
  cudaEvent_t handle_ = nullptr;
};

}  // namespace rulerank
