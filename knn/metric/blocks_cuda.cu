// The published engines in which a block does a query (knn/metric/block_search.hpp), on GPUs.

#include "knn/metric/blocks_cuda.cuh"

#include <map>

namespace rulerank::inline v0::knn {

launch_result launch_blocks(gpu_layout const& layout, placed_arrays const& arrays,
                            placed_queries const& queries, device_work& on, block_job const& job,
                            std::span<std::uint32_t const> which, std::uint32_t capacity,
                            double& kernel_s) {
  std::uint32_t const* const numbers = on.place_numbers(which);
  found_lists const lists = on.lists(which.size(), capacity);
  auto const count = static_cast<std::uint32_t>(which.size());
  with_objects(layout, arrays, queries, [&](auto const& objects) {
    with_candidates(layout, arrays, [&](auto const& candidates) {
      using objects_type = std::remove_cvref_t<decltype(objects)>;
      using candidates_type = std::remove_cvref_t<decltype(candidates)>;
      auto* const kernel = search_queries<objects_type, candidates_type>;
      block_plan const plan(objects, candidates, job.k, threads_a_query, most_own_bytes);
      std::size_t blocks =
          std::min(count, resident_blocks(kernel, threads_a_query, plan.own_bytes));
      if (plan.device_bytes > 0)
        blocks = std::clamp<std::size_t>(memory_budget() / 2 / plan.device_bytes, 1, blocks);
      std::byte* const memory =
          on.block_memory(std::max<std::size_t>(blocks * plan.device_bytes, 1));
      on.begin_timing();
      kernel<<<static_cast<std::uint32_t>(blocks), threads_a_query, plan.own_bytes, on.raw()>>>(
          objects, candidates, layout.rule, arrays.ids, job, numbers, count, plan, memory, lists);
      check_launch();
      on.end_timing();
    });
  });
  launch_result done = on.fetch(which.size(), capacity);
  kernel_s += on.seconds();
  return done;
}

namespace {

struct launch_published {
  devices_with_layout const& devices;
  launch_result operator()(std::size_t i, device_work& on, placed_queries const& placed,
                           block_job const& job, std::vector<std::uint32_t> const& which,
                           std::uint32_t capacity, double& kernel_s) const {
    return launch_blocks(devices.layout, devices.arrays(i), placed, on, job, which, capacity,
                         kernel_s);
  }
};

class blocks_on_gpus final : public metric_gpu_searcher {
 public:
  explicit blocks_on_gpus(gpu_build const& from) : devices_(from) {}

  void search(context const& ctx, gpu_queries const& queries, gpu_request const& request,
              gpu_candidates& found, metric_gpu_work& work) const override {
    growing_radius radius;
    if (request.k > 0 && devices_.layout.engine != metric_engine::lc_shrinking)
      radius = radius_for(ctx, request.k);
    devices_.search({ctx, queries, request, radius, {}, least_blocks_of_device}, found, work,
                    launch_published{devices_});
  }

 private:
  /// Is found once for each k.
  growing_radius radius_for(context const& ctx, std::size_t k) const {
    std::lock_guard const lock(mutex_);
    auto const [at, is_new] = radii_.try_emplace(k);
    if (!is_new) return at->second;
    try {
      at->second =
          trained_radius(devices_.layout, k,
                         [&](gpu_queries const& training, gpu_request const& request,
                             growing_radius const& radius) {
                           return devices_.search_on_first({ctx, training, request, radius},
                                                           launch_published{devices_});
                         });
    } catch (...) {
      radii_.erase(at);
      throw;
    }
    return at->second;
  }

  devices_with_layout devices_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, growing_radius> radii_;
};

}  // namespace

std::unique_ptr<metric_gpu_searcher> make_blocks_on_gpus(gpu_build const& from) {
  return std::make_unique<blocks_on_gpus>(from);
}

}  // namespace rulerank::knn
