#pragma once

#include "core/device_memory.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

// For sources that are compiled with CUDA.
namespace rulerank::inline v0 {

/// A T that is made and destroyed with its device current, whichever is current before and after.
/// Does not throw when it is destroyed. Move-only.
template <class T>
class on_device {
 public:
  /// Holds none.
  on_device() = default;
  /// Makes it from the arguments. Throws what the constructor of T throws, and `device_error`.
  template <class... Arguments>
  on_device(std::in_place_t, int ordinal, Arguments&&... arguments) : device_(ordinal) {
    current_device const guard(ordinal);
    value_ = std::make_unique<T>(std::forward<Arguments>(arguments)...);
  }
  ~on_device() { destroy(); }
  on_device(on_device&&) noexcept = default;
  on_device& operator=(on_device&& other) noexcept {
    destroy();
    device_ = other.device_;
    value_ = std::move(other.value_);
    return *this;
  }

  explicit operator bool() const noexcept { return value_ != nullptr; }
  T& operator*() noexcept { return *value_; }
  T const& operator*() const noexcept { return *value_; }

 private:
  /// An error of the CUDA runtime is dropped: destructors come here.
  void destroy() noexcept {
    if (value_ == nullptr) return;
    int before = 0;
    bool const known = cudaGetDevice(&before) == cudaSuccess;
    cudaSetDevice(device_);
    value_.reset();
    if (known) cudaSetDevice(before);
  }

  int device_ = 0;
  std::unique_ptr<T> value_;
};

/// At most one T for each of some devices. Every T is made and destroyed with its device current,
/// also where the constructor of the owner throws half way; the device that was current before is
/// current again afterwards. The destructor does not throw. Neither copied nor moved.
///
/// Several threads may call `make` and `[]` at once, each for another device. Nothing else
/// synchronizes the calls.
template <class T>
class per_device {
 public:
  /// Holds no T yet. `devices`: CUDA device ordinals, copied.
  explicit per_device(std::span<int const> devices)
      : devices_(devices.begin(), devices.end()), values_(devices.size()) {}
  per_device(per_device const&) = delete;
  per_device& operator=(per_device const&) = delete;

  /// Makes the T of the i-th device from the arguments, in the place of the one before, which is
  /// destroyed first. Throws what the constructor of T throws, and `device_error`.
  template <class... Arguments>
  T& make(std::size_t i, Arguments&&... arguments) {
    values_[i] = {};
    values_[i] = on_device<T>(std::in_place, devices_[i], std::forward<Arguments>(arguments)...);
    return *values_[i];
  }

  /// The number of devices.
  std::size_t size() const noexcept { return values_.size(); }
  /// Whether the i-th device has its T.
  bool has(std::size_t i) const noexcept { return static_cast<bool>(values_[i]); }
  /// The T of the i-th device, which must have been made.
  T& operator[](std::size_t i) noexcept { return *values_[i]; }
  T const& operator[](std::size_t i) const noexcept { return *values_[i]; }

 private:
  std::vector<int> devices_;
  std::vector<on_device<T>> values_;  // [devices]
};

}  // namespace rulerank
