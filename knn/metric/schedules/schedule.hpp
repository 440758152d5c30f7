#pragma once
// How the queries of a search in a metric space are given to threads: Barrientos 2011, chapter 3.

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

// Threads: functions may be called from any number of threads at once, with the same index and
// queries too.
namespace rulerank::inline v0::knn {

/// Who does what of a search. Query q is thread q % threads', which the source's broker deals in
/// turn; but of `shared`, where the next query is for the thread that is free. A query is done in
/// tasks (a node of a tree, a cluster, some rows of a table), which generate further tasks.
enum class metric_schedule : std::uint8_t {
  automatic,  ///< shared
  shared,
  /// Each thread does its queries whole, one after the other, and meets no other (Algorithm 8).
  local,
  /// As local, in supersteps: all threads meet after `superstep` distances (section 3.2.4).
  bulk_local,
  /// Parts that are generated go to all threads in turn, and change hands between two supersteps
  /// (Algorithm 9).
  bulk_circular,
  /// As bulk-circular, but tasks change hands in a critical region and threads do not meet
  /// (Algorithm 10).
  bulk_critical,
  /// bulk-circular; local while more queries wait than `waiting` a thread (section 3.3.1).
  hybrid,
};

struct schedule_options {
  metric_schedule schedule = metric_schedule::automatic;
  /// Bulk ones and hybrid: distances of a thread in a superstep, at least 1; a task that was begun
  /// is ended (R of the source, which gives no value).
  std::size_t superstep = 1024;
  /// hybrid: C_max of the source, which gives no value.
  std::size_t waiting = 1;
};

/// What the threads of a search did. Further searches add to it. Of searches by radius the sum of
/// evaluations is that of `metric_index::search_range`, whatever the schedule and threads; of k
/// nearest it is larger where a thread does not know what others have found. All numbers repeat on
/// a given number of threads, but those of shared and bulk-critical, whose threads meet in the
/// order in which they run.
struct schedule_work {
  std::vector<std::uint64_t> evaluations;  ///< of each thread: distances computed, or cut off
  std::uint64_t supersteps = 0;            ///< bulk ones and hybrid: how often all threads met
  std::uint64_t messages = 0;              ///< tasks that one thread left to another
  std::uint64_t critical = 0;              ///< bulk-critical: how often a thread was in the region

  std::uint64_t evaluations_of_all() const;
  /// E of section 3.3: the mean over the largest of the threads' evaluations, in (0, 1]; 1 of no
  /// work.
  double efficiency() const;
};

using metric_schedule_info = engine_info<metric_schedule>;
/// All schedules.
std::span<metric_schedule_info const> metric_schedules();
/// "auto" for `automatic`.
std::string_view name_of(metric_schedule schedule);
/// Throws `usage_error` that lists the names.
metric_schedule metric_schedule_from(std::string_view name);

/// What `index.search` finds, to the bit, by a schedule; the threads are the context's. Throws as
/// that does, and `usage_error` for a superstep of 0. `work`: where the work is added up, or null.
neighbours search_scheduled(context const& ctx, metric_index const& index,
                            metric_queries const& queries, std::size_t k,
                            schedule_options const& options, schedule_work* work = nullptr);
/// What `index.search_range` finds.
rows_in_range search_range_scheduled(context const& ctx, metric_index const& index,
                                     metric_queries const& queries, double radius,
                                     schedule_options const& options,
                                     schedule_work* work = nullptr);

/// The database dealt to several indexes, each of which answers every query: the local distribution
/// of section 3.3.2, with an index for each thread. Finds what one `metric_index` of the objects
/// finds, with more distances: centres and pivots are of a part alone.
class split_metric_index {
 public:
  /// Object i goes to part i % parts. Throws as `metric_index` does, and `usage_error` for no
  /// parts.
  split_metric_index(context const& ctx, std::shared_ptr<metric_space const> space,
                     metric_index_options const& options, std::size_t parts);
  ~split_metric_index();
  split_metric_index(split_metric_index&&) noexcept;

  std::size_t size() const noexcept;
  std::size_t parts() const noexcept;
  metric_index_type type() const noexcept;
  std::uint64_t build_evaluations() const noexcept;

  /// As `metric_index::search` and `search_range`, of queries of the whole space. `work`:
  /// evaluations are of each part, the same for any number of threads.
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
