#pragma once

#include "core/context.hpp"
#include "core/parallel.hpp"

#include <cstddef>

namespace rulerank::inline v0::knn {

/// Work in one thread up to so many candidates in all lists.
inline constexpr std::size_t candidates_of_one_thread = std::size_t{1} << 13;

/// work(begin, end) for ranges of lists with so many candidates in all: in one thread where they
/// are few, else in all, not in some. OpenMP ends the threads that a team has more than the one
/// before and starts those that it lacks.
template <class Work>
void for_lists(context const& ctx, std::size_t lists, std::size_t candidates, Work const& work) {
  context on = ctx;
  if (candidates <= candidates_of_one_thread) on.threads = 1;
  std::size_t const ranges = 8 * static_cast<std::size_t>(on.thread_count());
  parallel_for(on, lists, (lists + ranges - 1) / ranges,
               [&](std::size_t begin, std::size_t end, int) { work(begin, end); });
}

}  // namespace rulerank::knn
