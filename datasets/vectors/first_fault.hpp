#pragma once

#include "core/context.hpp"
#include "core/parallel.hpp"

#include <atomic>
#include <cstddef>

namespace rulerank::inline v0::datasets {

/// Returns the first invalid one of n items, or n, in parallel: `check(begin, end)` returns the
/// first invalid item of its range, or `end`.
template <class Check>
std::size_t first_fault(context const& ctx, std::size_t n, std::size_t grain, Check const& check) {
  std::atomic<std::size_t> first{n};
  parallel_for(ctx, n, grain, [&](std::size_t begin, std::size_t end, int) {
    if (begin > first.load(std::memory_order_relaxed)) return;
    std::size_t const bad = check(begin, end);
    if (bad == end) return;
    std::size_t before = first;
    while (bad < before && !first.compare_exchange_weak(before, bad)) {
    }
  });
  return first;
}

}  // namespace rulerank::datasets
