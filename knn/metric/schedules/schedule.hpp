#pragma once
// How the queries of a search in a metric space are assigned to threads: Barrientos 2011, chapter
// 3.

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "knn/metric/search.hpp"
#include "knn/neighbours.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

// Threads: any thread may call these functions at any time, also with the same index and queries.
namespace rulerank::inline v0::knn {

/// How threads divide a search. Query q belongs to thread q % threads, as the source's broker deals
/// queries in turn; with `shared`, a free thread takes the next query. A query consists of tasks (a
/// node of a tree, a cluster, some rows of a table), which generate further tasks.
enum class metric_schedule : std::uint8_t {
  automatic,  ///< shared
  shared,
  /// Each thread completes its queries one after the other, without waiting for other threads
  /// (Algorithm 8).
  local,
  /// As local, in supersteps: a barrier for all threads after `superstep` distances (section
  /// 3.2.4).
  bulk_local,
  /// Generated tasks go to all threads in turn, and are exchanged between two supersteps (Algorithm
  /// 9).
  bulk_circular,
  /// As bulk-circular, but tasks are exchanged in a critical region, without barriers (Algorithm
  /// 10).
  bulk_critical,
  /// bulk-circular; local while more than `waiting` queries per thread wait (section 3.3.1).
  hybrid,
};

struct schedule_options {
  metric_schedule schedule = metric_schedule::automatic;
  /// Bulk schedules and hybrid: distances of a thread in a superstep, at least 1; a started task is
  /// completed (R of the source, which gives no value).
  std::size_t superstep = 1024;
  /// hybrid: C_max of the source, which gives no value.
  std::size_t waiting = 1;
};

/// The work of the threads of a search. Further searches add to it. For searches by radius, the sum
/// of evaluations equals that of `metric_index::search_range` for every schedule and number of
/// threads. For the k nearest it is larger, because a thread may not know what others have found.
/// All numbers are reproducible for a given number of threads, except those of shared and
/// bulk-critical, which depend on the order in which threads run.
struct schedule_work {
  std::vector<std::uint64_t> evaluations;  ///< [threads] distances computed, or stopped at a bound
  std::uint64_t supersteps = 0;            ///< bulk schedules and hybrid: barriers of all threads
  std::uint64_t messages = 0;              ///< tasks passed from one thread to another
  std::uint64_t critical = 0;  ///< bulk-critical: entries of a thread into the critical region

  std::uint64_t evaluations_of_all() const;
  /// E of section 3.3: the mean divided by the maximum of the threads' evaluations, in (0, 1]; 1
  /// without work.
  double efficiency() const;
};

using metric_schedule_info = engine_info<metric_schedule>;
/// Lists all schedules.
std::span<metric_schedule_info const> metric_schedules();
/// Returns "auto" for `automatic`.
std::string_view name_of(metric_schedule schedule);
/// Throws `usage_error` that lists the names.
metric_schedule metric_schedule_from(std::string_view name);

/// Returns the result of `index.search`, bit for bit, with the context's threads under a schedule.
/// Throws as `index.search`, and `usage_error` for a superstep of 0. Adds its work to `*work`
/// unless it is null.
neighbours search_scheduled(context const& ctx, metric_index const& index,
                            metric_queries const& queries, std::size_t k,
                            schedule_options const& options, schedule_work* work = nullptr);
/// Returns the result of `index.search_range`.
rows_in_range search_range_scheduled(context const& ctx, metric_index const& index,
                                     metric_queries const& queries, double radius,
                                     schedule_options const& options,
                                     schedule_work* work = nullptr);

/// The database divided among several indexes, each of which answers every query: the local
/// distribution of section 3.3.2, with one index per thread. Returns the same results as one
/// `metric_index` of all objects, with more distances, because each part selects its own centres
/// and pivots.
class split_metric_index {
 public:
  /// Assigns object i to part i % parts. Throws as `metric_index`, and `usage_error` for 0 parts.
  split_metric_index(context const& ctx, std::shared_ptr<metric_space const> space,
                     metric_index_options const& options, std::size_t parts);
  ~split_metric_index();
  split_metric_index(split_metric_index&&) noexcept;

  std::size_t size() const noexcept;
  std::size_t parts() const noexcept;
  metric_index_type type() const noexcept;
  std::uint64_t build_evaluations() const noexcept;

  /// As `metric_index::search` and `search_range`, for queries of the whole space. `work`:
  /// evaluations are counted per part, and do not depend on the number of threads.
  neighbours search(context const& ctx, metric_queries const& queries, std::size_t k,
                    schedule_work* work = nullptr) const;
  rows_in_range search_range(context const& ctx, metric_queries const& queries, double radius,
                             schedule_work* work = nullptr) const;

 private:
  struct part;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<part const>> parts_;
};

}  // namespace rulerank::knn
