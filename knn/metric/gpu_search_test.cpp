#include "core/error.hpp"
#include "core/testing.hpp"
#include "knn/metric/gpu/edit_matrix.hpp"
#include "knn/metric/published/engines.hpp"
#include "knn/metric/search.hpp"
#include "knn/metric/testing.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

// Compares metric search on GPUs with brute force on the CPU.
namespace rulerank::inline v0::knn::gpu_search_test {
namespace {

using datasets::vectors;
[[maybe_unused]] bool const published_engines_are_listed = (add_published_metric_engines(), true);

using rulerank::testing_tools::on_gpus;
using testing_tools::drawn_vectors;
using testing_tools::drawn_words;

std::vector<metric_engine> listed_engines() {
  std::vector<metric_engine> engines;
  for (auto const& entry : metric_engines())
    if (includes(entry.where, runs_on::gpus)) engines.push_back(entry.which);
  return engines;
}

class metric_gpus : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { RULERANK_NEEDS_GPUS(GetParam()); }
  context ctx() const { return on_gpus(GetParam()); }

  /// Tests all engines on some queries: k from 1 to all, radii from none to all, distances that
  /// occur and the adjacent doubles.
  template <class Space>
  void expect_same(std::shared_ptr<Space const> const& space, metric_queries const& queries,
                   std::string const& what) const {
    metric_index const judge({}, space, {.type = metric_index_type::brute});
    std::size_t const n = judge.size();
    std::set<double> radii{0};
    if (n <= 5000) radii.insert(1e300);
    neighbours const all = judge.search({}, queries, n);
    for (std::size_t const i : {std::size_t{0}, n / 100, n / 3}) {
      double const value = all.values_of(0)[i];
      radii.insert({value, std::nextafter(value, 0), std::nextafter(value, 1e9)});
    }
    for (auto const engine : listed_engines()) {
      metric_index const index({}, space, {.type = index_type_of(engine), .bucket = 20});
      metric_gpu_index const gpu(ctx(), index, {engine});
      ASSERT_EQ(gpu.engine(), engine);
      std::string const here = what + ", " + std::string(name_of(engine));
      for (std::size_t const k : {std::size_t{1}, std::size_t{10}, std::size_t{32}, n, n + 2}) {
        neighbours const expected = judge.search({}, queries, k);
        neighbours const found = gpu.search(ctx(), queries, k);
        ASSERT_EQ(found.id, expected.id) << here << ", k " << k;
        ASSERT_EQ(found.value, expected.value) << here << ", k " << k;
      }
      for (double const radius : radii) {
        rows_in_range const expected = judge.search_range({}, queries, radius);
        rows_in_range const found = gpu.search_range(ctx(), queries, radius);
        ASSERT_EQ(found.begin, expected.begin) << here << ", radius " << radius;
        ASSERT_EQ(found.row, expected.row) << here << ", radius " << radius;
        ASSERT_EQ(found.value, expected.value) << here << ", radius " << radius;
      }
    }
  }
  void expect_same_vectors(vectors const& rows, vectors const& asked,
                           std::string const& what) const {
    for (auto const which : {metric_distance::l1, metric_distance::l2, metric_distance::linf}) {
      auto const space = std::make_shared<vector_space const>(context(), rows, which);
      expect_same(space, *space->queries({}, asked), what + std::string(name_of(which)));
    }
  }
  void expect_same_words(std::vector<std::string> const& words,
                         std::vector<std::string> const& asked, std::string const& what) const {
    auto const space = std::make_shared<word_space const>(words);
    expect_same(space, *space->queries(asked), what);
  }
};
INSTANTIATE_TEST_SUITE_P(gpus, metric_gpus,
                         ::testing::ValuesIn(rulerank::testing_tools::gpu_counts),
                         [](auto const& i) { return std::to_string(i.param); });

TEST_P(metric_gpus, vectors_of_numbers) {
  expect_same_vectors(drawn_vectors(3000, 20, 1), drawn_vectors(50, 20, 2), "drawn ");
}
TEST_P(metric_gpus, vectors_with_ties) {
  expect_same_vectors(drawn_vectors(1500, 4, 3, 3), drawn_vectors(30, 4, 4, 3), "ties ");
}
/// The root of 1 + 2^-52 rounds to 1: squares differ but distances do not, also at the k-th.
TEST_P(metric_gpus, squares_with_one_root) {
  std::vector<float> values;
  for (int i = 0; i < 60; ++i)
    values.insert(values.end(), {1, 0x1p-26F, 2, 0, 1, 0, 2, 0x1p-25F, 0, static_cast<float>(i)});
  std::vector<float> asked;
  for (int i = 0; i < 130; ++i) asked.insert(asked.end(), {static_cast<float>(i % 3), 0});
  expect_same_vectors(vectors(values, 2), vectors(asked, 2), "roots ");
}
/// Dense search numbers its rows differently from the objects.
TEST_P(metric_gpus, objects_that_were_taken_out) {
  auto const space = std::make_shared<vector_space const>(context(), drawn_vectors(900, 6, 24, 4),
                                                          metric_distance::l2);
  metric_index index({}, space, {.type = metric_index_type::brute});
  for (std::uint32_t object = 0; object < 900; object += 3) index.erase(object);
  index.insert(450);
  auto const asked = drawn_vectors(200, 6, 25, 4);
  metric_gpu_index const gpu(ctx(), index, {metric_engine::pairs});
  for (std::size_t const k : {1, 20, 601, 700}) {
    neighbours const expected = index.search({}, *space->queries({}, asked), k);
    neighbours const found = gpu.search(ctx(), *space->queries({}, asked), k);
    ASSERT_EQ(found.id, expected.id) << k;
    ASSERT_EQ(found.value, expected.value) << k;
  }
}
/// Queries that suffice for all devices have the same results as alone; a few queries stay on one
/// device.
TEST_P(metric_gpus, share_out_what_pays) {
  auto const rows = drawn_vectors(3000, 8, 26);
  auto const asked = drawn_vectors(5000, 8, 27);
  auto const words = drawn_words(70000, 28, 9, 5);
  std::vector<std::string> const asked_words(words.begin(), words.begin() + 2500);
  auto const vectors_space =
      std::make_shared<vector_space const>(context(), rows, metric_distance::l2);
  auto const words_space = std::make_shared<word_space const>(words);
  auto const expect_shares = [&](auto const& space, auto const& all, auto const& one,
                                 metric_engine engine) {
    metric_index const index({}, space, {.type = index_type_of(engine)});
    metric_gpu_index const gpu(ctx(), index, {engine});
    metric_gpu_work of_all, of_one;
    neighbours const found = gpu.search(ctx(), all, 7, &of_all);
    neighbours const alone = gpu.search(ctx(), one, 7, &of_one);
    EXPECT_EQ(of_all.devices, GetParam()) << name_of(engine);
    EXPECT_EQ(of_one.devices, 1U) << name_of(engine);
    EXPECT_TRUE(std::equal(alone.id.begin(), alone.id.end(), found.id.begin())) << name_of(engine);
    EXPECT_EQ(gpu.search(ctx(), all, 7).id, found.id) << name_of(engine);
    metric_gpu_index const on_first(on_gpus(1), index, {engine});
    EXPECT_EQ(on_first.search(on_gpus(1), all, 7).id, found.id) << name_of(engine);
  };
  auto const queries = vectors_space->queries({}, asked);
  auto const one_query = vectors_space->queries({}, asked.rows(0, 1));
  expect_shares(vectors_space, *queries, *one_query, metric_engine::pairs);
  expect_shares(vectors_space, *queries, *one_query, metric_engine::lc_growing);
  expect_shares(words_space, *words_space->queries(asked_words),
                *words_space->queries({asked_words[0]}), metric_engine::pairs);
}
TEST_P(metric_gpus, few_objects) {
  expect_same_vectors(drawn_vectors(1, 3, 5), drawn_vectors(5, 3, 6), "one ");
  expect_same_vectors(drawn_vectors(150, 2, 7, 1), drawn_vectors(3, 2, 8, 1), "equal ");
  expect_same_words({"a"}, {"", "a", "bc"}, "one");
  expect_same_words({"", ""}, {"", "a"}, "empty");
}
TEST_P(metric_gpus, words_of_a_few_letters) {
  expect_same_words(drawn_words(3000, 9, 14), drawn_words(77, 10, 18, 5), "words");
}
TEST_P(metric_gpus, words_of_many_letters) {
  expect_same_words(drawn_words(700, 11, 70), drawn_words(40, 12, 80), "to 80 letters");
  expect_same_words(drawn_words(300, 13, 300), drawn_words(20, 14, 400), "to 400 letters");
}
TEST_P(metric_gpus, large_alphabets) {
  expect_same_words(drawn_words(500, 15, 20, 900), drawn_words(20, 16, 90, 1000), "900 letters");
}

TEST_P(metric_gpus, an_index_of_nothing) {
  auto const space = std::make_shared<word_space const>(std::vector<std::string>());
  for (auto const engine : listed_engines()) {
    metric_index const index({}, space, {.type = index_type_of(engine)});
    metric_gpu_index const gpu(ctx(), index, {engine});
    auto const one = space->queries({"a"}), none = space->queries({});
    EXPECT_EQ(gpu.search(ctx(), *one, 2).id,
              (std::vector<std::uint32_t>{no_neighbour, no_neighbour}));
    EXPECT_TRUE(gpu.search_range(ctx(), *one, 9).row.empty());
    EXPECT_TRUE(gpu.search(ctx(), *none, 2).id.empty());
  }
}

TEST_P(metric_gpus, batches_find_what_all_do) {
  auto const rows = drawn_vectors(2000, 8, 17);
  auto const asked = drawn_vectors(230, 8, 18);
  auto const space = std::make_shared<vector_space const>(context(), rows, metric_distance::l2);
  metric_index const index({}, space, {.type = metric_index_type::lc});
  metric_gpu_index const gpu(ctx(), index);
  EXPECT_EQ(gpu.engine(), metric_engine::lc_growing);
  neighbours const all = gpu.search(ctx(), *space->queries({}, asked), 8);
  for (std::size_t first = 0; first < asked.size(); first += 30) {
    std::size_t const count = std::min<std::size_t>(30, asked.size() - first);
    neighbours const some = gpu.search(ctx(), *space->queries({}, asked.rows(first, count)), 8);
    EXPECT_TRUE(std::equal(some.id.begin(), some.id.end(),
                           all.id.begin() + static_cast<std::ptrdiff_t>(first * 8)));
  }
}

TEST_P(metric_gpus, several_threads_at_once) {
  auto const words = drawn_words(2000, 19, 12);
  auto const space = std::make_shared<word_space const>(words);
  auto const asked = space->queries(drawn_words(60, 20, 12));
  for (auto const engine : {metric_engine::pairs, metric_engine::lc_growing}) {
    metric_index const index({}, space, {.type = index_type_of(engine)});
    metric_gpu_index const gpu(ctx(), index, {engine});
    neighbours const expected = gpu.search(ctx(), *asked, 5);
    std::vector<neighbours> found(4);
    {
      std::vector<std::jthread> threads;
      for (neighbours& one : found)
        threads.emplace_back([&] { one = gpu.search(ctx(), *asked, 5); });
    }
    for (neighbours const& one : found) EXPECT_EQ(one.id, expected.id);
  }
}

TEST_P(metric_gpus, stops) {
  auto const space = std::make_shared<word_space const>(drawn_words(500, 21, 9));
  std::stop_source stop;
  stop.request_stop();
  context stopped = ctx();
  stopped.stop = stop.get_token();
  auto const asked = space->queries({"abba"});
  for (auto const engine : listed_engines()) {
    metric_index const index({}, space, {.type = index_type_of(engine)});
    metric_gpu_index const gpu(ctx(), index, {engine});
    EXPECT_THROW(gpu.search(stopped, *asked, 3), interrupted) << name_of(engine);
    EXPECT_THROW(gpu.search_range(stopped, *asked, 3), interrupted) << name_of(engine);
    EXPECT_EQ(gpu.search(ctx(), *asked, 3).count_of(0), 3U);
  }
}

#if RULERANK_HAS_CUDA
TEST_P(metric_gpus, matrix_of_words) {
  auto const words = drawn_words(1000, 22, 40);
  auto const asked = drawn_words(333, 23, 70);
  auto const space = std::make_shared<word_space const>(words);
  metric_index const index({}, space, {.type = metric_index_type::brute});
  gpu_layout const layout = lay_out_all(index, word_places::by_length);
  std::vector<std::uint8_t> matrix;
  edit_matrix(ctx(), layout, queries_of(layout, asked), &matrix);
  auto const queries = space->queries(asked);
  for (std::size_t q = 0; q < asked.size(); ++q) {
    auto const origin = queries->from(q);
    for (std::size_t place = 0; place < words.size(); ++place)
      ASSERT_EQ(matrix[q * words.size() + place], origin->to(layout.ids[place]));
  }
}
#endif

TEST(metric_gpu_index, needs_devices) {
  auto const space = std::make_shared<word_space const>(std::vector<std::string>{"a"});
  metric_index const index({}, space, {.type = metric_index_type::brute});
  EXPECT_THROW(metric_gpu_index({}, index), device_error);
  EXPECT_THROW(metric_gpu_index({}, index, {metric_engine::index}), usage_error);
}

TEST(metric_gpu_index, has_engines_with_names) {
  for (auto const& entry : metric_engines()) {
    EXPECT_EQ(metric_engine_from(entry.name), entry.which);
    EXPECT_EQ(index_type_of(entry.which) == metric_index_type::automatic,
              entry.where == runs_on::cpu);
  }
  EXPECT_EQ(metric_engine_from("auto"), metric_engine::automatic);
  EXPECT_THROW(metric_engine_from("quick"), usage_error);
  EXPECT_TRUE(is_on_gpus(metric_distance::edit, metric_index_type::automatic));
  EXPECT_FALSE(is_on_gpus(metric_distance::angular, metric_index_type::brute));
  EXPECT_FALSE(is_on_gpus(metric_distance::l2, metric_index_type::egnat));
}

}  // namespace
}  // namespace rulerank::knn::gpu_search_test
