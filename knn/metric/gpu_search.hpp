#pragma once
// Search among the objects of a metric space on GPUs, exactly: what an index on the CPU finds.

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "datasets/vectors.hpp"
#include "knn/metric/search.hpp"
#include "knn/neighbours.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Threads: functions may be called from any number of threads at once; several threads may search
// an object at once.
namespace rulerank::inline v0::knn {

/// How queries are searched: by the index itself on the CPU, or on GPUs. All engines find the same.
/// `pairs` and `brute_sort` read an index of type brute, `lc_growing` and `lc_shrinking` one of
/// type lc, `sss_objects` and `sss_pivots` one of type sss. All GPU engines but `pairs` are
/// published ones.
enum class metric_engine : std::uint8_t {
  automatic,  ///< on GPUs the first engine that reads the index's type, `pairs` for type brute
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

/// The work of a search on GPUs. Of lc-shrinking evaluations differ from run to run.
struct metric_gpu_work {
  std::uint64_t evaluations = 0;  ///< pairs of a query and an object or pivot that were compared
  std::uint64_t launches = 0;     ///< kernels that search, of all devices
  std::uint64_t devices = 0;      ///< that shared out the queries of a call; the most of all calls
  double kernel_s = 0;            ///< their seconds, of the slowest device in each call
  /// For types lc and sss: queries whose first radius has too few objects (`pending`).
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
/// The engines of this build.
std::span<metric_engine_info const> metric_engines();
/// "auto" for `automatic`.
std::string_view name_of(metric_engine engine);
/// Throws `usage_error` that lists the names.
metric_engine metric_engine_from(std::string_view name);
/// The type of index that an engine reads; `automatic` where it is not one alone, and for an engine
/// that this build does not have.
metric_index_type index_type_of(metric_engine engine);
/// Whether GPUs search objects under a metric, with an index of a type (`automatic`: of some type).
bool is_on_gpus(metric_distance which, metric_index_type type);

/// A copy of an index on each GPU of a context; queries are shared out among as many of them as
/// have enough to do. Objects are vectors under l1, l2 or linf, or words.
class metric_gpu_index {
 public:
  /// Throws `device_error` where the context has no devices or they have no space, and for a build
  /// without CUDA; `usage_error` for another space or type of index than the engine searches.
  /// Nothing is kept of `index`.
  metric_gpu_index(context const& ctx, metric_index const& index,
                   metric_gpu_options const& options = {});
  ~metric_gpu_index();
  metric_gpu_index(metric_gpu_index&&) noexcept;

  std::size_t size() const noexcept;
  metric_engine engine() const noexcept;

  /// The k nearest objects of each query, as `metric_index::search` gives them, with its errors;
  /// the devices are those that the index was made for. Queries are of a space of the same metric.
  /// Throws `usage_error` for queries that are not of the index's objects. `work`: where the work
  /// is added up, or null.
  neighbours search(context const& ctx, metric_queries const& queries, std::size_t k,
                    metric_gpu_work* work = nullptr) const;
  /// The objects at most `radius` away, as `metric_index::search_range` gives them.
  rows_in_range search_range(context const& ctx, metric_queries const& queries, double radius,
                             metric_gpu_work* work = nullptr) const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace rulerank::knn
