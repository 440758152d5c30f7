#pragma once

#include "core/context.hpp"
#include "knn/metric/candidate_loops.hpp"
#include "knn/metric/gpu/gpu_engine.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

// Divides a search into launches. The caller runs them on a device, or in tests on the host.
namespace rulerank::inline v0::knn {

/// The results of a launch; the caller owns the memory, which is valid until the next launch.
struct launch_result {
  std::span<std::uint32_t const> count;  ///< [lists]; above the capacity: the list is incomplete
  std::span<std::uint64_t const> begin;  ///< [lists] the first entry of each complete list
  std::span<double const> value;         ///< [entries]
  std::span<std::uint32_t const> id;     ///< [entries]
  std::uint64_t evaluations = 0;
};

struct launch_limits {
  std::size_t entries = std::size_t{1} << 25;  ///< most entries of all lists of a launch
  std::uint32_t capacity = 256;                ///< expected objects within a radius
};

/// Returns the number of devices that divide the queries: as many as get at least `least` queries
/// each, at least one.
inline std::size_t devices_for(std::size_t queries, std::size_t least, std::size_t devices) {
  return std::clamp<std::size_t>(queries / std::max<std::size_t>(least, 1), 1, devices);
}
/// The fewest queries per device if each block does one. With fewer queries, blocks wait for memory
/// rather than for each other, and another device saves no time.
inline constexpr std::size_t least_blocks_of_device = 512;
/// The fewest queries per device if all pairs are compared: as many as take about half a
/// millisecond.
inline std::size_t least_queries_of_device(gpu_layout const& layout) {
  return (std::size_t{1} << 25) / std::max(layout.objects, 1U);
}

/// Searches for all queries: launch(attempt, numbers, capacity) returns a `launch_result` for the
/// queries with these numbers. Queries with incomplete lists go to the next attempt, for ranges
/// with the needed capacity, for the k nearest again with a capacity of k.
template <class Launch>
void search_by_launches(context const& ctx, gpu_layout const& layout, gpu_request const& request,
                        std::size_t queries, launch_limits const& limits, Launch const& launch,
                        gpu_candidates& found, metric_gpu_work& work) {
  std::vector<std::uint32_t> pending(queries);
  std::iota(pending.begin(), pending.end(), 0U);
  std::uint32_t capacity = request.k > 0 ? static_cast<std::uint32_t>(request.k)
                                         : std::min(limits.capacity, layout.objects);
  for (std::uint32_t attempt = 0; !pending.empty(); ++attempt) {
    std::vector<std::uint32_t> again;
    std::uint32_t longest = capacity;
    std::size_t const together = std::max<std::size_t>(limits.entries / capacity, 1);
    for (std::size_t first = 0; first < pending.size(); first += together) {
      ctx.check_stop();
      auto const some = std::span<std::uint32_t const>(pending).subspan(
          first, std::min(together, pending.size() - first));
      launch_result const done = launch(attempt, some, capacity);
      work.evaluations += done.evaluations;
      ++work.launches;
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (is_whole(done.count[i], capacity)) continue;
        again.push_back(some[i]);
        longest = std::max(longest, done.count[i]);
      }
      for_lists(ctx, some.size(), done.value.size(), [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
          if (!is_whole(done.count[i], capacity)) continue;
          auto& list = found[some[i]];
          list.resize(done.count[i]);
          for (std::size_t j = 0; j < list.size(); ++j)
            list[j] = {done.value[done.begin[i] + j], done.id[done.begin[i] + j]};
        }
      });
    }
    pending.swap(again);
    if (request.k == 0) capacity = longest;
  }
}

}  // namespace rulerank::knn
