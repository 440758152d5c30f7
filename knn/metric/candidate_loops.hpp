#pragma once

#include "core/context.hpp"
#include "core/parallel.hpp"

#include <cstddef>

namespace rulerank::inline v0::knn {

/// Most candidates in all lists together for which one thread does the work.
inline constexpr std::size_t candidates_of_one_thread = std::size_t{1} << 13;

/// Calls work(begin, end) for ranges of lists with `candidates` candidates in all: in one thread if
/// there are few, otherwise in all threads, never in some, because OpenMP ends and restarts threads
/// when the size of the team changes.
template <class Work>
void for_lists(context const& ctx, std::size_t lists, std::size_t candidates, Work const& work) {
  context on = ctx;
  if (candidates <= candidates_of_one_thread) on.threads = 1;
  std::size_t const ranges = 8 * static_cast<std::size_t>(on.thread_count());
  parallel_for(on, lists, (lists + ranges - 1) / ranges,
               [&](std::size_t begin, std::size_t end, int) { work(begin, end); });
}

}  // namespace rulerank::knn
