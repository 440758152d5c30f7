#include "bench/engines/metric_traffic.hpp"

#include "core/error.hpp"
#include "core/random.hpp"
#include "core/stopwatch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::bench {

namespace {

class traffic_clock final : public knn::query_clock {
 public:
  /// `traffic` must outlive the clock. The search begins when the clock is made.
  traffic_clock(query_traffic const& traffic, std::size_t threads)
      : traffic_(traffic), threads_(threads), response_(traffic.arrival.size()) {}

  double arrival(std::size_t query) const override { return traffic_.arrival[query]; }
  double now(std::size_t thread) const override {
    return traffic_.counted ? threads_[thread].time : watch_.seconds() / traffic_.unit;
  }
  void wait(std::size_t thread, double time, std::function<bool()> const& stops) override {
    if (traffic_.counted) {
      threads_[thread].time = std::max(threads_[thread].time, time);
      return;
    }
    constexpr double most = 0.05;  // seconds until `stops` is called again
    for (double left = 0; !stops();
         std::this_thread::sleep_for(std::chrono::duration<double>(left))) {
      left = std::min(time * traffic_.unit - watch_.seconds(), most);
      if (left <= 0) return;
    }
  }
  void meet(double time) override {
    for (at_thread& one : threads_) one.time = time;
  }
  void computed(std::size_t thread, std::uint64_t evaluations) override {
    at_thread& self = threads_[thread];
    if (!traffic_.counted) {
      self.add(now(thread), static_cast<double>(evaluations));
      return;
    }
    double const end = self.time + static_cast<double>(evaluations) / traffic_.unit;
    while (self.time < end) {
      double const to = std::min(end, std::floor(self.time) + 1);
      self.add(self.time, (to - self.time) * traffic_.unit);
      self.time = to;
    }
  }
  void answered(std::size_t thread, std::size_t query) override {
    double const time = now(thread);
    threads_[thread].end = std::max(threads_[thread].end, time);
    response_[query] = time - arrival(query);
  }

  traffic_work measured(knn::schedule_work work) && {
    traffic_work all;
    static_cast<knn::schedule_work&>(all) = std::move(work);
    all.response = std::move(response_);
    for (at_thread& one : threads_) {
      all.end = std::max(all.end, one.end);
      all.in_unit.push_back(std::move(one.in_unit));
    }
    return all;
  }

 private:
  struct alignas(64) at_thread {
    double time = 0;
    double end = 0;  // time of its last answer
    std::vector<double> in_unit;

    void add(double when, double evaluations) {
      auto const unit = static_cast<std::size_t>(when);
      if (in_unit.size() <= unit) in_unit.resize(unit + 1);
      in_unit[unit] += evaluations;
    }
  };

  query_traffic const& traffic_;
  std::vector<at_thread> threads_;
  std::vector<double> response_;
  stopwatch watch_;
};

void check(query_traffic const& traffic, std::size_t queries, knn::metric_schedule schedule) {
  using enum knn::metric_schedule;
  if (!(traffic.unit > 0)) throw usage_error("found a unit of time that is not above 0");
  if (traffic.arrival.size() != queries)
    throw usage_error(fmt::format("found {} arrivals, expected one for each of {} queries",
                                  traffic.arrival.size(), queries));
  if (!std::ranges::is_sorted(traffic.arrival) || (queries > 0 && !(traffic.arrival[0] >= 0)))
    throw usage_error("found arrivals that are not ascending from 0 on");
  if (traffic.counted && (schedule == automatic || schedule == shared || schedule == bulk_critical))
    throw usage_error(fmt::format(
        "found counted time, expected seconds: threads of {} meet in the order in which they run",
        name_of(schedule)));
}

}  // namespace

traffic_work run_in_traffic(context const& ctx, knn::searched_queries const& what,
                            knn::schedule_options const& options, query_traffic const& traffic,
                            knn::take_answer const& take) {
  check(traffic, what.queries.size(), options.schedule);
  traffic_clock clock(traffic, static_cast<std::size_t>(ctx.thread_count()));
  auto work = knn::run_schedule(ctx, what, options, &clock, take);
  return std::move(clock).measured(std::move(work));
}

knn::rows_in_range search_range_in_traffic(context const& ctx, knn::metric_index const& index,
                                           knn::metric_queries const& queries, double radius,
                                           knn::schedule_options const& options,
                                           query_traffic const& traffic, traffic_work& work) {
  check(traffic, queries.size(), options.schedule);
  traffic_clock clock(traffic, static_cast<std::size_t>(ctx.thread_count()));
  knn::schedule_work done;
  auto found = knn::search_range_on_clock(ctx, index, queries, radius, options, &clock, done);
  work = std::move(clock).measured(std::move(done));
  return found;
}

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

double throughput(traffic_work const& work) {
  return work.end > 0 ? static_cast<double>(work.response.size()) / work.end : 0;
}

double mean_response(traffic_work const& work) {
  std::vector<double> const& response = work.response;
  if (response.empty()) return 0;
  return std::accumulate(response.begin(), response.end(), 0.0) /
         static_cast<double>(response.size());
}

double unit_efficiency(traffic_work const& work) {
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
