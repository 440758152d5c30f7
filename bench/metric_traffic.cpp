#include "bench/metric_traffic.hpp"

#include "core/error.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rulerank::inline v0::bench {

std::vector<double> cyclic_arrivals(std::size_t queries, std::span<std::size_t const> counts) {
  if (std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == 0)
    throw usage_error("found a cycle of arrivals without queries");
  std::vector<double> arrival;
  arrival.reserve(queries);
  for (std::size_t unit = 0; arrival.size() < queries; ++unit)
    arrival.insert(arrival.end(), std::min(counts[unit % counts.size()], queries - arrival.size()),
                   static_cast<double>(unit));
  return arrival;
}

std::vector<double> random_arrivals(std::size_t queries, double a_unit, std::uint64_t seed) {
  if (!(a_unit > 0) || std::isinf(a_unit))
    throw usage_error("found a rate of arrivals that is not above 0");
  random_engine chance(seed);
  std::vector<double> arrival(queries);
  double time = 0;
  for (double& one : arrival) {
    one = time;
    time -= std::log1p(-uniform_unit(chance)) / a_unit;
  }
  return arrival;
}

double throughput(knn::traffic_work const& work) {
  return work.end > 0 ? static_cast<double>(work.response.size()) / work.end : 0;
}

double mean_response(knn::traffic_work const& work) {
  std::vector<double> const& response = work.response;
  if (response.empty()) return 0;
  return std::accumulate(response.begin(), response.end(), 0.0) /
         static_cast<double>(response.size());
}

double unit_efficiency(knn::traffic_work const& work) {
  double sum = 0;
  std::size_t busy = 0;
  for (std::size_t unit = 0;; ++unit) {
    double all = 0;
    double most = 0;
    bool ended = true;
    for (auto const& of_thread : work.in_unit) {
      if (unit >= of_thread.size()) continue;
      ended = false;
      all += of_thread[unit];
      most = std::max(most, of_thread[unit]);
    }
    if (ended) break;
    if (most == 0) continue;
    sum += all / most / static_cast<double>(work.in_unit.size());
    ++busy;
  }
  return busy > 0 ? sum / static_cast<double>(busy) : 1;
}

}  // namespace rulerank::bench
