#pragma once

#include "core/context.hpp"
#include "core/device_memory.hpp"
#include "core/share.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace rulerank {

/// A host thread for each of some devices, with its device current, kept for one call of `run`
/// after the other. The first device's work is done by the calling thread. One thread at a time may
/// call `run`; calls of `run` inside its own work are not allowed.
class device_threads {
 public:
  explicit device_threads(std::span<int const> devices)
      : devices_(devices.begin(), devices.end()), failures_(devices.size()) {
    for (std::size_t i = 1; i < devices_.size(); ++i)
      threads_.emplace_back([this, i](std::stop_token const& stop) { serve(i, stop); });
  }
  device_threads(device_threads const&) = delete;
  device_threads& operator=(device_threads const&) = delete;

  std::span<int const> devices() const noexcept { return devices_; }

  /// Calls work(i) with devices()[i] current, each in its own thread, and waits for all. The first
  /// exception, by device, is thrown again here.
  template <class Work>
  void run(Work&& work) {
    if (devices_.empty()) return;
    work_ = std::ref(work);
    running_.store(threads_.size());
    wake();
    attempt(0);
    for (std::size_t left = running_.load(); left > 0; left = running_.load()) running_.wait(left);
    work_ = nullptr;
    if (auto const failure = first_failure()) std::rethrow_exception(failure);
  }

 private:
  void wake() {
    round_.fetch_add(1);
    round_.notify_all();
  }
  void serve(std::size_t i, std::stop_token const& stop) {
    std::stop_callback const ending(stop, [this] { wake(); });
    for (unsigned seen = 0; !stop.stop_requested();) {
      round_.wait(seen);
      seen = round_.load();
      if (!work_) continue;  // woken to stop, or because another thread stops
      attempt(i);
      if (running_.fetch_sub(1) == 1) running_.notify_one();
    }
  }
  void attempt(std::size_t i) {
    try {
      current_device const guard(devices_[i]);
      work_(i);
    } catch (...) {
      failures_[i] = std::current_exception();
    }
  }
  std::exception_ptr first_failure() {
    std::exception_ptr first;
    for (auto& failure : failures_)
      if (auto const one = std::exchange(failure, nullptr); !first) first = one;
    return first;
  }

  std::vector<int> devices_;
  std::vector<std::exception_ptr> failures_;  // [devices]
  std::function<void(std::size_t)> work_;
  std::atomic<unsigned> round_{0};       // a change wakes the threads
  std::atomic<std::size_t> running_{0};  // threads that are not done with their work
  std::vector<std::jthread> threads_;
};

/// The same with threads for this one call.
template <class Work>
void for_each_device(std::span<int const> devices, Work&& work) {
  device_threads(devices).run(work);
}

}  // namespace rulerank
