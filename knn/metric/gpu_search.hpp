#pragma once
// Exact search among the objects of a metric space on GPUs, with the same results as an index on
// the CPU.

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "datasets/vectors.hpp"
#include "knn/metric/search.hpp"
#include "knn/neighbours.hpp"
#include "knn/searcher.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Threads: any thread may call these functions at any time; several threads may search an object at
// once.
namespace rulerank::inline v0::knn {

/// The kind of search: the index itself on the CPU, or an engine on GPUs. All engines return the
/// same results. `pairs` and `brute_sort` read an index of type brute, `lc_growing` and
/// `lc_shrinking` of type lc, `sss_objects` and `sss_pivots` of type sss. All GPU engines except
/// `pairs` are published ones.
enum class metric_engine : std::uint8_t {
  automatic,  ///< on GPUs the first engine that reads the index's type; `pairs` for type brute
  index,      ///< `metric_index::search`
  pairs,
  brute_sort,
  lc_growing,
  lc_shrinking,
  sss_objects,
  sss_pivots,
};

struct metric_gpu_options {
  metric_engine engine = metric_engine::automatic;
};

/// Counts of a search's work on GPUs.
struct metric_gpu_work {
  std::uint64_t evaluations = 0;  ///< compared pairs of a query and an object or pivot
  std::uint64_t launches = 0;     ///< search kernels on all devices
  /// Devices that divided the queries of a call; the maximum over calls.
  std::uint64_t devices = 0;
  double kernel_s = 0;  ///< seconds in kernels, on the slowest device of each call
  /// Counts of an engine's own, by name; `pairs` has none.
  engine_counts counts{};
  metric_gpu_work& operator+=(metric_gpu_work const& more) {
    evaluations += more.evaluations;
    launches += more.launches;
    devices = std::max(devices, more.devices);
    kernel_s += more.kernel_s;
    add(counts, more.counts);
    return *this;
  }
};

using metric_engine_info = engine_info<metric_engine>;
/// Lists the engines of this build.
std::span<metric_engine_info const> metric_engines();
/// Returns "auto" for `automatic`.
std::string_view name_of(metric_engine engine);
/// Throws `usage_error` that lists the names.
metric_engine metric_engine_from(std::string_view name);
/// Returns the type of index that an engine reads; `automatic` if it reads several, or if this
/// build lacks the engine.
metric_index_type index_type_of(metric_engine engine);
/// Returns whether GPUs can search objects under a metric, with an index of this type (`automatic`:
/// of any type).
bool is_on_gpus(metric_distance which, metric_index_type type);

/// A copy of an index on each GPU of a context. As many GPUs divide the queries as have enough
/// work. Objects are vectors under l1, l2 or linf, or words.
class metric_gpu_index {
 public:
  /// Throws `device_error` if the context has no devices, if they have too little memory, and in a
  /// build without CUDA. Throws `usage_error` if the engine does not search this space or type of
  /// index. Keeps no reference to `index`.
  metric_gpu_index(context const& ctx, metric_index const& index,
                   metric_gpu_options const& options = {});
  ~metric_gpu_index();
  metric_gpu_index(metric_gpu_index&&) noexcept;

  std::size_t size() const noexcept;
  metric_engine engine() const noexcept;

  /// Returns the k nearest objects of each query as `metric_index::search`, with its errors, on the
  /// devices that the index was made for. Queries must be of a space of the same metric. Throws
  /// `usage_error` for queries of another kind than the index's objects. Adds its work to `*work`
  /// unless it is null.
  neighbours search(context const& ctx, metric_queries const& queries, std::size_t k,
                    metric_gpu_work* work = nullptr) const;
  /// Returns the objects within `radius` as `metric_index::search_range`.
  rows_in_range search_range(context const& ctx, metric_queries const& queries, double radius,
                             metric_gpu_work* work = nullptr) const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

/// Makes a searcher for queries among the objects of an index on GPUs. The id of an object is its
/// number. Adds its work to `*work` unless it is null; several threads may use the searcher at once
/// only if it is null.
std::unique_ptr<searcher> make_searcher(std::shared_ptr<metric_gpu_index const> index,
                                        std::shared_ptr<metric_queries const> queries,
                                        metric_gpu_work* work = nullptr);

}  // namespace rulerank::knn
