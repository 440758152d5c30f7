// The engines with one query per block (knn/metric/published/block_search.hpp), on GPUs.

#include "knn/metric/published/blocks_cuda.cuh"

#include <map>
#include <mutex>

namespace rulerank::inline v0::knn {

namespace {

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

}  // namespace

launch_result launch_blocks(block_layout const& layout, placed_arrays const& arrays,
                            placed_tables const& tables, placed_queries const& queries,
                            device_work& on, block_job const& job,
                            std::span<std::uint32_t const> which, std::uint32_t capacity,
                            double& kernel_s) {
  std::uint32_t const* const numbers = on.place_numbers(which);
  found_lists const lists = on.lists(which.size(), capacity);
  auto const count = static_cast<std::uint32_t>(which.size());
  with_objects(layout, arrays, queries, [&](auto const& objects) {
    with_candidates(layout, tables, [&](auto const& candidates) {
      using objects_type = std::remove_cvref_t<decltype(objects)>;
      using candidates_type = std::remove_cvref_t<decltype(candidates)>;
      auto* const kernel = search_queries<objects_type, candidates_type>;
      block_plan const plan(objects, candidates, job.k, threads_a_query, most_own_bytes);
      resident_work const place = place_blocks(kernel, plan, on, count);
      on.begin_timing();
      kernel<<<place.blocks, threads_a_query, plan.own_bytes, on.raw()>>>(
          objects, candidates, layout.rule, arrays.ids, job, numbers, count, plan, place.memory,
          lists);
      check_launch();
      on.end_timing();
    });
  });
  launch_result done = on.fetch(which.size(), capacity);
  kernel_s += on.seconds();
  return done;
}

namespace {

/// The tables of a layout on the device that was current at construction.
class device_tables {
 public:
  explicit device_tables(block_layout const& from)
      : radius_(copy_to_device(from.radius)),
        cluster_of_(copy_to_device(from.cluster_of)),
        table_(copy_to_device(from.table)) {}
  placed_tables tables() const { return {radius_.data(), cluster_of_.data(), table_.data()}; }

 private:
  device_buffer<double> radius_;
  device_buffer<std::uint32_t> cluster_of_;
  device_buffer<double> table_;
};

class blocks_on_gpus final : public metric_gpu_searcher {
  auto launcher(gpu_request const& request, growing_radius const& radius) const {
    return [this, request, radius](std::size_t i, device_work& on, placed_queries const& placed,
                                   std::uint32_t attempt, std::vector<std::uint32_t> const& which,
                                   std::uint32_t capacity, metric_gpu_work& work) {
      launch_result const done =
          launch_blocks(layout_, devices_.arrays(i), tables_[i].tables(), placed, on,
                        job_of(layout_, request, radius, attempt), which, capacity, work.kernel_s);
      count_pending(request, done, work);
      return done;
    };
  }

 public:
  explicit blocks_on_gpus(gpu_build const& from)
      : layout_(lay_out_blocks(from.index, from.engine)),
        devices_(from.ctx, layout_),
        tables_(from.ctx.devices) {
    for_each_device(from.ctx.devices, [&](std::size_t i) { tables_.make(i, layout_); });
  }

  gpu_layout const& layout() const override { return layout_; }
  void search(context const& ctx, gpu_queries const& queries, gpu_request const& request,
              gpu_candidates& found, metric_gpu_work& work) const override {
    growing_radius radius;
    if (request.k > 0 && layout_.engine != metric_engine::lc_shrinking)
      radius = radius_for(ctx, request.k);
    devices_.search({ctx, queries, request, {}, least_blocks_of_device}, found, work,
                    launcher(request, radius));
  }

 private:
  /// Computed once for each k.
  growing_radius radius_for(context const& ctx, std::size_t k) const {
    std::lock_guard const lock(mutex_);
    auto const [at, is_new] = radii_.try_emplace(k);
    if (!is_new) return at->second;
    try {
      at->second = trained_radius(
          layout_, k,
          [&](gpu_queries const& training, gpu_request const& request,
              growing_radius const& radius) {
            return devices_.search_on_first({ctx, training, request}, launcher(request, radius));
          });
    } catch (...) {
      radii_.erase(at);
      throw;
    }
    return at->second;
  }

  block_layout layout_;
  devices_with_layout devices_;
  per_device<device_tables> tables_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, growing_radius> radii_;
};

}  // namespace

std::unique_ptr<metric_gpu_searcher> make_blocks_on_gpus(gpu_build const& from) {
  return std::make_unique<blocks_on_gpus>(from);
}

}  // namespace rulerank::knn
