#include "core/testing.hpp"
#include "knn/classification.hpp"
#include "knn/dense/dense_reference.hpp"
#include "knn/dense/engine.hpp"
#include "knn/dense/published/gs.hpp"
#include "knn/dense/search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

// Compares the published engines for GPUs with the definition: bit for bit if floats round nothing,
// otherwise within the bounds in docs/reference/modules/knn-dense.md.
namespace rulerank::inline v0::knn::published_cuda_test {
namespace {

using datasets::element;
using datasets::vectors;

constexpr dense_engine published[] = {dense_engine::ppk, dense_engine::ppb, dense_engine::sbq,
                                      dense_engine::gs};
constexpr similarity all_metrics[] = {similarity::l2, similarity::inner_product,
                                      similarity::cosine};

/// Integers from -spread to spread; with few distinct values, many rows are equally near.
vectors drawn_integers(std::size_t count, std::size_t dimensions, std::uint32_t seed, int spread) {
  std::mt19937 random(seed);
  std::vector<float> values(count * dimensions);
  for (float& one : values)
    one = static_cast<float>(static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) -
                             spread);
  return vectors(std::move(values), dimensions);
}
vectors drawn_normal(std::size_t count, std::size_t dimensions, std::uint32_t seed, float mean) {
  std::mt19937 random(seed);
  std::normal_distribution<float> value(mean, 1);
  std::vector<float> values(count * dimensions);
  for (float& one : values) one = value(random);
  return vectors(std::move(values), dimensions);
}

/// Returns the bound of the difference between a float result and the definition. `sum`: of the
/// squares or products; squares: |x|^2 + |y|^2 of the farthest two.
double bound_of(dense_engine engine, similarity metric, std::size_t dimensions, double sum,
                double squares) {
  double const unit = 0x1p-24;
  double const n = static_cast<double>(dimensions) + 8;
  double const gamma = n * unit / (1 - n * unit);
  if (metric == similarity::cosine) return 1.001 * gamma;
  bool const cancels = metric == similarity::inner_product || engine == dense_engine::gs;
  return 1.001 * gamma * (cancels ? squares : sum) + n * 0x1p-149;
}

/// Returns the bounded quantity, which is the square for l2.
double compared(similarity metric, double value) {
  return metric == similarity::l2 ? value * value : value;
}

/// The expected results of rows and queries by the definition.
class expectation {
 public:
  expectation(vectors const& rows, vectors const& queries, similarity metric)
      : metric_(metric), rows_(rows), all_(dense_reference(rows, queries, metric)) {
    auto const largest = [](vectors const& of) {
      std::vector<double> const values = as_doubles(of);
      double most = 0;
      for (std::size_t v = 0; v < of.size(); ++v) {
        double sum = 0;
        for (std::size_t i = 0; i < of.dimensions(); ++i) {
          double const x = values[v * of.dimensions() + i];
          sum += x * x;
        }
        most = std::max(most, sum);
      }
      return most;
    };
    squares_ = largest(rows) + largest(queries);
  }

  /// `exact`: floats hold all sums exactly. `found` belongs to the first queries.
  void check(neighbours const& found, dense_engine engine, std::size_t k, bool exact,
             std::string const& what) const {
    ASSERT_EQ(found.k, k) << what;
    ASSERT_EQ(found.order, order_of(metric_)) << what;
    for (std::size_t q = 0; q < found.queries; ++q) {
      std::vector<bool> seen(rows_.size());
      auto const ids = found.ids_of(q);
      auto const values = found.values_of(q);
      for (std::size_t i = 0; i < k; ++i) {
        std::string const where =
            what + ", query " + std::to_string(q) + ", rank " + std::to_string(i);
        if (i >= rows_.size()) {
          ASSERT_EQ(ids[i], no_neighbour) << where;
          continue;
        }
        ASSERT_LT(ids[i], rows_.size()) << where;
        ASSERT_FALSE(seen[ids[i]]) << where << ": row " << ids[i] << " twice";
        seen[ids[i]] = true;
        reference_row const& expected = all_[q][i];
        if (exact && metric_ != similarity::cosine) {
          double const value =
              metric_ == similarity::l2 ? std::sqrt(expected.value) : expected.value;
          ASSERT_EQ(ids[i], expected.row) << where;
          ASSERT_EQ(std::bit_cast<std::uint64_t>(values[i]), std::bit_cast<std::uint64_t>(value))
              << where;
          continue;
        }
        double const bound =
            bound_of(engine, metric_, rows_.dimensions(), std::abs(expected.value), squares_);
        ASSERT_NEAR(compared(metric_, values[i]), expected.value, bound) << where;
        ASSERT_NEAR(defined(q, ids[i]), expected.value, 2 * bound) << where;
        if (i > 0 && values[i - 1] == values[i] && metric_ != similarity::l2) {
          ASSERT_LT(ids[i - 1], ids[i]) << where << ": equal, not by number";
        }
      }
    }
  }

 private:
  double defined(std::size_t q, std::uint32_t row) const {
    auto const at = std::find_if(all_[q].begin(), all_[q].end(),
                                 [&](reference_row const& one) { return one.row == row; });
    return at->value;
  }

  similarity metric_;
  vectors rows_;
  std::vector<std::vector<reference_row>> all_;
  double squares_ = 0;
};

/// Returns why the engines cannot run on so many GPUs; empty if they can.
std::string why_not_here(std::size_t gpus) {
  auto const why = testing_tools::why_not_on_gpus(gpus);
  return why.empty() ? why : "engines ppk, ppb, sbq, gs: " + why;
}

/// Tests on 1, 2 and 4 GPUs.
class published_dense_search : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (auto const why = why_not_here(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  static context gpus() { return testing_tools::on_gpus(GetParam()); }

  /// All engines and metrics, for the first `count` queries of several counts.
  static void check_all(vectors const& rows, vectors const& queries,
                        std::vector<std::size_t> const& counts, std::vector<std::size_t> const& ks,
                        bool exact, std::string const& name) {
    for (similarity const metric : all_metrics) {
      expectation const expected(rows, queries, metric);
      for (dense_engine const engine : published) {
        dense_index const index(gpus(), rows, {.metric = metric, .engine = engine});
        EXPECT_EQ(index.engine(), engine);
        for (std::size_t const count : counts)
          for (std::size_t const k : ks) {
            expected.check(index.search(gpus(), queries.rows(0, count), k), engine, k, exact,
                           name + ": " + std::string(name_of(engine)) + " " +
                               std::string(name_of(metric)) + ", queries " + std::to_string(count) +
                               ", k " + std::to_string(k));
            if (::testing::Test::HasFatalFailure()) return;
          }
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(dense, published_dense_search,
                         ::testing::ValuesIn(testing_tools::gpu_counts),
                         [](auto const& of) { return std::to_string(of.param); });

TEST_P(published_dense_search, golden) {
  vectors const rows(std::vector<float>{0, 0, 3, 4, 1, 0, 0, 2, 1, 0}, 2);
  vectors const query(std::vector<float>{1, 0}, 2);
  for (dense_engine const engine : published) {
    auto const found = [&](similarity metric, std::size_t k) {
      return dense_index(gpus(), rows, {.metric = metric, .engine = engine})
          .search(gpus(), query, k);
    };
    neighbours const near = found(similarity::l2, 6);
    EXPECT_EQ(near.id, (std::vector<std::uint32_t>{2, 4, 0, 3, 1, no_neighbour}));
    EXPECT_EQ(near.value, (std::vector<double>{0, 0, 1, 2.23606797749979, 4.47213595499958, 0}));
    neighbours const products = found(similarity::inner_product, 3);
    EXPECT_EQ(products.id, (std::vector<std::uint32_t>{1, 2, 4}));
    EXPECT_EQ(products.value, (std::vector<double>{3, 1, 1}));
    EXPECT_EQ(found(similarity::cosine, 5).id, (std::vector<std::uint32_t>{2, 4, 1, 0, 3}));
  }
}

// Fewer rows than warps, threads or blocks; dimensions that are no multiple of 4 or of a warp's;
// duplicates and ties.
TEST_P(published_dense_search, the_defined_order_of_integers) {
  std::pair<std::size_t, std::size_t> const shapes[] = {{1, 1},    {5, 3},    {31, 2},   {33, 129},
                                                        {263, 16}, {1000, 7}, {1025, 33}};
  for (auto const& [count, dimensions] : shapes)
    check_all(drawn_integers(count, dimensions, 1, 2), drawn_integers(20, dimensions, 2, 2),
              {1, 20}, {1, 2, 30, 33, count, count + 3}, true,
              std::to_string(count) + " x " + std::to_string(dimensions));
  check_all(drawn_integers(3000, 50, 3, 40), drawn_integers(20, 50, 4, 40), {20}, {1, 64, 500},
            true, "3000 x 50");
}

// sbq: queries of single blocks, and queries for which blocks divide the rows.
TEST_P(published_dense_search, more_queries_than_blocks) {
  check_all(drawn_integers(700, 5, 5, 3), drawn_integers(1500, 5, 6, 3), {1056, 1500}, {1, 17},
            true, "many queries");
}

// gs: several tiles of a sort, several rounds of searches for the minimum.
TEST_P(published_dense_search, sizes_at_the_boundaries_of_tiles) {
  for (std::size_t const count : {1023, 1024, 2049, 8192, 8193, 20'000})
    check_all(drawn_integers(count, 4, 7, 9), drawn_integers(3, 4, 8, 9), {3}, {1, 100, 512}, true,
              std::to_string(count) + " rows");
}

TEST_P(published_dense_search, most_neighbours) {
  check_all(drawn_integers(20'000, 3, 9, 30), drawn_integers(2, 3, 10, 30), {2}, {2048, 4096}, true,
            "large k");
  vectors const rows = drawn_integers(300'000, 1, 11, 1000);
  for (dense_engine const engine : published) {
    dense_index const index(gpus(), rows, {.engine = engine});
    std::size_t const k = 100'000;
    if (engine == dense_engine::gs) {
      expectation(rows, rows.rows(0, 1), similarity::l2)
          .check(index.search(gpus(), rows.rows(0, 1), k), engine, k, true, "gs, 100000");
      continue;
    }
    try {
      index.search(gpus(), rows.rows(0, 1), k);
      FAIL() << name_of(engine);
    } catch (usage_error const& e) {
      std::string const what = e.what();
      EXPECT_NE(what.find("engine " + std::string(name_of(engine))), std::string::npos) << what;
      EXPECT_NE(what.find("use engine flat"), std::string::npos) << what;
    }
  }
}

// Each row is nearer than all previous rows, so that every warp inserts every row.
TEST_P(published_dense_search, rows_that_come_nearer) {
  std::vector<float> values;
  for (float value = 6000; value > 3000; --value) values.insert(values.end(), 2, value);
  vectors const rows(values, 1);
  vectors const queries = drawn_integers(3, 1, 12, 1);
  check_all(rows, queries, {3}, {1, 32, 129, 1000}, true, "nearer and nearer");
}

TEST_P(published_dense_search, all_types_of_values) {
  vectors const rows = drawn_integers(500, 9, 13, 5);
  vectors const queries = drawn_integers(7, 9, 14, 5);
  for (element const type :
       {element::float16, element::bfloat16, element::int8, element::float32}) {
    vectors const typed = datasets::converted({}, rows, type, datasets::rounding::nearest);
    check_all(typed, queries, {7}, {10}, true, std::string(datasets::name_of(type)));
  }
}

TEST_P(published_dense_search, values_that_floats_round) {
  for (float const mean : {0.0F, 30.0F})
    for (std::size_t const dimensions : {1, 31, 128, 785})
      check_all(drawn_normal(2000, dimensions, 15, mean), drawn_normal(9, dimensions, 16, mean),
                {9}, {1, 40}, false,
                "normal values around " + std::to_string(mean) + ", " + std::to_string(dimensions));
}

TEST_P(published_dense_search, rows_that_are_added) {
  vectors const rows = drawn_integers(900, 6, 17, 4);
  vectors const queries = drawn_integers(8, 6, 18, 4);
  for (dense_engine const engine : published) {
    dense_index index(gpus(), rows.rows(0, 0), {.engine = engine});
    EXPECT_EQ(index.search(gpus(), queries, 3).count_of(0), 0U);
    std::size_t before = 0;
    for (std::size_t const more : {1, 400, 499}) {
      index.add(gpus(), rows.rows(before, more));
      before += more;
      vectors const so_far = rows.rows(0, before);
      expectation(so_far, queries, similarity::l2)
          .check(index.search(gpus(), queries, 12), engine, 12, true,
                 std::string(name_of(engine)) + ", added");
    }
  }
}

TEST_P(published_dense_search, the_same_bits_again_and_from_several_threads) {
  vectors const rows = drawn_normal(5000, 40, 19, 1);
  vectors const queries = drawn_normal(300, 40, 20, 1);
  for (dense_engine const engine : published) {
    dense_index const index(gpus(), rows, {.engine = engine});
    neighbours const first = index.search(gpus(), queries, 25);
    std::vector<neighbours> found(3);
    {
      std::vector<std::jthread> threads;
      for (neighbours& one : found)
        threads.emplace_back([&] { one = index.search(gpus(), queries, 25); });
    }
    for (neighbours const& one : found) {
      EXPECT_EQ(one.id, first.id) << name_of(engine);
      EXPECT_EQ(one.value, first.value) << name_of(engine);
    }
  }
}

/// Returns the message of an error.
std::string message_of(std::function<void()> const& call) {
  try {
    call();
  } catch (usage_error const& e) {
    return e.what();
  }
  return "no error";
}

TEST_P(published_dense_search, refuses_what_it_does_not_do) {
  vectors const rows = drawn_integers(100, 4, 21, 4);
  std::vector<std::uint64_t> const filter(2, ~std::uint64_t{0});
  vectors const large(std::vector<float>{1, 0, 0, 0, 1e16F, 0, 0, 0}, 4);
  vectors const small(std::vector<float>{0, 0, 0, 0, 1e-16F, 0, 0, 0}, 4);
  for (dense_engine const engine : published) {
    std::string const name = "engine " + std::string(name_of(engine));
    dense_index const index(gpus(), rows, {.engine = engine});
    EXPECT_EQ(message_of([&] { index.search_range(gpus(), rows, 2); }),
              name + " finds k neighbours alone, found a radius; use engine flat");
    for (dense_filter const& one :
         {dense_filter{filter, {}}, dense_filter{{}, std::span(filter).first(2)}})
      EXPECT_EQ(message_of([&] { index.search(gpus(), rows.rows(0, 1), 2, one); }),
                name + " searches all rows alone, found a filter; use engine flat");
    for (vectors const& wrong : {large, small}) {
      std::string const expected =
          ", row 1: expected a norm of 0 or from 1e-15 to 1e15, because this engine computes in "
          "single precision; use engine flat";
      EXPECT_EQ(message_of([&] { dense_index(gpus(), wrong, {.engine = engine}); }),
                name + ": rows" + expected);
      EXPECT_EQ(message_of([&] { index.search(gpus(), wrong, 2); }), name + ": queries" + expected);
    }
    EXPECT_EQ(index.search(gpus(), rows.rows(3, 1), 1).value.front(), 0);
  }
}

TEST_P(published_dense_search, stops_when_asked) {
  context ctx = gpus();
  vectors const rows = drawn_integers(100, 4, 22, 4);
  for (dense_engine const engine : published) {
    std::stop_source stop;
    ctx.stop = stop.get_token();
    dense_index const index(ctx, rows, {.engine = engine});
    EXPECT_EQ(index.search(ctx, rows, 5).id.size(), 500U);
    stop.request_stop();
    EXPECT_THROW(index.search(ctx, rows, 5), interrupted);
    ctx.stop = {};
    EXPECT_EQ(index.search(ctx, rows, 5).id.size(), 500U);
  }
}

TEST_P(published_dense_search, tells_the_time_of_kernels) {
  vectors const rows = drawn_integers(2000, 16, 23, 4);
  for (dense_engine const engine : published) {
    dense_index const index(gpus(), rows, {.engine = engine});
    dense_search_work work;
    neighbours const found = index.search(gpus(), rows.rows(0, 5), 5, {}, &work);
    EXPECT_GT(count_of(work.counts, "kernel_ns"), 0U) << name_of(engine);
    EXPECT_LT(1e-9 * static_cast<double>(count_of(work.counts, "kernel_ns")),
              found.search_s * static_cast<double>(GetParam()))
        << name_of(engine);
    bool const selects = engine == dense_engine::sbq || engine == dense_engine::gs;
    EXPECT_EQ(count_of(work.counts, "selection_ns") > 0, selects) << name_of(engine);
  }
}

#if RULERANK_HAS_CUDA

/// Returns the results of an engine with a fixed selection.
neighbours found_by(gs_selection how, context const& ctx, vectors const& rows,
                    vectors const& queries, std::size_t k, dense_search_work& work) {
  dense_rows const own(rows);
  auto const engine = make_gs_selecting(ctx, own, {}, how);
  std::vector<float> values;
  for (double const one : as_doubles(queries)) values.push_back(static_cast<float>(one));
  dense_request request;
  request.queries = values;
  request.count = queries.size();
  request.k = k;
  std::vector<std::vector<dense_candidate>> found(queries.size());
  engine->search(ctx, request, found, work);
  neighbours all;
  all.queries = queries.size();
  all.k = k;
  all.order = value_order::smaller_is_nearer;
  for (auto const& one : found)
    for (dense_candidate const& c : one) {
      all.id.push_back(c.id);
      all.value.push_back(std::sqrt(c.value));
    }
  return all;
}

TEST_P(published_dense_search, gs_selects_the_same_both_ways_and_says_which) {
  for (std::size_t const count : {40, 1024, 5000, 40'000}) {
    vectors const rows = drawn_integers(count, 8, 24, 5);
    vectors const queries = drawn_integers(11, 8, 25, 5);
    expectation const expected(rows, queries, similarity::l2);
    for (std::size_t const k : {1, 31, 46, 512}) {
      if (k > count) continue;
      std::string const name = std::to_string(count) + " rows, k " + std::to_string(k);
      std::size_t const batches = std::min<std::size_t>(GetParam(), queries.size());
      for (gs_selection const how :
           {gs_selection::by_trial, gs_selection::minima, gs_selection::sorting}) {
        dense_search_work work;
        expected.check(found_by(how, gpus(), rows, queries, k, work), dense_engine::gs, k, true,
                       name);
        EXPECT_EQ(count_of(work.counts, "by_minima") + count_of(work.counts, "by_sorting"), batches)
            << name;
        if (how != gs_selection::by_trial) {
          EXPECT_EQ(count_of(work.counts, "by_minima"), how == gs_selection::minima ? batches : 0)
              << name;
        }
      }
    }
  }
}

TEST_P(published_dense_search, gs_searches_for_so_many_minima) {
  vectors const rows = drawn_integers(2000, 8, 26, 5);
  dense_search_work work;
  EXPECT_EQ(
      message_of([&] { found_by(gs_selection::minima, gpus(), rows, rows.rows(0, 2), 513, work); }),
      "engine gs: found k 513, expected at most 512, by searches for the minimum; use engine "
      "flat");
  found_by(gs_selection::by_trial, gpus(), rows, rows.rows(0, 1), 513, work);
  EXPECT_EQ(count_of(work.counts, "by_minima"), 0U);
  EXPECT_EQ(count_of(work.counts, "by_sorting"), 1U);
}

TEST_P(published_dense_search, gs_votes_as_classify_does) {
  vectors const rows = drawn_integers(700, 3, 27, 6);
  vectors const queries = drawn_integers(200, 3, 28, 6);
  for (std::uint32_t const classes : {1U, 2U, 9U, 5000U})
    for (std::size_t const k : {1, 2, 10, 700, 1500}) {
      std::mt19937 random(29);
      std::vector<std::uint32_t> class_of(rows.size());
      for (std::uint32_t& one : class_of)
        one = random() % 7 == 0 ? no_class : static_cast<std::uint32_t>(random() % classes);
      neighbours const found = search_reference(rows, queries, similarity::l2, k);
      EXPECT_EQ(gs_vote(gpus(), found, class_of), classify(found, class_of, voting::majority))
          << classes << " " << k;
    }
  neighbours const found = search_reference(rows, queries, similarity::l2, 4);
  EXPECT_EQ(gs_vote(gpus(), found, std::vector<std::uint32_t>(rows.size(), no_class)),
            std::vector<std::uint32_t>(queries.size(), no_class));
  EXPECT_THROW(gs_vote(gpus(), found, std::vector<std::uint32_t>(rows.size(), 100'000)),
               usage_error);
}

TEST(published_dense_search_without_gpus, votes_are_refused) {
  EXPECT_THROW(gs_vote({}, {}, {}), device_error);
}

#endif

TEST(published_dense_search_without_gpus, is_refused) {
  vectors const rows = drawn_integers(10, 4, 30, 4);
  for (dense_engine const engine : published)
    EXPECT_THROW(dense_index({}, rows, {.engine = engine}), device_error) << name_of(engine);
}

}  // namespace
}  // namespace rulerank::knn::published_cuda_test
