#pragma once

#include "knn/metric/indexes/structure.hpp"
#include "knn/metric/schedules/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

// Searches whose queries arrive one after the other: for benchmarks and tests, which implement the
// clock (bench/metric_traffic.hpp).
namespace rulerank::inline v0::knn {

/// When queries arrive, and what time it is at each thread of a search. A thread passes its own
/// number. Without a clock all queries wait when the search begins.
class query_clock {
 public:
  virtual ~query_clock() = default;
  /// Queries arrive in their order.
  virtual double arrival(std::size_t query) const = 0;
  virtual double now(std::size_t thread) const = 0;
  /// Waits until `time`, or until `stops()`.
  virtual void wait(std::size_t thread, double time, std::function<bool()> const& stops) = 0;
  /// All threads have met, and the last one came at `time`. No thread runs meanwhile.
  virtual void meet(double time) = 0;
  virtual void computed(std::size_t thread, std::uint64_t evaluations) = 0;
  virtual void answered(std::size_t thread, std::size_t query) = 0;
};

/// The searched structure, the queries, and how far to search.
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

/// Searches an index by radius, and puts the answers together.
rows_in_range search_range_on_clock(context const& ctx, metric_index const& index,
                                    metric_queries const& queries, double radius,
                                    schedule_options const& options, query_clock* clock,
                                    schedule_work& work);

}  // namespace rulerank::knn
