#pragma once

#include "core/context.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>

#include <omp.h>

#ifndef _OPENMP
#error "without OpenMP the loops of this source would have one thread, and nobody would be told"
#endif

namespace rulerank {

/// Calls `work(begin, end, thread)` over [0, n) in pieces of at most `grain`, handed out in rising
/// order to the context's threads as they come free; `thread` is in [0, thread_count()), for
/// scratch space. A thread's first piece is that of its number: what one loop leaves in its caches,
/// the next finds. Whatever happens, the pieces below one that is worked on are worked on too: it
/// may wait for them. The first exception is thrown again here once all threads have stopped; a
/// stop request becomes `interrupted`. No exception leaves the OpenMP region.
template <class Work>
void parallel_for(context const& ctx, std::size_t n, std::size_t grain, Work&& work) {
  grain = std::max<std::size_t>(grain, 1);
  std::size_t const pieces = (n + grain - 1) / grain;
  int const threads =
      static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(ctx.thread_count()), pieces));
  if (threads <= 1) {
    for (std::size_t begin = 0; begin < n; begin += grain) {
      ctx.check_stop();
      work(begin, std::min(n, begin + grain), 0);
    }
    return;
  }
  ctx.check_stop();
  std::atomic<std::size_t> taken{0};  // beyond the first of each thread
  std::atomic<bool> failed{false};
  std::exception_ptr first;
#pragma omp parallel num_threads(threads)
  {
    int const thread = omp_get_thread_num();
    auto const firsts = static_cast<std::size_t>(omp_get_num_threads());
    for (auto piece = static_cast<std::size_t>(thread); piece < pieces;
         piece = firsts + taken.fetch_add(1, std::memory_order_relaxed)) {
      try {
        work(piece * grain, std::min(n, (piece + 1) * grain), thread);
      } catch (...) {
        if (!failed.exchange(true)) first = std::current_exception();
      }
      // Before the next is taken: what is taken is done.
      if (failed.load(std::memory_order_relaxed) || ctx.stop.stop_requested()) break;
    }
  }
  if (first) std::rethrow_exception(first);
  ctx.check_stop();
}

}  // namespace rulerank
