#include "bench/engines/metric_traffic.hpp"

#include "core/error.hpp"
#include "knn/metric/indexes/structure.hpp"
#include "knn/metric/testing.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

// Simulated traffic of metric search: the published figure, and an interruption while the search
// waits for a query.
namespace rulerank::inline v0::bench::metric_traffic_test {
namespace {

using namespace knn;
using namespace knn::testing_tools;
using enum metric_schedule;

/// Distances to objects are units of work; query q has 4 - q % 4.
struct work_of_queries final : metric_queries {
  struct units final : distances_from {
    explicit units(double one) : work(one) {}
    void compute(std::span<std::uint32_t const> objects, double, double* values) override {
      std::fill_n(values, objects.size(), work);
    }
    double work;
  };
  std::size_t size() const noexcept override { return 12; }
  std::unique_ptr<distances_from> from(std::size_t query) const override {
    return std::make_unique<units>(4. - static_cast<double>(query % 4));
  }
};

/// Each unit of work is a separate task with this many distances; the first task generates all
/// others.
class equal_tasks final : public metric_structure {
 public:
  static constexpr std::size_t a_unit = 64;
  void search(metric_query& query) const override {
    std::vector<search_task> left;
    search_some(query, {}, 1, left);
    for (search_task const& task : left) search_some(query, task, 1, left);
  }
  bool search_some(metric_query& query, search_task const& task, std::uint64_t,
                   std::vector<search_task>& left) const override {
    auto const units = static_cast<std::size_t>(query.measure(0));
    if (task.region == 0) left.assign(units * a_unit - 1, {1});
    return false;
  }
  void save(structure_arrays&) const override {}
  std::size_t size() const override { return 1; }
};

/// Figure 3.5 of Barrientos 2011, right half: four threads; queries of 4, 3, 2 and 1 units of work
/// in turn, of which 2, 1 and 1 arrive at the beginning of a unit of time. With local, the first
/// thread gets all long queries, and the search ends after 12 units. Divided into tasks for all
/// threads, the 30 units of work end within the ninth unit, at 8.5: there is no work from 2.5 to 3
/// and from 5.5 to 6.
TEST(metric_traffic, is_figure_3_5) {
  exclusion const rule(distance_rounding{});
  equal_tasks const structure;
  work_of_queries const queries;
  query_traffic const traffic{cyclic_arrivals(12, std::vector<std::size_t>{2, 1, 1}), true,
                              equal_tasks::a_unit};
  auto const run = [&](metric_schedule schedule) {
    std::atomic<int> answers{0};
    auto work = run_in_traffic(of_threads(4), {structure, rule, queries, 0, 0}, {schedule, 1, 1},
                               traffic, [&](std::size_t, auto&) { ++answers; });
    EXPECT_EQ(answers, 12);
    EXPECT_EQ(work.evaluations_of_all(), 30 * equal_tasks::a_unit);
    return work;
  };
  for (metric_schedule const schedule : {local, metric_schedule::bulk_local}) {
    traffic_work const work = run(schedule);
    EXPECT_EQ(work.end, 12);
    EXPECT_EQ(throughput(work), 1);
    EXPECT_EQ(work.evaluations, (std::vector<std::uint64_t>{12 * 64, 9 * 64, 6 * 64, 3 * 64}));
    EXPECT_EQ(work.efficiency(), 30. / 12 / 4);
    EXPECT_EQ(work.response, (std::vector<double>{4, 3, 2, 1, 5, 3, 2, 1, 6, 3, 2, 1}));
    // Two, three and four threads work in turn, then one.
    EXPECT_DOUBLE_EQ(unit_efficiency(work), (3 * (2 + 3 + 4) + 3) / 4. / 12);
  }
  traffic_work const dealt = run(bulk_circular);
  EXPECT_GE(dealt.end, 8.5);
  EXPECT_LT(dealt.end, 8.7);
  EXPECT_GT(dealt.messages, 0u);
  EXPECT_GT(dealt.efficiency(), .95);
  EXPECT_LT(mean_response(dealt), 2);
  EXPECT_GT(unit_efficiency(dealt), unit_efficiency(run(local)) + .2);
  traffic_work const both = run(hybrid);
  EXPECT_LT(both.end, 12);
}

TEST(metric_traffic, arrivals) {
  EXPECT_EQ(cyclic_arrivals(7, std::vector<std::size_t>{2, 1, 1}),
            (std::vector<double>{0, 0, 1, 2, 3, 3, 4}));
  EXPECT_EQ(cyclic_arrivals(3, std::vector<std::size_t>{0, 2}), (std::vector<double>{1, 1, 3}));
  EXPECT_TRUE(cyclic_arrivals(0, std::vector<std::size_t>{1}).empty());
  EXPECT_THROW(cyclic_arrivals(3, std::vector<std::size_t>{0, 0}), usage_error);
  EXPECT_THROW(cyclic_arrivals(3, {}), usage_error);
  auto const drawn = random_arrivals(20000, 4, 9);
  EXPECT_EQ(drawn, random_arrivals(20000, 4, 9));
  EXPECT_NE(drawn, random_arrivals(20000, 4, 10));
  EXPECT_TRUE(std::is_sorted(drawn.begin(), drawn.end()));
  EXPECT_EQ(drawn.front(), 0);
  EXPECT_NEAR(drawn.back(), 5000, 150);
  EXPECT_THROW(random_arrivals(3, 0, 1), usage_error);
}

TEST(metric_traffic, efficiency_of_units_is_the_mean_over_the_largest) {
  traffic_work traffic;
  EXPECT_EQ(unit_efficiency(traffic), 1);
  traffic.in_unit = {{4, 0, 0, 6}, {4, 0, 2}};
  EXPECT_NEAR(unit_efficiency(traffic), (1 + .5 + .5) / 3, 1e-15);
}

/// The second query arrives after an hour.
TEST(metric_traffic, stops_while_a_query_is_awaited) {
  auto const space = std::make_shared<word_space>(drawn_words(400, 1, 9));
  metric_index const index(of_threads(1), space, {metric_index_type::m_tree});
  auto const queries = space->queries({"abc", "cba"});
  for (auto const& entry : metric_schedules()) {
    SCOPED_TRACE(entry.name);
    std::stop_source stop;
    context ctx = of_threads(3);
    ctx.stop = stop.get_token();
    std::jthread const stopping([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      stop.request_stop();
    });
    traffic_work work;
    EXPECT_THROW(search_range_in_traffic(ctx, index, *queries, 1, {entry.which, 1024, 1},
                                         {{0, 3600}, false, 1}, work),
                 interrupted);
  }
}

TEST(metric_traffic, wrong_usage_is_told) {
  auto const space = std::make_shared<word_space>(drawn_words(20, 1, 5));
  auto const queries = space->queries({"a", "b"});
  metric_index const index(of_threads(1), space);
  traffic_work work;
  auto const in_traffic = [&](metric_schedule schedule, query_traffic const& traffic) {
    search_range_in_traffic(of_threads(2), index, *queries, 1, {schedule}, traffic, work);
  };
  EXPECT_THROW(in_traffic(local, {{0}}), usage_error);
  EXPECT_THROW(in_traffic(local, {{1, 0}}), usage_error);
  EXPECT_THROW(in_traffic(local, {{-1, 0}}), usage_error);
  EXPECT_THROW(in_traffic(local, {{0, 1}, true, 0}), usage_error);
  EXPECT_THROW(in_traffic(shared, {{0, 1}}), usage_error);
  EXPECT_THROW(in_traffic(bulk_critical, {{0, 1}}), usage_error);
}

}  // namespace
}  // namespace rulerank::bench::metric_traffic_test
