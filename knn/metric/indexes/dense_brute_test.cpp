// Compares `brute` for vectors under l2, which answers queries together by dense search, with the
// same index for single queries.

#include "core/error.hpp"
#include "core/random.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/schedules/schedule.hpp"
#include "knn/metric/search.hpp"
#include "knn/metric/testing.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::dense_brute_test {
namespace {

using namespace testing_tools;
using datasets::vectors;

void expect_equal(neighbours const& a, neighbours const& b, std::string const& what) {
  ASSERT_EQ(a.id, b.id) << what;
  ASSERT_EQ(a.value, b.value) << what;
}
void expect_equal(rows_in_range const& a, rows_in_range const& b, std::string const& what) {
  ASSERT_EQ(a.begin, b.begin) << what;
  ASSERT_EQ(a.row, b.row) << what;
  ASSERT_EQ(a.value, b.value) << what;
}

constexpr schedule_options one_after_the_other{metric_schedule::shared};

/// For k from 1 to more than all, and radii at, below and above existing distances.
void expect_as_one_by_one(metric_index const& index, metric_queries const& queries,
                          std::string const& what) {
  std::size_t const n = index.size();
  std::set<std::size_t> counts{1, 2, 3, 10, n / 2 + 1, n + 1};
  if (n > 0) counts.insert({n, n > 1 ? n - 1 : 1});
  std::set<double> radii{0, 1e-200, 1e300, std::numeric_limits<double>::infinity()};
  for (std::size_t const k : counts) {
    schedule_work expected_work;
    auto const expected =
        search_scheduled(of_threads(1), index, queries, k, one_after_the_other, &expected_work);
    for (int const threads : {1, 2, 5}) {
      metric_work work;
      expect_equal(index.search(of_threads(threads), queries, k, &work), expected,
                   what + ", k " + std::to_string(k) + ", threads " + std::to_string(threads));
      EXPECT_EQ(work.evaluations, expected_work.evaluations_of_all());
      EXPECT_EQ(work.evaluations, n * queries.size());
    }
    for (std::size_t q = 0; q < std::min<std::size_t>(queries.size(), 2); ++q)
      if (expected.count_of(q) >= k) {
        double const kth = expected.values_of(q)[k - 1];
        radii.insert({kth, std::nextafter(kth, 0), std::nextafter(kth, 1e300)});
      }
  }
  for (double const radius : radii) {
    auto const expected =
        search_range_scheduled(of_threads(1), index, queries, radius, one_after_the_other);
    for (int const threads : {1, 2, 5})
      expect_equal(
          index.search_range(of_threads(threads), queries, radius), expected,
          what + ", radius " + std::to_string(radius) + ", threads " + std::to_string(threads));
  }
}

void expect_as_one_by_one(vectors const& rows, vectors const& queries, std::string const& what) {
  auto const space = space_of(rows);
  metric_index const index({}, space, {metric_index_type::brute});
  expect_as_one_by_one(index, *space->queries({}, queries), what);
}

/// Each value of `rows` times `scale`, plus `move`.
vectors placed(vectors const& rows, float scale, float move) {
  std::vector<float> values;
  for (float const value : rows.values<float>()) values.push_back(value * scale + move);
  return {std::move(values), rows.dimensions()};
}

TEST(dense_brute, finds_what_one_query_after_the_other_finds) {
  for (std::size_t const dimensions : {1, 20})
    for (int const of : {0, 3})
      for (std::size_t const rows : {2, 65, 700}) {
        auto const some = drawn_vectors(rows, dimensions, 1, of);
        std::string const what = std::to_string(rows) + " x " + std::to_string(dimensions) +
                                 ", values " + std::to_string(of);
        expect_as_one_by_one(some, drawn_vectors(40, dimensions, 2, of), what);
        expect_as_one_by_one(some, some.rows(0, 1), what + ", a row alone");
      }
}

TEST(dense_brute, finds_them_wherever_the_vectors_are) {
  auto const rows = drawn_vectors(300, 5, 3);
  auto const asked = drawn_vectors(20, 5, 4);
  for (float const scale : {1.F, 1e-42F, 1e25F})
    for (float const move : {0.F, 1e8F})
      expect_as_one_by_one(placed(rows, scale, move), placed(asked, scale, move),
                           "scale " + std::to_string(scale) + ", move " + std::to_string(move));
}

TEST(dense_brute, finds_what_is_there_alone_or_again_or_not) {
  vectors const asked(std::vector<float>{0, 0, 1, 1, 3, -4}, 2);
  expect_as_one_by_one(vectors(datasets::element::float32, nullptr, 0, 2), asked, "nothing");
  expect_as_one_by_one(vectors(std::vector<float>{0, 0}, 2), asked, "one of zeros");
  expect_as_one_by_one(vectors(std::vector<float>{1, 1}, 2), asked, "one");
  expect_as_one_by_one(vectors(std::vector<float>(400, 0), 2), asked, "zeros");
  std::vector<float> again;
  for (int i = 0; i < 150; ++i) again.insert(again.end(), {1.5F, -.7F, 1, 1});
  expect_as_one_by_one(vectors(again, 2), asked, "two, 150 times each");
  expect_as_one_by_one(vectors(again, 2), asked.rows(0, 0), "no queries");
}

/// The root of 1 + 2^-52 rounds to 1.
TEST(dense_brute, weighs_squares_with_one_root_by_number) {
  vectors const rows(std::vector<float>{1, 0x1p-26F, 2, 0, 1, 0}, 2);
  vectors const origin(std::vector<float>{0, 0}, 2);
  auto const dense = dense_index({}, rows).search({}, origin, 2);
  ASSERT_EQ(dense.id, (std::vector<std::uint32_t>{2, 0})) << "the case is none";
  ASSERT_EQ(dense.value, (std::vector<double>{1, 1})) << "the case is none";
  auto const space = space_of(rows);
  metric_index const index({}, space, {metric_index_type::brute});
  auto const queries = space->queries({}, origin);
  EXPECT_EQ(index.search({}, *queries, 1).id, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(index.search({}, *queries, 2).id, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(index.search_range({}, *queries, 1).row, (std::vector<std::uint32_t>{0, 2}));
}

TEST(dense_brute, weighs_many_squares_with_few_roots_by_number) {
  random_engine chance(5);
  std::vector<float> values;
  for (int i = 0; i < 500; ++i) {
    auto const length = static_cast<float>(1 + uniform_below(chance, 3));
    auto const beside = static_cast<float>(uniform_below(chance, 12)) * 0x1p-27F;
    bool const turned = uniform_below(chance, 2) == 1;
    values.insert(values.end(), {turned ? beside : length, turned ? length : beside});
  }
  expect_as_one_by_one(vectors(values, 2), vectors(std::vector<float>{0, 0, 0, 1, -1, 0}, 2),
                       "squares with few roots");
}

TEST(dense_brute, follows_objects_that_come_and_go) {
  std::uint32_t const rows = 400;
  auto const space = space_of(drawn_vectors(rows, 3, 6, 5));
  auto const queries = space->queries({}, drawn_vectors(9, 3, 7, 5));
  metric_index index({}, space, {metric_index_type::brute}, 100);
  expect_as_one_by_one(index, *queries, "the first 100");
  for (std::uint32_t id = 100; id < rows; id += 2) index.insert(id);
  expect_as_one_by_one(index, *queries, "more");
  for (std::uint32_t id = 0; id < rows; id += 4) index.erase(id);
  expect_as_one_by_one(index, *queries, "some less");
  for (std::uint32_t id = 0; id < rows; id += 4) index.insert(id);
  for (std::uint32_t id = 101; id < rows; id += 2) index.insert(id);
  ASSERT_EQ(index.size(), rows);
  expect_as_one_by_one(index, *queries, "all");
  for (std::uint32_t id = 0; id < rows; ++id) index.erase(id);
  expect_as_one_by_one(index, *queries, "none");
}

/// Queries that can only be searched together, or only one after the other.
class wrapped final : public metric_queries {
 public:
  wrapped(metric_queries const& all, bool shows_vectors)
      : all_(all), shows_vectors_(shows_vectors) {}
  std::size_t size() const noexcept override { return all_.size(); }
  std::unique_ptr<distances_from> from(std::size_t query) const override {
    if (shows_vectors_) throw std::logic_error("asked one after the other");
    return all_.from(query);
  }
  std::optional<vectors> as_vectors(std::size_t first, std::size_t count) const override {
    if (!shows_vectors_) return {};
    return all_.as_vectors(first, count);
  }

 private:
  metric_queries const& all_;
  bool shows_vectors_;
};

TEST(dense_brute, is_what_brute_does_with_vectors_under_l2_alone) {
  auto const rows = drawn_vectors(300, 4, 8);
  for (metric_distance const which :
       {metric_distance::l2, metric_distance::l1, metric_distance::angular}) {
    auto const space = std::make_shared<vector_space>(context{}, rows, which);
    auto const queries = space->queries({}, drawn_vectors(30, 4, 9));
    metric_index const index({}, space, {metric_index_type::brute});
    wrapped const shown(*queries, true);
    wrapped const hidden(*queries, false);
    expect_equal(index.search({}, hidden, 5), index.search({}, *queries, 5), "k nearest");
    if (which == metric_distance::l2) {
      expect_equal(index.search({}, shown, 5), index.search({}, *queries, 5), "k nearest");
      expect_equal(index.search_range({}, shown, 1), index.search_range({}, *queries, 1), "within");
    } else {
      EXPECT_THROW(index.search({}, shown, 5), std::logic_error);
    }
  }
}

TEST(dense_brute, stops_and_refuses_as_other_indexes_do) {
  auto const space = space_of(drawn_vectors(300, 4, 8));
  auto const queries = space->queries({}, drawn_vectors(3, 4, 9));
  metric_index const index({}, space, {metric_index_type::brute});
  EXPECT_THROW(index.search({}, *queries, 0), usage_error);
  EXPECT_THROW(index.search_range({}, *queries, -1), usage_error);
  EXPECT_THROW(index.search_range({}, *queries, std::nan("")), usage_error);
  std::stop_source stop;
  stop.request_stop();
  context stopped;
  stopped.stop = stop.get_token();
  EXPECT_THROW(index.search(stopped, *queries, 1), interrupted);
  EXPECT_THROW(index.search_range(stopped, *queries, 1), interrupted);
}

}  // namespace
}  // namespace rulerank::knn::dense_brute_test
