#pragma once

#include "core/per_device.hpp"

#include <cstddef>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

// For CUDA sources.
namespace rulerank::inline v0 {

/// Reusable values of T, such as device memory, on several devices. `take` returns an idle value of
/// the device, or makes a new one. The pool destroys all values, each with its device current.
/// Several threads may call `take` and destroy `lease`s at once.
template <class T>
class device_pool {
 public:
  /// Holds no T yet. `devices`: CUDA device ordinals, copied.
  explicit device_pool(std::span<int const> devices)
      : devices_(devices.begin(), devices.end()), idle_(devices.size()) {}
  device_pool(device_pool const&) = delete;
  device_pool& operator=(device_pool const&) = delete;

  /// One user's T of the i-th device; must be destroyed before the pool.
  class lease {
   public:
    lease(lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)),
          i_(other.i_),
          value_(std::move(other.value_)) {}
    lease& operator=(lease&&) = delete;
    ~lease() {
      if (pool_ != nullptr) pool_->give_back(i_, std::move(value_));
    }
    T& operator*() noexcept { return *value_; }
    T* operator->() noexcept { return &*value_; }
    T const* operator->() const noexcept { return &*value_; }

   private:
    friend device_pool;
    lease(device_pool& pool, std::size_t i, on_device<T> value)
        : pool_(&pool), i_(i), value_(std::move(value)) {}
    device_pool* pool_;
    std::size_t i_;
    on_device<T> value_;
  };

  /// Leases an idle T, or makes one from the arguments, which may throw.
  template <class... Arguments>
  lease take(std::size_t i, Arguments&&... arguments) {
    {
      std::lock_guard const lock(mutex_);
      if (!idle_[i].empty()) {
        lease taken(*this, i, std::move(idle_[i].back()));
        idle_[i].pop_back();
        return taken;
      }
      idle_[i].reserve(++made_);  // so that giving back does not throw
    }
    return {*this, i,
            on_device<T>(std::in_place, devices_[i], std::forward<Arguments>(arguments)...)};
  }

 private:
  void give_back(std::size_t i, on_device<T> value) noexcept {
    std::lock_guard const lock(mutex_);
    idle_[i].push_back(std::move(value));
  }

  std::vector<int> devices_;
  std::mutex mutex_;
  std::size_t made_ = 0;
  std::vector<std::vector<on_device<T>>> idle_;  // [devices]
};

}  // namespace rulerank
