#pragma once

#include "core/context.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>

#include <omp.h>

#ifndef _OPENMP
#error "without OpenMP the loops of this source would silently have one thread"
#endif

namespace rulerank::inline v0 {

/// Returns the context with at most one thread per `least_work` of `work`, and at least one. For
/// less work, waking a thread and waiting for it takes longer than the work itself.
inline context with_useful_threads(context ctx, std::size_t work, std::size_t least_work) {
  ctx.threads = static_cast<int>(
      std::clamp<std::size_t>(work / least_work, 1, static_cast<std::size_t>(ctx.thread_count())));
  return ctx;
}

/// Calls `work(begin, end, thread)` for ranges of at most `grain` that cover [0, n). Threads take
/// ranges in ascending order as they become free. `thread` is in [0, thread_count()) and selects
/// scratch space. The first range of a thread is that of its number, so consecutive loops find
/// their data in the thread's cache. When a range runs, all lower ranges run too, even if the loop
/// ends early, so work may wait for them. Rethrows the first exception once all threads have
/// stopped; a stop request becomes `interrupted`. No exception leaves the OpenMP region. Several
/// threads may run loops at once.
template <class Work>
void parallel_for(context const& ctx, std::size_t n, std::size_t grain, Work&& work) {
  grain = std::max<std::size_t>(grain, 1);
  std::size_t const ranges = (n + grain - 1) / grain;
  int const threads =
      static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(ctx.thread_count()), ranges));
  if (threads <= 1) {
    for (std::size_t begin = 0; begin < n; begin += grain) {
      ctx.check_stop();
      work(begin, std::min(n, begin + grain), 0);
    }
    return;
  }
  ctx.check_stop();
  std::atomic<std::size_t> taken{0};  // beyond the first range of each thread
  std::atomic<bool> failed{false};
  std::exception_ptr first;
#pragma omp parallel num_threads(threads)
  {
    int const thread = omp_get_thread_num();
    auto const firsts = static_cast<std::size_t>(omp_get_num_threads());
    for (auto range = static_cast<std::size_t>(thread); range < ranges;
         range = firsts + taken.fetch_add(1, std::memory_order_relaxed)) {
      try {
        work(range * grain, std::min(n, (range + 1) * grain), thread);
      } catch (...) {
        if (!failed.exchange(true)) first = std::current_exception();
      }
      // Checked before the next range is taken, because every taken range must run.
      if (failed.load(std::memory_order_relaxed) || ctx.stop.stop_requested()) break;
    }
  }
  if (first) std::rethrow_exception(first);
  ctx.check_stop();
}

}  // namespace rulerank
