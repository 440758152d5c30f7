#pragma once

#include "knn/metric/schedule.hpp"
#include "knn/metric/structure.hpp"

#include <cstdint>
#include <span>
#include <vector>

// Queries that arrive one after the other, as at a server, for benchmarks and tests
// (bench/metric_traffic.hpp generates arrivals and sums up what was measured).
namespace rulerank::inline v0::knn {

/// When queries come, and what time is. Of counted time a thread's clock goes on by one unit for
/// `unit` distances that it computes, waits for a query or for the other threads of a superstep
/// cost what they last, and nothing else lasts: the same on every machine. It is not for shared and
/// bulk-critical, whose threads meet in the order in which they run.
struct query_traffic {
  /// Of each query, in units of time, ascending; empty: all wait when the search begins.
  std::vector<double> arrival;
  bool counted = true;
  double unit = 1024;  ///< distances; not counted: seconds
};

struct traffic_work : schedule_work {
  double end = 0;                ///< units until the last answer
  std::vector<double> response;  ///< of each query: units from when it came to its answer
  /// [thread][unit]: evaluations in each unit of time, of a traffic alone
  std::vector<std::vector<double>> in_unit;
};

/// What is searched.
struct searched_queries {
  metric_structure const& structure;
  exclusion const& rule;
  metric_queries const& queries;
  double radius = 0;
  std::size_t k = 0;  ///< 0: all within the radius
};

/// Searches by a schedule. Throws `usage_error` for options out of range, for arrivals that are not
/// one a query or not ascending, and for counted traffic of shared and bulk-critical.
traffic_work run_schedule(context const& ctx, searched_queries const& what,
                          schedule_options const& options, query_traffic const& traffic,
                          take_answer const& take);

/// The same of an index by radius, with the answers put together.
rows_in_range search_range_in_traffic(context const& ctx, metric_index const& index,
                                      metric_queries const& queries, double radius,
                                      schedule_options const& options, query_traffic const& traffic,
                                      traffic_work& work);

}  // namespace rulerank::knn
