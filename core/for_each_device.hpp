#pragma once

#include "core/context.hpp"
#include "core/device_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>
#include <thread>
#include <vector>

namespace rulerank {

struct share {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const noexcept { return end - begin; }
};

/// The i-th of `parts` even shares of [0, n).
constexpr share share_of(std::size_t n, std::size_t parts, std::size_t i) {
  std::size_t const each = n / parts;
  std::size_t const more = n % parts;
  std::size_t const begin = i * each + std::min(i, more);
  return {begin, begin + each + (i < more ? 1 : 0)};
}

/// Calls work(i) with devices[i] current, a host thread each, and waits for all. The first
/// exception, by device, is thrown again here.
template <class Work>
void for_each_device(std::span<int const> devices, Work&& work) {
  std::vector<std::exception_ptr> failures(devices.size());
  auto run = [&](std::size_t i) {
    try {
      current_device const guard(devices[i]);
      work(i);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < devices.size(); ++i) threads.emplace_back(run, i);
    if (!devices.empty()) run(0);
  }
  for (auto const& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace rulerank
