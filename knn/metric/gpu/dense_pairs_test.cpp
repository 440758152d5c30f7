// Compares `pairs` for vectors under l2, on the CPU, with `brute` for single queries.

#include "knn/metric/gpu/dense_pairs.hpp"

#include "core/error.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/candidate_loops.hpp"
#include "knn/metric/schedules/schedule.hpp"
#include "knn/metric/search.hpp"
#include "knn/metric/testing.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::dense_pairs_test {
namespace {

using namespace testing_tools;
using datasets::vectors;

neighbours one_by_one(metric_index const& index, vectors const& asked, std::size_t k) {
  auto const& space = dynamic_cast<vector_space const&>(index.space());
  return search_scheduled({}, index, *space.queries({}, asked), k, {metric_schedule::shared});
}

/// For k from 1 to more than all, and for each query alone.
void expect_nearest(metric_index const& index, vectors const& asked, std::string const& what) {
  gpu_layout const layout = lay_out_all(index, word_places::by_length);
  auto const pairs = make_dense_pairs({}, layout);
  std::size_t const n = index.size();
  for (std::size_t const k : std::set<std::size_t>{1, 2, 3, 10, n - 1, n, n + 1, n + 9}) {
    if (k == 0) continue;
    auto const expected = one_by_one(index, asked, k);
    for (int const threads : {1, 3}) {
      std::string const here =
          what + ", k " + std::to_string(k) + ", threads " + std::to_string(threads);
      metric_gpu_work work;
      auto const found =
          pairs->nearest(of_threads(threads), queries_of({}, layout, asked), k, work);
      ASSERT_TRUE(found);
      ASSERT_EQ(found->queries, asked.size()) << here;
      ASSERT_EQ(found->k, k) << here;
      ASSERT_EQ(found->order, value_order::smaller_is_nearer) << here;
      ASSERT_EQ(found->id, expected.id) << here;
      ASSERT_EQ(found->value, expected.value) << here;
      EXPECT_EQ(work.evaluations, n * asked.size()) << here;
    }
    for (std::size_t q = 0; q < std::min<std::size_t>(asked.size(), 5); ++q) {
      metric_gpu_work work;
      auto const alone = pairs->nearest({}, queries_of({}, layout, asked.rows(q, 1)), k, work);
      auto const ids = expected.ids_of(q);
      auto const values = expected.values_of(q);
      EXPECT_EQ(alone->id, std::vector<std::uint32_t>(ids.begin(), ids.end())) << what;
      EXPECT_EQ(alone->value, std::vector<double>(values.begin(), values.end())) << what;
    }
  }
}
void expect_nearest(vectors const& rows, vectors const& asked, std::string const& what) {
  expect_nearest(metric_index({}, space_of(rows), {metric_index_type::brute}), asked, what);
}

TEST(dense_pairs, finds_what_one_query_after_the_other_finds) {
  for (std::size_t const dimensions : {1, 20})
    for (int const of : {0, 3})
      for (std::size_t const rows : {1, 2, 65, 700})
        expect_nearest(drawn_vectors(rows, dimensions, 1, of),
                       drawn_vectors(140, dimensions, 2, of),
                       std::to_string(rows) + " x " + std::to_string(dimensions) + ", values " +
                           std::to_string(of));
}

TEST(dense_pairs, finds_rows_that_are_there_again) {
  vectors const asked(std::vector<float>{0, 0, 1, 1, 3, -4}, 2);
  expect_nearest(vectors(std::vector<float>(400, 0), 2), asked, "zeros");
  std::vector<float> again;
  for (int i = 0; i < 150; ++i) again.insert(again.end(), {1.5F, -.7F, 1, 1});
  expect_nearest(vectors(again, 2), asked, "two, 150 times each");
}

/// The root of 1 + 2^-52 rounds to 1: of objects with different squares and equal roots, the lower
/// number is first, also if the next root equals that of the k-th, and twice in one list.
TEST(dense_pairs, weighs_squares_with_one_root_by_number) {
  std::vector<float> const values{1, 0x1p-26F, 2, 0, 1, 0, 2, 0x1p-25F, 1, 0x1p-26F, 1, 0};
  vectors const rows(values, 2);
  vectors const asked(std::vector<float>{0, 0, 0, 0, 2, 0}, 2);
  ASSERT_EQ(dense_index({}, rows).search({}, asked, 4).ids_of(0)[0], 2U) << "the case is none";
  expect_nearest(rows, asked, "ties");

  metric_index const index({}, space_of(rows), {metric_index_type::brute});
  gpu_layout const layout = lay_out_all(index, word_places::by_length);
  auto const pairs = make_dense_pairs({}, layout);
  metric_gpu_work work;
  auto const first = pairs->nearest({}, queries_of({}, layout, asked.rows(0, 1)), 1, work);
  EXPECT_EQ(first->id, std::vector<std::uint32_t>{0});
  auto const five = pairs->nearest({}, queries_of({}, layout, asked.rows(0, 1)), 5, work);
  EXPECT_EQ(five->id, (std::vector<std::uint32_t>{0, 2, 4, 5, 1}));
  EXPECT_EQ(five->value, (std::vector<double>{1, 1, 1, 1, 2}));
}

TEST(dense_pairs, gives_the_numbers_of_objects) {
  auto const rows = drawn_vectors(300, 6, 5, 4);
  metric_index index({}, space_of(rows), {metric_index_type::brute});
  for (std::uint32_t object = 0; object < 300; object += 3) index.erase(object);
  index.erase(299);
  index.insert(150);
  expect_nearest(index, drawn_vectors(30, 6, 6, 4), "some objects");
}

TEST(dense_pairs, finds_ranges) {
  auto const rows = drawn_vectors(500, 4, 7, 3);
  auto const asked = drawn_vectors(70, 4, 8, 3);
  metric_index const index({}, space_of(rows), {metric_index_type::brute});
  gpu_layout const layout = lay_out_all(index, word_places::by_length);
  auto const pairs = make_dense_pairs({}, layout);
  auto const& space = dynamic_cast<vector_space const&>(index.space());
  for (double const radius : {0., 1., 1.5, 2., 1e300}) {
    auto const expected = index.search_range({}, *space.queries({}, asked), radius);
    gpu_candidates found(asked.size());
    metric_gpu_work work;
    pairs->search(of_threads(3), queries_of({}, layout, asked), {0, radius}, found, work);
    for (std::size_t q = 0; q < asked.size(); ++q) {
      std::sort(found[q].begin(), found[q].end(), nearer<value_order::smaller_is_nearer>());
      ASSERT_EQ(found[q].size(), expected.rows_of(q).size());
      for (std::size_t i = 0; i < found[q].size(); ++i) {
        ASSERT_EQ(found[q][i].id, expected.rows_of(q)[i]);
        ASSERT_EQ(found[q][i].value, expected.values_of(q)[i]);
      }
    }
  }
}

TEST(dense_pairs, refuses_and_stops) {
  metric_index const index({}, space_of(drawn_vectors(50, 3, 9)), {metric_index_type::brute});
  gpu_layout const layout = lay_out_all(index, word_places::by_length);
  auto const pairs = make_dense_pairs({}, layout);
  auto const asked = queries_of({}, layout, drawn_vectors(2, 3, 10));
  metric_gpu_work work;
  EXPECT_THROW(pairs->nearest({}, asked, 0, work), usage_error);
  EXPECT_THROW(pairs->nearest({}, asked, ~std::size_t{0}, work), usage_error);
  std::stop_source stop;
  stop.request_stop();
  context stopped;
  stopped.stop = stop.get_token();
  EXPECT_THROW(pairs->nearest(stopped, asked, 3, work), interrupted);
}

TEST(lists, are_worked_on_once_each_by_one_thread_or_by_all) {
  for (std::size_t const lists : {0, 1, 7, 100, 1001})
    for (std::size_t const candidates :
         {std::size_t{0}, candidates_of_one_thread, candidates_of_one_thread + 1}) {
      std::vector<int> seen(lists, 0);
      std::mutex mutex;
      std::set<std::thread::id> threads;
      for_lists(of_threads(4), lists, candidates, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
        std::lock_guard const lock(mutex);
        threads.insert(std::this_thread::get_id());
      });
      EXPECT_EQ(seen, std::vector<int>(lists, 1));
      if (candidates <= candidates_of_one_thread && lists > 0) {
        EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
      }
    }
}

}  // namespace
}  // namespace rulerank::knn::dense_pairs_test
