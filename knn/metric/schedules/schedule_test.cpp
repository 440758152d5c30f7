#include "knn/metric/schedules/schedule.hpp"

#include "core/error.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "knn/metric/testing.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::schedule_test {
namespace {

using namespace testing_tools;
using enum metric_schedule;

void expect_equal(neighbours const& a, neighbours const& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.value, b.value);
}
void expect_equal(rows_in_range const& a, rows_in_range const& b) {
  EXPECT_EQ(a.begin, b.begin);
  EXPECT_EQ(a.row, b.row);
  EXPECT_EQ(a.value, b.value);
}

class every_schedule : public testing::TestWithParam<metric_schedule> {
 protected:
  schedule_options options(std::size_t superstep = 1024, std::size_t waiting = 1) const {
    return {GetParam(), superstep, waiting};
  }
  bool is_counted() const { return GetParam() != shared && GetParam() != bulk_critical; }
};
std::vector<metric_schedule> listed_schedules() {
  std::vector<metric_schedule> schedules;
  for (auto const& entry : metric_schedules()) schedules.push_back(entry.which);
  return schedules;
}
INSTANTIATE_TEST_SUITE_P(metric_schedule, every_schedule, testing::ValuesIn(listed_schedules()),
                         name_of_case);

/// Compares a schedule with the search without one, for all types of index.
void expect_same(std::shared_ptr<metric_space const> const& space, metric_queries const& queries,
                 std::vector<double> const& radii, schedule_options const& options) {
  for (auto const& entry : metric_index_types()) {
    SCOPED_TRACE(entry.name);
    metric_index const index(of_threads(1), space, {entry.which, 5, .3, 0});
    for (int const threads : {1, 4}) {
      SCOPED_TRACE(threads);
      for (std::size_t const k : {std::size_t{1}, std::size_t{7}, space->size() + 2}) {
        schedule_work work;
        expect_equal(index.search(of_threads(1), queries, k),
                     search_scheduled(of_threads(threads), index, queries, k, options, &work));
        EXPECT_EQ(work.evaluations.size(), static_cast<std::size_t>(threads));
      }
      for (double const radius : radii) {
        metric_work expected;
        schedule_work work;
        expect_equal(
            index.search_range(of_threads(1), queries, radius, &expected),
            search_range_scheduled(of_threads(threads), index, queries, radius, options, &work));
        EXPECT_EQ(work.evaluations_of_all(), expected.evaluations) << radius;
      }
    }
  }
}

TEST_P(every_schedule, finds_what_one_thread_finds_among_words) {
  auto const space = std::make_shared<word_space>(drawn_words(300, 5, 9));
  expect_same(space, *space->queries(drawn_words(9, 6, 9)), {0, 2, 9}, options(64, 0));
  auto const few = std::make_shared<word_space>(drawn_words(40, 5, 5));
  expect_same(few, *few->queries(drawn_words(9, 6, 5)), {0, 1}, options(1, 2));
}

TEST_P(every_schedule, finds_what_one_thread_finds_among_vectors) {
  // More rows than a part of a table has; many are equally near.
  auto const space = std::make_shared<vector_space>(of_threads(1), drawn_vectors(1500, 3, 1, 9),
                                                    metric_distance::l1);
  expect_same(space, *space->queries(of_threads(1), drawn_vectors(9, 3, 2, 9)), {0, 4},
              options(200));
}

TEST_P(every_schedule, finds_nothing_in_nothing) {
  auto const space = std::make_shared<word_space>(std::vector<std::string>{});
  expect_same(space, *space->queries({"", "a"}), {0, 3}, options());
  auto const some = std::make_shared<word_space>(std::vector<std::string>{"a", "b"});
  expect_same(some, *some->queries({}), {0, 3}, options());
  expect_same(some, *some->queries({"a"}), {0, 3}, options(1));
}

TEST_P(every_schedule, repeats_its_counts) {
  auto const space = std::make_shared<word_space>(drawn_words(900, 3, 9));
  auto const queries = space->queries(drawn_words(40, 4, 9));
  metric_index const index(of_threads(1), space, {metric_index_type::egnat, 5, .4, 0});
  auto const work_of = [&] {
    schedule_work work;
    search_scheduled(of_threads(4), index, *queries, 3, options(100), &work);
    return work;
  };
  schedule_work const first = work_of();
  EXPECT_GT(first.efficiency(), 0);
  EXPECT_LE(first.efficiency(), 1);
  bool const deals = GetParam() == bulk_circular || GetParam() == bulk_critical;
  if (deals) {
    EXPECT_GT(first.messages, 0u);
  }
  if (GetParam() == shared || GetParam() == local || GetParam() == metric_schedule::bulk_local) {
    EXPECT_EQ(first.messages, 0u);
  }
  EXPECT_EQ(first.critical > 0, GetParam() == bulk_critical);
  bool const meets = GetParam() == bulk_circular || GetParam() == metric_schedule::bulk_local ||
                     GetParam() == hybrid;
  EXPECT_EQ(first.supersteps > 0, meets);
  if (!is_counted()) return;
  for (int i = 0; i < 3; ++i) {
    schedule_work const again = work_of();
    EXPECT_EQ(again.evaluations, first.evaluations);
    EXPECT_EQ(again.messages, first.messages);
    EXPECT_EQ(again.supersteps, first.supersteps);
  }
}

TEST_P(every_schedule, stops_when_it_is_told) {
  auto const space = std::make_shared<word_space>(drawn_words(400, 1, 9));
  metric_index const index(of_threads(1), space, {metric_index_type::m_tree});
  auto const queries = space->queries({"abc", "cba"});
  std::stop_source stop;
  stop.request_stop();
  context ctx = of_threads(3);
  ctx.stop = stop.get_token();
  EXPECT_THROW(search_scheduled(ctx, index, *queries, 1, options()), interrupted);
  EXPECT_THROW(search_range_scheduled(ctx, index, *queries, 1, options()), interrupted);
}

TEST_P(every_schedule, passes_on_what_a_distance_throws) {
  auto const calls = std::make_shared<std::atomic<int>>(0);
  auto const distance = [calls](double a, double b) {
    if (calls->fetch_add(1) == 3000) throw std::domain_error("no distance");
    return std::abs(a - b);
  };
  std::vector<double> places;
  for (int i = 0; i < 300; ++i) places.push_back(i * i % 1000);
  using space_type = object_space<double, std::function<double(double, double)>>;
  auto const space = std::make_shared<space_type>(places, distance);
  metric_index const index(of_threads(1), space, {metric_index_type::brute});
  auto const queries = space->queries(std::vector<double>(50, 3));
  EXPECT_THROW(search_scheduled(of_threads(4), index, *queries, 2, options(16)), std::domain_error);
}

TEST_P(every_schedule, takes_searches_from_several_threads_at_once) {
  auto const space = std::make_shared<word_space>(drawn_words(300, 5, 9));
  auto const queries = space->queries(drawn_words(9, 6, 9));
  for (auto const& entry : metric_index_types()) {
    metric_index const index(of_threads(1), space, {entry.which, 5, .3, 0});
    auto const expected = index.search(of_threads(1), *queries, 5);
    auto const within = index.search_range(of_threads(1), *queries, 2);
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 3; ++caller)
      callers.emplace_back([&, caller] {
        if (caller == 0) expect_equal(within, index.search_range(of_threads(2), *queries, 2));
        expect_equal(expected, search_scheduled(of_threads(2), index, *queries, 5, options(50)));
      });
  }
}

TEST_P(every_schedule, real_words) {
  RULERANK_REAL_DATA(path, "metric/dictionaries/Spanish.dic");
  auto words = read_words({}, path);
  random_engine chance(7);
  shuffle(std::span(words), chance);
  words.resize(1500);
  std::vector<std::string> const asked(words.end() - 10, words.end());
  auto const space = std::make_shared<word_space>(std::move(words), letters::bytes);
  expect_same(space, *space->queries(asked), {2}, options(300));
}

TEST(metric_schedule, efficiency_is_the_mean_over_the_largest) {
  schedule_work work;
  EXPECT_EQ(work.efficiency(), 1);
  work.evaluations = {0, 0};
  EXPECT_EQ(work.efficiency(), 1);
  work.evaluations = {4, 1, 3, 0};
  EXPECT_EQ(work.evaluations_of_all(), 8u);
  EXPECT_EQ(work.efficiency(), .5);
}

TEST(metric_schedule, wrong_usage_is_told) {
  auto const space = std::make_shared<word_space>(drawn_words(20, 1, 5));
  auto const queries = space->queries({"a", "b"});
  metric_index const index(of_threads(1), space);
  EXPECT_THROW(search_scheduled({}, index, *queries, 0, {}), usage_error);
  EXPECT_THROW(search_range_scheduled({}, index, *queries, -1, {}), usage_error);
  EXPECT_THROW(search_scheduled({}, index, *queries, 1, {bulk_circular, 0, 1}), usage_error);
  EXPECT_EQ(metric_schedule_from("bulk-circular"), bulk_circular);
  EXPECT_EQ(metric_schedule_from("auto"), automatic);
  EXPECT_EQ(name_of(hybrid), "hybrid");
  EXPECT_THROW(metric_schedule_from("bulk"), usage_error);
  EXPECT_THROW(split_metric_index({}, space, {}, 0), usage_error);
}

TEST(split_metric_index, finds_what_one_index_finds) {
  auto const words = std::make_shared<word_space>(drawn_words(301, 5, 8));
  auto const asked = words->queries(drawn_words(7, 6, 8));
  for (auto const& entry : metric_index_types())
    for (std::size_t const parts : {1, 2, 5, 300, 303}) {
      SCOPED_TRACE(entry.name);
      SCOPED_TRACE(parts);
      metric_index const whole(of_threads(1), words, {entry.which, 4, .4, 0});
      split_metric_index const split(of_threads(3), words, {entry.which, 4, .4, 0}, parts);
      EXPECT_EQ(split.size(), 301u);
      EXPECT_EQ(split.parts(), parts);
      EXPECT_EQ(split.type(), entry.which);
      schedule_work one;
      schedule_work several;
      for (std::size_t const k : {1, 7, 305}) {
        expect_equal(whole.search(of_threads(1), *asked, k),
                     split.search(of_threads(1), *asked, k, &one));
        split.search(of_threads(4), *asked, k, &several);
      }
      for (double const radius : {0., 2., 9.})
        expect_equal(whole.search_range(of_threads(1), *asked, radius),
                     split.search_range(of_threads(4), *asked, radius, &one));
      for (double const radius : {0., 2., 9.})
        split.search_range(of_threads(2), *asked, radius, &several);
      EXPECT_EQ(one.evaluations.size(), parts);
      EXPECT_EQ(one.evaluations, several.evaluations);
    }
  EXPECT_EQ(split_metric_index({}, words, {}, 4).type(), metric_index_type::brute);
  split_metric_index const split(of_threads(1), words, {}, 2);
  EXPECT_THROW(split.search({}, *asked, 0), usage_error);
  EXPECT_THROW(split.search_range({}, *asked, std::nan("")), usage_error);
}

}  // namespace
}  // namespace rulerank::knn::schedule_test
