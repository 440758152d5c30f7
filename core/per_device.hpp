#pragma once

#include "core/device_memory.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

// For sources that are compiled with CUDA.
namespace rulerank {

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
  ~per_device() {
    for (std::size_t i = 0; i < values_.size(); ++i) destroy(i);
  }
  per_device(per_device const&) = delete;
  per_device& operator=(per_device const&) = delete;

  /// Makes the T of the i-th device from the arguments, in the place of the one before, which is
  /// destroyed first. Throws what the constructor of T throws, and `device_error`.
  template <class... Arguments>
  T& make(std::size_t i, Arguments&&... arguments) {
    destroy(i);
    current_device const guard(devices_[i]);
    values_[i] = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    return *values_[i];
  }

  /// The number of devices.
  std::size_t size() const noexcept { return values_.size(); }
  /// Whether the i-th device has its T.
  bool has(std::size_t i) const noexcept { return values_[i] != nullptr; }
  /// The T of the i-th device, which must have been made.
  T& operator[](std::size_t i) noexcept { return *values_[i]; }
  T const& operator[](std::size_t i) const noexcept { return *values_[i]; }

 private:
  /// An error of the CUDA runtime is dropped: destructors come here.
  void destroy(std::size_t i) noexcept {
    if (values_[i] == nullptr) return;
    int before = 0;
    bool const known = cudaGetDevice(&before) == cudaSuccess;
    cudaSetDevice(devices_[i]);
    values_[i].reset();
    if (known) cudaSetDevice(before);
  }

  std::vector<int> devices_;
  std::vector<std::unique_ptr<T>> values_;  // [devices]
};

}  // namespace rulerank
