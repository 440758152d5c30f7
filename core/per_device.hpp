#pragma once

#include "core/device_memory.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

// For CUDA sources.
namespace rulerank::inline v0 {

/// A T that is constructed and destroyed with its device current; the previous device is restored.
/// The destructor does not throw. Move-only.
template <class T>
class on_device {
 public:
  /// Empty.
  on_device() = default;
  /// Constructs T from the arguments. Throws what its constructor throws, and `device_error`.
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
  /// Ignores errors of the CUDA runtime, because destructors call it.
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

/// At most one T per device. Every T is constructed and destroyed with its device current, also if
/// the owner's constructor throws half way; the previous device is restored. The destructor does
/// not throw. Neither copied nor moved.
///
/// Several threads may call `make` and `[]` at once, each for another device. Nothing else
/// synchronizes the calls.
template <class T>
class per_device {
 public:
  /// Empty. `devices`: CUDA device ordinals, copied.
  explicit per_device(std::span<int const> devices)
      : devices_(devices.begin(), devices.end()), values_(devices.size()) {}
  per_device(per_device const&) = delete;
  per_device& operator=(per_device const&) = delete;

  /// Constructs the T of the i-th device from the arguments, after destroying the previous one.
  /// Throws what the constructor throws, and `device_error`.
  template <class... Arguments>
  T& make(std::size_t i, Arguments&&... arguments) {
    values_[i] = {};
    values_[i] = on_device<T>(std::in_place, devices_[i], std::forward<Arguments>(arguments)...);
    return *values_[i];
  }

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
