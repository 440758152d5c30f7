#pragma once

#include "core/context.hpp"
#include "core/device_memory.hpp"
#include "core/even_ranges.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace rulerank::inline v0 {

/// One host thread per device, with its device current, reused by successive calls of `run`. The
/// calling thread does the first device's work. One thread at a time may call `run`; work must not
/// call `run` again.
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

  /// Calls work(i) with devices()[i] current, each in its own thread, and waits for all. Rethrows
  /// the first exception, by device.
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
      if (!work_) continue;  // woken to stop, or another thread stops
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
  std::atomic<std::size_t> running_{0};  // threads that still work
  std::vector<std::jthread> threads_;
};

/// Device threads for several callers at once: each caller gets its own, which the next caller
/// reuses. Starting a thread is cheap, but each thread that runs a loop starts an OpenMP team,
/// which ends with the thread.
class shared_device_threads {
 public:
  explicit shared_device_threads(std::span<int const> devices)
      : devices_(devices.begin(), devices.end()) {}

  /// Runs work on the first `busy` devices, as `device_threads::run`. For one device, the calling
  /// thread does it.
  template <class Work>
  void run(std::size_t busy, Work&& work) {
    if (busy <= 1) {
      if (busy == 0 || devices_.empty()) return;
      current_device const guard(devices_[0]);
      work(std::size_t{0});
      return;
    }
    std::unique_ptr<device_threads> mine = take();
    try {
      mine->run([&](std::size_t i) {
        if (i < busy) work(i);
      });
    } catch (...) {
      give_back(std::move(mine));
      throw;
    }
    give_back(std::move(mine));
  }

 private:
  std::unique_ptr<device_threads> take() {
    std::lock_guard const lock(mutex_);
    if (idle_.empty()) {
      idle_.reserve(++made_);  // so that giving back does not throw
      return std::make_unique<device_threads>(devices_);
    }
    auto taken = std::move(idle_.back());
    idle_.pop_back();
    return taken;
  }
  void give_back(std::unique_ptr<device_threads> threads) noexcept {
    std::lock_guard const lock(mutex_);
    idle_.push_back(std::move(threads));
  }

  std::vector<int> devices_;
  std::mutex mutex_;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<device_threads>> idle_;
};

/// `device_threads::run` with threads for one call.
template <class Work>
void for_each_device(std::span<int const> devices, Work&& work) {
  device_threads(devices).run(work);
}

}  // namespace rulerank
