#pragma once

#include "knn/metric/schedules/query_clock.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Simulated traffic of Barrientos 2011, section 3.3: arrival times of queries, and the measures of
// a schedule. Any thread may call these functions at any time.
namespace rulerank::inline v0::bench {

/// The arrival times of queries, and the kind of time. Simulated time is the same on every machine:
/// a thread's clock advances by one unit per `unit` distances that it computes, and while it waits
/// for a query or for the other threads of a superstep; everything else takes no time. The
/// schedules shared and bulk-critical have no simulated time, because their results depend on the
/// order in which threads run.
struct query_traffic {
  std::vector<double> arrival;  ///< for each query, in units of time, ascending
  bool counted = true;
  double unit = 1024;  ///< distances; for wall time: seconds
};

struct traffic_work : knn::schedule_work {
  double end = 0;                ///< units until the last answer
  std::vector<double> response;  ///< for each query: units from its arrival to its answer
  std::vector<std::vector<double>> in_unit;  ///< [thread][unit of time] evaluations
};

/// Searches by a schedule while queries arrive. Throws `usage_error` for options out of range, for
/// arrivals that do not ascend or are not one per query, and for simulated time with shared and
/// bulk-critical.
traffic_work run_in_traffic(context const& ctx, knn::searched_queries const& what,
                            knn::schedule_options const& options, query_traffic const& traffic,
                            knn::take_answer const& take);
/// Searches an index by radius in this way. Returns the result of `search_range`.
knn::rows_in_range search_range_in_traffic(context const& ctx, knn::metric_index const& index,
                                           knn::metric_queries const& queries, double radius,
                                           knn::schedule_options const& options,
                                           query_traffic const& traffic, traffic_work& work);

/// The arrivals of `queries` queries: counts[t] queries at the start of unit t of a cycle.
/// {2, 1, 1} is figure 3.5's. Throws `usage_error` for a cycle without queries.
std::vector<double> cyclic_arrivals(std::size_t queries, std::span<std::size_t const> counts);
/// Returns independent arrivals with exponential intervals, on average `a_unit` per unit. Throws
/// `usage_error` for a rate that is not a positive number.
std::vector<double> random_arrivals(std::size_t queries, double a_unit, std::uint64_t seed);

/// Returns the queries answered per unit.
double throughput(traffic_work const& work);
/// Returns the mean number of units from a query's arrival to its answer.
double mean_response(traffic_work const& work);
/// Returns the mean of E over all units of time in which a thread has work. E of the whole search
/// does not show threads that wait alternately.
double unit_efficiency(traffic_work const& work);

}  // namespace rulerank::bench
