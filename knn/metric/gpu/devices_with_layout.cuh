#pragma once

#include "core/for_each_device.hpp"
#include "core/per_device.hpp"
#include "knn/metric/gpu/device_layout.cuh"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rulerank::inline v0::knn {

/// A search, and the sizes of its launches.
struct search_task {
  context const& ctx;
  gpu_queries const& queries;
  gpu_request const& request;
  launch_limits limits = {};
  std::size_t least = 1;  ///< fewest queries per device; fewer are not divided
};

/// A layout on devices, and searches that divide their queries among them.
class devices_with_layout {
 public:
  /// The layout must outlive it.
  devices_with_layout(context const& ctx, gpu_layout const& of)
      : layout(of), devices_(ctx.devices), threads_(devices_), copies_(devices_), pool_(devices_) {
    for_each_device(devices_, [&](std::size_t i) { copies_.make(i, layout); });
  }

  gpu_layout const& layout;

  /// Calls launch(i, work on the device, placed queries, attempt, numbers of queries, capacity,
  /// work to add to) on each device for its share of the queries; it returns a `launch_result`.
  template <class Launch>
  void search(search_task const& task, gpu_candidates& found, metric_gpu_work& work,
              Launch const& launch) const {
    std::size_t const busy = devices_for(task.queries.count, task.least, devices_.size());
    std::vector<metric_gpu_work> of_device(busy);
    threads_.run(busy, [&](std::size_t i) {
      index_range const mine = even_range(task.queries.count, busy, i);
      auto taken = pool_.take(i);
      gpu_candidates some = search_share(task, i, *taken, mine, of_device[i], launch);
      std::move(some.begin(), some.end(), found.begin() + static_cast<std::ptrdiff_t>(mine.begin));
    });
    double slowest = 0;
    for (metric_gpu_work& one : of_device) {
      slowest = std::max(slowest, std::exchange(one.kernel_s, 0));
      work += one;
    }
    work.kernel_s += slowest;
    work.devices = std::max<std::uint64_t>(work.devices, busy);
  }
  /// Searches on the first device only.
  template <class Launch>
  gpu_candidates search_on_first(search_task const& task, Launch const& launch) const {
    gpu_candidates found;
    on_first([&](std::size_t i, device_work& on) {
      metric_gpu_work ignored;
      found = search_share(task, i, on, {0, task.queries.count}, ignored, launch);
    });
    return found;
  }
  /// Calls run(0, work on the device) on the first device.
  template <class Run>
  void on_first(Run const& run) const {
    threads_.run(1, [&](std::size_t i) {
      auto taken = pool_.take(i);
      run(i, *taken);
    });
  }
  placed_arrays arrays(std::size_t i) const { return copies_[i].arrays(); }

 private:
  template <class Launch>
  gpu_candidates search_share(search_task const& task, std::size_t i, device_work& on,
                              index_range const& mine, metric_gpu_work& work,
                              Launch const& launch) const {
    placed_queries const placed = on.place(task.queries);
    gpu_candidates found(mine.size());
    search_by_launches(
        task.ctx, layout, task.request, mine.size(), task.limits,
        [&](std::uint32_t attempt, std::span<std::uint32_t const> some, std::uint32_t capacity) {
          std::vector<std::uint32_t> numbers(some.begin(), some.end());
          for (std::uint32_t& one : numbers) one += static_cast<std::uint32_t>(mine.begin);
          return launch(i, on, placed, attempt, numbers, capacity, work);
        },
        found, work);
    return found;
  }

  std::vector<int> devices_;
  mutable shared_device_threads threads_;
  per_device<device_layout> copies_;
  mutable device_pool<device_work> pool_;
};

}  // namespace rulerank::knn
