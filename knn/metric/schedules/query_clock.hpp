#pragma once

#include "knn/metric/indexes/structure.hpp"
#include "knn/metric/schedules/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

// Searches whose queries arrive one after the other, for benchmarks and tests, which implement the
// clock (bench/engines/metric_traffic.hpp).
namespace rulerank::inline v0::knn {

/// The arrival times of queries, and the current time of each thread of a search. A thread passes
/// its own number. Without a clock, all queries have arrived when the search begins.
class query_clock {
 public:
  virtual ~query_clock() = default;
  /// Queries arrive in their order.
  virtual double arrival(std::size_t query) const = 0;
  virtual double now(std::size_t thread) const = 0;
  /// Waits until `time`, or until `stops()`.
  virtual void wait(std::size_t thread, double time, std::function<bool()> const& stops) = 0;
  /// All threads are at a barrier, which the last one reached at `time`. No thread runs during the
  /// call.
  virtual void meet(double time) = 0;
  virtual void computed(std::size_t thread, std::uint64_t evaluations) = 0;
  virtual void answered(std::size_t thread, std::size_t query) = 0;
};

/// The searched structure, the queries, and the size of the search.
struct searched_queries {
  metric_structure const& structure;
  exclusion const& rule;
  metric_queries const& queries;
  double radius = 0;
  std::size_t k = 0;  ///< 0: all within the radius
};

/// Searches by a schedule. `clock` may be null. Throws `usage_error` for options out of range.
schedule_work run_schedule(context const& ctx, searched_queries const& what,
                           schedule_options const& options, query_clock* clock,
                           take_answer const& take);

/// Searches an index by radius and returns the results in query order.
rows_in_range search_range_on_clock(context const& ctx, metric_index const& index,
                                    metric_queries const& queries, double radius,
                                    schedule_options const& options, query_clock* clock,
                                    schedule_work& work);

}  // namespace rulerank::knn
