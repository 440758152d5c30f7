#pragma once

#include "knn/metric/traffic.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Simulated traffic of Barrientos 2011, section 3.3: when queries arrive, and how a schedule did.
// All functions may be called from several threads at once.
namespace rulerank::inline v0::bench {

/// The arrivals of `queries` queries: counts[t] queries at the start of unit t of a cycle.
/// {2, 1, 1} is figure 3.5's. Throws `usage_error` for a cycle without queries.
std::vector<double> cyclic_arrivals(std::size_t queries, std::span<std::size_t const> counts);
/// Independent arrivals with exponential times between them, `a_unit` a unit on average. Throws
/// `usage_error` for a rate that is not a positive number.
std::vector<double> random_arrivals(std::size_t queries, double a_unit, std::uint64_t seed);

/// Queries answered a unit.
double throughput(knn::traffic_work const& work);
/// Units from a query's arrival to its answer, on average.
double mean_response(knn::traffic_work const& work);
/// The mean of E over all units of time in which a thread has work. E of the whole search does not
/// show threads that wait in turn.
double unit_efficiency(knn::traffic_work const& work);

}  // namespace rulerank::bench
