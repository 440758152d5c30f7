#pragma once

#include "core/for_each_device.hpp"
#include "core/per_device.hpp"
#include "knn/metric/cuda_block.cuh"
#include "knn/metric/device_layout.cuh"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>

namespace rulerank::knn {

/// A layout on devices, and the searches that share its queries out among them.
class devices_with_layout {
 public:
  explicit devices_with_layout(gpu_build const& from)
      : layout(from.layout), devices_(from.ctx.devices), copies_(devices_), pool_(devices_) {
    for_each_device(devices_, [&](std::size_t i) { copies_.make(i, layout); });
  }

  gpu_layout const& layout;

  /// run(i, work on the device, its share of the queries, what they find, what it took) on each
  /// device.
  template <class Run>
  void share_out(std::size_t queries, gpu_candidates& found, metric_gpu_work& work,
                 Run const& run) const {
    std::vector<metric_gpu_work> of_device(devices_.size());
    for_each_device(devices_, [&](std::size_t i) {
      share const mine = share_of(queries, devices_.size(), i);
      if (mine.size() == 0) return;
      auto taken = pool_.take(i);
      gpu_candidates some(mine.size());
      run(i, *taken, mine, some, of_device[i]);
      std::move(some.begin(), some.end(), found.begin() + static_cast<std::ptrdiff_t>(mine.begin));
    });
    double slowest = 0;
    for (metric_gpu_work& one : of_device) {
      slowest = std::max(slowest, std::exchange(one.kernel_s, 0));
      work += one;
    }
    work.kernel_s += slowest;
  }
  /// The same on the first device alone, for what is done once.
  template <class Run>
  void on_first(Run const& run) const {
    for_each_device(std::span(devices_).first(1), [&](std::size_t i) {
      auto taken = pool_.take(i);
      run(i, *taken);
    });
  }
  placed_arrays arrays(std::size_t i) const { return copies_[i].arrays(); }

 private:
  std::vector<int> devices_;
  per_device<device_layout> copies_;
  mutable device_pool<device_work> pool_;
};

/// The numbers of a share of the queries.
inline std::vector<std::uint32_t> moved(std::span<std::uint32_t const> numbers, std::size_t by) {
  std::vector<std::uint32_t> all(numbers.begin(), numbers.end());
  for (std::uint32_t& one : all) one += static_cast<std::uint32_t>(by);
  return all;
}

/// Shared memory of a block at most: so that several blocks stay on a multiprocessor.
inline constexpr std::size_t most_own_bytes = std::size_t{32} << 10;
inline constexpr std::uint32_t threads_a_query = 128;

template <class Objects, class Candidates>
__global__ __launch_bounds__(threads_a_query) void search_queries(
    __grid_constant__ Objects const objects, __grid_constant__ Candidates const candidates,
    __grid_constant__ exclusion const rule, std::uint32_t const* ids,
    __grid_constant__ block_job const job, std::uint32_t const* which, std::uint32_t queries,
    __grid_constant__ block_plan const plan, std::byte* memory,
    __grid_constant__ found_lists const lists) {
  extern __shared__ __align__(16) std::byte own[];
  block_space const space = plan.at(own, memory + blockIdx.x * plan.device_bytes);
  for (std::uint32_t list = blockIdx.x; list < queries; list += gridDim.x)
    search_in_block(cuda_block(), objects, candidates, rule, ids, job, which[list], list, space,
                    lists);
}

/// One launch; `which` are numbers among the placed queries.
launch_result launch_blocks(gpu_layout const& layout, placed_arrays const& arrays,
                            placed_queries const& queries, device_work& on, block_job const& job,
                            std::span<std::uint32_t const> which, std::uint32_t capacity,
                            double& kernel_s);

}  // namespace rulerank::knn
