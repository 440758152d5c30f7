#include "knn/dense/search.hpp"

#include "core/message_testing.hpp"
#include "core/process_group_testing.hpp"
#include "core/testing.hpp"
#include "knn/dense/candidate_list.hpp"
#include "knn/dense/centre.hpp"
#include "knn/dense/definition.hpp"
#include "knn/dense/dense_collection.hpp"
#include "knn/dense/dense_reference.hpp"
#include "knn/dense/error_bound.hpp"
#include "knn/dense/flat_kernels.hpp"
#include "knn/dense/published/engines.hpp"
#include "knn/dense/testing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/highway.h>

namespace rulerank::inline v0::knn::dense_search_test {
namespace {

[[maybe_unused]] bool const published_engines_are_listed = (add_published_dense_engines(), true);

using datasets::element;
using datasets::vectors;
using rulerank::testing_tools::message_of;
using namespace testing_tools;

/// Returns the k nearest of the first `queries` queries.
neighbours first_of(neighbours const& all, std::size_t queries, std::size_t k) {
  neighbours some;
  some.queries = queries;
  some.k = k;
  some.order = all.order;
  for (std::size_t q = 0; q < queries; ++q) {
    for (auto const id : all.ids_of(q).first(k)) some.id.push_back(id);
    for (double const value : all.values_of(q).first(k)) some.value.push_back(value);
  }
  return some;
}

/// Tests every engine with several numbers of queries: one by one, a partial panel, several panels.
void expect_reference(vectors const& rows, vectors const& queries, std::vector<std::size_t> ks,
                      std::string const& what) {
  for (similarity const metric : all_metrics) {
    neighbours const expected =
        search_reference(rows, queries, metric, *std::max_element(ks.begin(), ks.end()));
    for (dense_engine_info const& engine : dense_engines()) {
      if (!includes(engine.where, runs_on::cpu) || engine.which == dense_engine::mpi_knn) continue;
      dense_index const index(on_threads(2), rows, {.metric = metric, .engine = engine.which});
      EXPECT_EQ(index.engine(), engine.which);
      for (std::size_t const count : {1, 3, 9, 40}) {
        if (count > queries.size()) continue;
        for (std::size_t const k : ks)
          expect_same(index.search(on_threads(2), queries.rows(0, count), k),
                      first_of(expected, count, k),
                      what + ", " + std::string(engine.name) + ", " + std::string(name_of(metric)) +
                          ", queries " + std::to_string(count));
      }
    }
  }
}

TEST(dense_search, golden) {
  vectors const rows(std::vector<float>{0, 0, 3, 4, 1, 0, 0, 2, 1, 0}, 2);
  vectors const query(std::vector<float>{1, 0}, 2);
  dense_index const l2({}, rows);
  neighbours const near = l2.search({}, query, 6);
  EXPECT_EQ(near.id, (std::vector<std::uint32_t>{2, 4, 0, 3, 1, no_neighbour}));
  EXPECT_EQ(near.value, (std::vector<double>{0, 0, 1, 2.23606797749979, 4.47213595499958, 0}));
  EXPECT_EQ(near.count_of(0), 5U);
  neighbours const products =
      dense_index({}, rows, {.metric = similarity::inner_product}).search({}, query, 3);
  EXPECT_EQ(products.id, (std::vector<std::uint32_t>{1, 2, 4}));
  EXPECT_EQ(products.value, (std::vector<double>{3, 1, 1}));
  neighbours const cosines =
      dense_index({}, rows, {.metric = similarity::cosine}).search({}, query, 5);
  EXPECT_EQ(cosines.id, (std::vector<std::uint32_t>{2, 4, 1, 0, 3}));
  EXPECT_EQ(cosines.value, (std::vector<double>{1, 1, 0.6, 0, 0}));
  rows_in_range const within = l2.search_range({}, query, 1);
  EXPECT_EQ(within.row, (std::vector<std::uint32_t>{2, 4, 0}));
  EXPECT_EQ(within.begin, (std::vector<std::uint64_t>{0, 3}));
}

class dense_types : public ::testing::TestWithParam<element> {};

TEST_P(dense_types, as_defined) {
  for (std::size_t const dimensions : {1, 2, 15, 16, 33, 130}) {
    std::size_t const count = 600;
    vectors const rows = as(GetParam(), drawn(count * dimensions, 1, 3, 30), dimensions);
    vectors const queries = as(GetParam(), drawn(40 * dimensions, 2, 3, 30), dimensions);
    expect_reference(rows, queries, {1, 10, count, count + 5},
                     std::to_string(dimensions) + " dimensions");
  }
}

TEST_P(dense_types, ties) {
  vectors const rows = as(GetParam(), drawn_small(std::size_t{900} * 4, 3), 4);
  vectors const queries = as(GetParam(), drawn_small(std::size_t{40} * 4, 4), 4);
  expect_reference(rows, queries, {1, 20, 500}, "ties");
}

TEST_P(dense_types, queries_of_another_type) {
  vectors const rows = as(GetParam(), drawn(std::size_t{300} * 20, 5, 0, 20), 20);
  vectors const queries = as(element::float32, drawn(std::size_t{40} * 20, 6, 0, 20), 20);
  expect_reference(rows, queries, {7}, "queries of floats");
}

INSTANTIATE_TEST_SUITE_P(elements, dense_types, ::testing::ValuesIn(all_types),
                         [](auto const& i) { return std::string(datasets::name_of(i.param)); });

TEST(dense_search, hard_numbers) {
  std::size_t const n = 24;
  std::size_t const count = 300;
  auto const kinds = hard_numbers(count, n);
  for (auto const& [name, values] : kinds)
    for (auto const& [of_queries, asked] : kinds) {
      vectors const rows(values, n);
      vectors const queries = vectors(asked, n).rows(3, 9);
      expect_reference(rows, queries, {10}, name + ", asked: " + of_queries);
    }
}

TEST(dense_search, bounds_that_do_not_close_are_counted) {
  std::size_t const n = 16;
  vectors const rows(std::vector<float>(2000 * n, 0.1F), n);
  for (std::size_t const count : {1, 40}) {
    vectors const queries(drawn(count * n, 14), n);
    dense_search_work work;
    dense_index const index({}, rows);
    index.search({}, queries, 5, {}, &work);
    EXPECT_EQ(work.widened, count);
    EXPECT_GT(work.recomputed, 1000 * count);
    dense_search_work easy;
    dense_index({}, vectors(drawn(2000 * n, 15), n)).search({}, queries, 5, {}, &easy);
    EXPECT_EQ(easy.widened, 0U);
    EXPECT_LT(easy.recomputed, 20 * count);
  }
}

/// Rows whose order changes in single precision by nearly the bound: a sum that begins with 1 loses
/// each subsequent 2^-24.
TEST(dense_search, order_that_floats_turn_around) {
  for (std::size_t const n : {40, 200, 1000}) {
    std::vector<float> values(3 * n);
    float const small = 0x1p-12F;
    for (std::size_t i = 0; i < n; ++i) values[2 * n + i] = small;
    values[2 * n] = 1;
    // The loss of floats in the last row, minus a fifth.
    std::size_t const units = n * 2 / 5;
    values[n] = 1 + static_cast<float>(units) * 0x1p-23F;
    values[0] = 0.5F;
    vectors const rows(values, n);
    std::vector<float> query(values.begin() + static_cast<std::ptrdiff_t>(2 * n), values.end());
    std::vector<float> asked;
    for (int q = 0; q < 70; ++q) asked.insert(asked.end(), query.begin(), query.end());
    for (std::size_t const count : {1, 5, 20, 70}) {
      vectors const queries = vectors(asked, n).rows(0, count);
      neighbours const found =
          dense_index({}, rows, {.metric = similarity::inner_product}).search({}, queries, 1);
      for (std::size_t q = 0; q < count; ++q) EXPECT_EQ(found.id[q], 2U);
      expect_same(found, search_reference(rows, queries, similarity::inner_product, 1), "turned");
    }
  }
}

TEST(dense_search, the_first_of_more) {
  vectors const rows(drawn_small(std::size_t{3000} * 6, 16), 6);
  vectors const queries(drawn_small(std::size_t{20} * 6, 17), 6);
  dense_index const index({}, rows);
  neighbours const all = index.search({}, queries, 3000);
  for (std::size_t const k : {1, 7, 100, 2049, 2999}) {
    neighbours const some = index.search({}, queries, k);
    for (std::size_t q = 0; q < queries.size(); ++q)
      for (std::size_t i = 0; i < k; ++i) {
        ASSERT_EQ(some.ids_of(q)[i], all.ids_of(q)[i]);
        ASSERT_EQ(some.values_of(q)[i], all.values_of(q)[i]);
      }
  }
}

TEST(dense_search, any_number_of_threads) {
  std::size_t const n = 48;
  vectors const rows(drawn_small(std::size_t{20'000} * n, 18), n);
  vectors const queries(drawn_small(std::size_t{40} * n, 19), n);
  for (similarity const metric : all_metrics) {
    dense_index const index({}, rows, {.metric = metric});
    for (std::size_t const count : {1, 40}) {
      neighbours const one = index.search(on_threads(1), queries.rows(0, count), 50);
      for (int const threads : {2, 5})
        expect_same(index.search(on_threads(threads), queries.rows(0, count), 50), one,
                    std::to_string(threads) + " threads");
    }
  }
}

TEST(dense_search, filters) {
  std::size_t const n = 10;
  std::size_t const count = 777;
  std::size_t const words = (count + 63) / 64;
  vectors const rows(scaled(drawn(count * n, 20), n, {1, 1, 1e30F, 1}), n);
  vectors const queries(drawn(40 * n, 21), n);
  auto const rare = drawn_filter(words, 22, 5);
  auto const often = drawn_filter(words * 40, 23, 1);
  std::vector<std::uint64_t> const none(words);
  for (similarity const metric : all_metrics)
    for (std::size_t const asked : {2, 40}) {
      dense_index const index({}, rows, {.metric = metric});
      vectors const some = queries.rows(0, asked);
      std::span<std::uint64_t const> const each(often.data(), asked * words);
      for (dense_filter const& filter : {dense_filter{rare, {}}, dense_filter{{}, each},
                                         dense_filter{rare, each}, dense_filter{none, each}}) {
        expect_same(index.search({}, some, 30, filter),
                    search_reference(rows, some, metric, 30, filter), "filter");
        rows_in_range const range = index.search_range({}, some, 2.5, filter);
        auto const all = dense_reference(rows, some, metric, filter);
        for (std::size_t q = 0; q < asked; ++q) {
          std::size_t within = 0;
          for (reference_row const& one : all[q])
            within += metric == similarity::l2 ? std::sqrt(one.value) <= 2.5 : one.value >= 2.5;
          ASSERT_EQ(range.rows_of(q).size(), within);
        }
      }
    }
}

TEST(dense_search, range_to_the_bit) {
  std::size_t const n = 12;
  vectors const rows(drawn(std::size_t{500} * n, 24), n);
  vectors const queries(drawn(std::size_t{20} * n, 25), n);
  for (similarity const metric : all_metrics) {
    dense_index const index({}, rows, {.metric = metric});
    for (std::size_t const asked : {1, 20}) {
      vectors const some = queries.rows(0, asked);
      neighbours const all = search_reference(rows, some, metric, rows.size());
      for (std::size_t const rank : {0, 17, 250, 499}) {
        double const radius = all.values_of(0)[rank];
        double const nearer_by_a_bit =
            std::nextafter(radius, metric == similarity::l2 ? 0.0 : 1e300);
        for (double const r : {radius, nearer_by_a_bit}) {
          rows_in_range const found = index.search_range(on_threads(2), some, r);
          ASSERT_EQ(found.begin.size(), asked + 1);
          for (std::size_t q = 0; q < asked; ++q) {
            std::size_t within = 0;
            for (double const value : all.values_of(q))
              within += metric == similarity::l2 ? value <= r : value >= r;
            ASSERT_EQ(found.rows_of(q).size(), within) << name_of(metric) << " " << r;
            for (std::size_t i = 0; i < within; ++i) {
              ASSERT_EQ(found.rows_of(q)[i], all.ids_of(q)[i]);
              ASSERT_EQ(found.values_of(q)[i], all.values_of(q)[i]);
            }
          }
          EXPECT_EQ(found.rows_of(0).size(), rank + (r == radius ? 1 : 0));
        }
      }
    }
    double const everything = metric == similarity::l2 ? std::numeric_limits<double>::infinity()
                                                       : -std::numeric_limits<double>::infinity();
    EXPECT_EQ(index.search_range({}, queries, everything).row.size(), 20 * rows.size());
    if (metric == similarity::l2) continue;
    EXPECT_TRUE(index.search_range({}, queries, -everything).row.empty());
  }
}

TEST(dense_search, rows_added_later) {
  std::size_t const n = 20;
  vectors const rows = as(element::float16, drawn(std::size_t{1000} * n, 26, 1000, 1), n);
  vectors const queries = as(element::float16, drawn(std::size_t{30} * n, 27, 1000, 1), n);
  for (similarity const metric : all_metrics)
    for (std::size_t const first : {0, 1, 500, 999}) {
      dense_index grown({}, rows.rows(0, first), {.metric = metric});
      std::size_t const second = first + (rows.size() - first) / 3;
      grown.add({}, rows.rows(first, second - first));
      grown.add({}, rows.rows(second, rows.size() - second));
      ASSERT_EQ(grown.size(), rows.size());
      for (std::size_t const asked : {1, 30})
        expect_same(grown.search({}, queries.rows(0, asked), 40),
                    search_reference(rows, queries.rows(0, asked), metric, 40),
                    "added behind " + std::to_string(first));
    }
}

TEST(dense_search, an_index_of_nothing) {
  dense_index index({}, vectors());
  vectors const query(std::vector<float>{1, 2}, 2);
  EXPECT_EQ(index.search({}, query, 2).id,
            (std::vector<std::uint32_t>{no_neighbour, no_neighbour}));
  EXPECT_EQ(index.search_range({}, query, 2).begin, (std::vector<std::uint64_t>{0, 0}));
  index.add({}, vectors(std::vector<std::int8_t>{1, 2, 3, 4}, 2));
  EXPECT_EQ(index.type(), element::int8);
  EXPECT_EQ(index.search({}, query, 1).id, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(index.search({}, query.rows(0, 0), 1).queries, 0U);
}

TEST(dense_search, ids_are_labels) {
  vectors const rows(std::vector<float>{1, 1, 0, 1}, 1);
  dense_index index({}, rows, {}, {9'000'000'000, -7, 5, -7});
  neighbours const found = index.search({}, vectors(std::vector<float>{1}, 1), 5);
  EXPECT_EQ(found.id, (std::vector<std::uint32_t>{0, 1, 3, 2, no_neighbour}));
  EXPECT_EQ(index.ids_of(found.id), (std::vector<std::int64_t>{9'000'000'000, -7, -7, 5, -1}));
  EXPECT_THROW(index.add({}, rows), usage_error);
  EXPECT_EQ(index.size(), 4U);
  index.add({}, rows.rows(0, 1), std::vector<std::int64_t>{3});
  EXPECT_EQ(index.id_of(4), 3);
  EXPECT_EQ(dense_index({}, rows).id_of(2), 2);
}

TEST(dense_search, bad_input) {
  vectors const rows(std::vector<float>{1, 2, 3, 4}, 2);
  dense_index index({}, rows);
  auto const usage = [](auto const& work) { return message_of<usage_error>(work); };
  EXPECT_EQ(usage([&] { index.search({}, rows, 0); }), "k: found 0, expected at least 1");
  EXPECT_EQ(usage([&] {
              index.search({}, vectors(std::vector<float>{1, 2, 3}, 3), 1);
            }),
            "vectors: found 3 dimensions, expected 2, as the rows have");
  EXPECT_EQ(usage([&] {
              index.search({}, vectors(std::vector<double>{1, 2}, 2), 1);
            }),
            "vectors: found values of type f64, expected f32, f16, bf16, i8 or u8");
  EXPECT_EQ(usage([&] {
              index.add({}, vectors(std::vector<std::int8_t>{1, 2}, 2));
            }),
            "vectors: found rows of 2 values of type i8, expected 2 of f32");
  EXPECT_EQ(usage([&] { dense_index({}, rows, {}, {1}); }),
            "ids: found 1, expected one for each of 2 rows");
  EXPECT_EQ(usage([&] { dense_index({}, rows, {.metric = similarity::normalized_l2}); }),
            "found metric 'normalized-l2', expected l2, ip, cosine");
  EXPECT_EQ(usage([&] { index.search_range({}, rows, -1); }),
            "radius: found -1, expected a number of 0 or more");
  EXPECT_EQ(usage([&] { index.search_range({}, rows, std::nan("")); }),
            "radius: found nan, expected a number of 0 or more");
  std::vector<std::uint64_t> const words(2);
  EXPECT_EQ(usage([&] {
              index.search({}, rows, 1, {words, {}});
            }),
            "filter of all queries: found 2 words, expected 1 for 2 rows");
  EXPECT_EQ(usage([&] {
              index.search({}, rows.rows(0, 1), 1, {{}, words});
            }),
            "filter of each query: found 2 words, expected 1 for 2 rows");
  EXPECT_NE(usage([&] { index.search({}, rows, std::size_t{1} << 60); }), "OK");
  EXPECT_NE(usage([&] { index.search({}, rows, std::size_t{1} << 40); }), "OK");
  EXPECT_EQ(usage([] { dense_engine_from("flot"); }).substr(0, 19), "found engine 'flot'");
  for (float const bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    vectors const some(std::vector<float>{1, 2, 3, bad, bad, 1}, 2, "some.npy");
    for (auto const& work : std::vector<std::function<void()>>{
             [&] { dense_index({}, some); }, [&] { index.add({}, some); },
             [&] { index.search({}, some, 1); }, [&] { index.search_range({}, some, 1); }})
      EXPECT_EQ(message_of<error>(work).substr(0, 12), "some.npy:2:2");
  }
  EXPECT_EQ(index.size(), 2U);
}

TEST(dense_search, stops) {
  vectors const rows(drawn(std::size_t{2000} * 8, 28), 8);
  dense_index index({}, rows);
  std::stop_source stop;
  stop.request_stop();
  context ctx;
  ctx.stop = stop.get_token();
  EXPECT_THROW(index.search(ctx, rows, 3), interrupted);
  EXPECT_THROW(index.search_range(ctx, rows, 3), interrupted);
  EXPECT_THROW(index.add(ctx, rows), interrupted);
  EXPECT_EQ(index.size(), rows.size());
  vectors const one = rows.rows(7, 1);
  expect_same(index.search({}, one, 5), search_reference(rows, one, similarity::l2, 5), "after");
}

TEST(candidate_list, keeps_the_nearest_in_little_memory) {
  std::mt19937 random(29);
  for (std::size_t const k : {1, 3, 50}) {
    std::vector<double> keys(5000);
    for (double& key : keys) key = static_cast<double>(random() % 100);
    candidate_list list(k, 0);
    std::size_t most = 0;
    for (std::uint32_t r = 0; r < keys.size(); ++r) {
      double const off = static_cast<double>(random() % 5);
      list.add({keys[r] - off, keys[r] + 5, r, false}, true, [&](std::vector<bounded_row>& rows) {
        for (bounded_row& one : rows) one = {keys[one.row], keys[one.row], one.row, true};
      });
      most = std::max(most, list.rows().size());
    }
    EXPECT_LE(most, 2 * k + 32);
    std::vector<std::pair<double, std::uint32_t>> order;
    for (std::uint32_t r = 0; r < keys.size(); ++r) order.emplace_back(keys[r], r);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < k; ++i)
      EXPECT_TRUE(std::any_of(list.rows().begin(), list.rows().end(),
                              [&](auto const& one) { return one.row == order[i].second; }));
  }
}

/// The kernels for each instruction set of this machine.
class dense_kernels : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

/// Computes the products of all rows with all queries by panels.
std::vector<float> panel_products(std::vector<float> const& queries, std::size_t width,
                                  float_rows const& rows) {
  std::vector<float> values(width * rows.dimensions), factor(width), limit(width, INFINITY);
  for (std::size_t q = 0; q < width; ++q)
    for (std::size_t i = 0; i < rows.dimensions; ++i)
      values[i * width + q] = queries[q * rows.dimensions + i];
  std::vector<float> const term(rows.count);
  std::vector<near_pair> pairs(rows.count * width);
  query_panel const panel{width, values.data(), factor.data(), limit.data()};
  std::size_t const found = find_near_pairs(panel, rows, term.data(), pairs.data());
  EXPECT_EQ(found, pairs.size());
  std::vector<float> products(pairs.size(), NAN);
  for (near_pair const& pair : pairs) products[pair.query * rows.count + pair.row] = pair.product;
  return products;
}

double exact_sum(float const* x, float const* y, std::size_t n, bool of_products) {
  long double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    long double const a = x[i], b = y[i];
    sum += of_products ? a * b : (a - b) * (a - b);
  }
  return static_cast<double>(sum);
}

TEST_P(dense_kernels, errors_are_within_the_bounds) {
  for (std::size_t const n : {1, 2, 7, 16, 31, 100, 1000}) {
    error_bound const bound(n);
    for (auto const& all :
         {drawn(n * 60, 30), drawn(n * 60, 31, 100, 1), scaled(drawn(n * 60, 32), n, {1e-21F}),
          scaled(drawn(n * 60, 33), n, {1e16F, 1e-3F}), std::vector<float>(n * 60, 0.1F)}) {
      std::size_t const count = 28;
      float_rows const rows{all.data() + 32 * n, n, count, n};
      for (std::size_t const width : {query_group, 2 * query_group}) {
        std::vector<float> const products = panel_products(all, width, rows);
        for (std::size_t q = 0; q < width; ++q) {
          float const* const query = all.data() + q * n;
          std::vector<float> one_by_one(count), squares(count);
          sum_products(query, rows, one_by_one.data());
          sum_squared_differences(query, rows, squares.data());
          for (std::size_t r = 0; r < count; ++r) {
            double const norms = defined_norm(query, n) * defined_norm(rows[r], n);
            double const product = exact_sum(query, rows[r], n, true);
            double const off = bound.products() * norms + bound.underflow();
            ASSERT_LE(std::abs(one_by_one[r] - product), off);
            ASSERT_LE(std::abs(products[q * count + r] - product), off);
            double const difference = exact_sum(query, rows[r], n, false);
            ASSERT_LE(std::abs(squares[r] - difference),
                      bound.differences() * difference + bound.underflow());
          }
        }
      }
    }
  }
}

/// Sums that lose everything after their first term differ from the exact ones by as much as the
/// bounds allow.
TEST_P(dense_kernels, bounds_are_not_larger_than_need_be) {
  for (std::size_t const n : {100, 1000, 10'000}) {
    std::vector<float> all(query_group * n, 0x1p-12F);
    for (std::size_t q = 0; q < query_group; ++q) all[q * n] = 1;
    float_rows const rows{all.data(), n, 1, n};
    double const product = exact_sum(all.data(), all.data(), n, true);
    double const off = product - panel_products(all, query_group, rows)[0];
    double const norm = defined_norm(all.data(), n);
    EXPECT_GT(off, 0.9 * error_bound(n).products() * norm * norm);
    EXPECT_LE(off, error_bound(n).products() * norm * norm);
  }
}

TEST_P(dense_kernels, pairs_within_the_line) {
  std::size_t const n = 19;
  for (std::size_t const count : {1, 3, 14, 15, 45})
    for (std::size_t const width : {query_group, 2 * query_group}) {
      std::vector<float> const all = drawn(n * (32 + count), 34);
      float_rows const rows{all.data() + 32 * n, n, count, n};
      std::vector<float> const products = panel_products(all, width, rows);
      std::vector<float> values(width * n), factor(width), limit(width), term(count);
      for (std::size_t q = 0; q < width; ++q) {
        for (std::size_t i = 0; i < n; ++i) values[i * width + q] = all[q * n + i];
        factor[q] = static_cast<float>(q % 3);
        limit[q] = static_cast<float>(q % 5) - 2;
      }
      for (std::size_t r = 0; r < count; ++r) term[r] = static_cast<float>(r % 4);
      std::vector<near_pair> pairs(count * width);
      query_panel const panel{width, values.data(), factor.data(), limit.data()};
      pairs.resize(find_near_pairs(panel, rows, term.data(), pairs.data()));
      std::vector<std::uint32_t> of_query(width);
      for (near_pair const& pair : pairs) {
        EXPECT_GE(pair.row + 1, of_query[pair.query]);
        of_query[pair.query] = pair.row + 1;
      }
      std::size_t expected = 0;
      for (std::size_t q = 0; q < width; ++q)
        for (std::size_t r = 0; r < count; ++r)
          expected += term[r] * factor[q] - products[q * count + r] <= limit[q] ? 1 : 0;
      EXPECT_EQ(pairs.size(), expected);
    }
}

INSTANTIATE_TEST_SUITE_P(instruction_sets, dense_kernels,
                         ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](auto const& i) { return std::string(hwy::TargetName(i.param)); });

/// Values are moved if their rounding to bfloat16 then loses less: values far from 0 compared with
/// their spread, also under cosine, but not integers that bfloat16 represents exactly, unless they
/// are far away.
TEST(centre_of_shadow, is_what_makes_bounds_narrower) {
  std::size_t const n = 50;
  std::size_t const count = 3000;
  double const product_error = 1e-5;
  auto const centre_of = [&](element type, std::vector<float> const& values, similarity metric) {
    return centre_of_shadow(dense_rows(as(type, values, n)), metric, product_error);
  };
  std::vector<float> const normal = drawn(count * n, 70);
  std::vector<float> const even = drawn_uniform(count * n, 71);
  std::vector<float> const bytes = drawn_uniform(count * n, 72, 255);
  for (element const type : {element::float32, element::float16}) {
    EXPECT_TRUE(centre_of(type, normal, similarity::l2).empty());
    EXPECT_TRUE(centre_of(type, normal, similarity::cosine).empty());
    EXPECT_TRUE(centre_of(type, normal, similarity::inner_product).empty());
    for (similarity const metric : {similarity::l2, similarity::inner_product}) {
      std::vector<float> const centre = centre_of(type, even, metric);
      ASSERT_EQ(centre.size(), n);
      for (float const value : centre) EXPECT_NEAR(value, 0.5F, 0.05F);
    }
    std::vector<float> const direction = centre_of(type, even, similarity::cosine);
    ASSERT_EQ(direction.size(), n);
    // Rows have a norm of about the root of n / 3.
    for (float const value : direction)
      EXPECT_NEAR(value, 0.5 / std::sqrt(static_cast<double>(n) / 3), 0.02);
  }
  EXPECT_TRUE(centre_of(element::uint8, bytes, similarity::l2).empty());
  EXPECT_TRUE(centre_of(element::uint8, bytes, similarity::inner_product).empty());
  std::vector<float> whole = bytes;
  for (float& value : whole) value = std::round(value);
  EXPECT_TRUE(centre_of(element::float32, whole, similarity::l2).empty());
  EXPECT_EQ(centre_of(element::uint8, bytes, similarity::cosine).size(), n);
  EXPECT_EQ(centre_of(element::int8, drawn(count * n, 73, 100, 2), similarity::l2).size(), n);
  // The mean of rows of many lengths is far from the short ones; the mean of a few rows is far from
  // all.
  std::vector<float> factors;
  for (float const value : drawn(count, 74)) factors.push_back(std::exp(value));
  EXPECT_TRUE(centre_of(element::float32, scaled(even, n, factors), similarity::l2).empty());
  EXPECT_EQ(centre_of(element::float32, scaled(even, n, factors), similarity::cosine).size(), n);
  EXPECT_TRUE(centre_of(element::float32, drawn(31 * n, 75, 9), similarity::l2).empty());
  EXPECT_EQ(centre_of(element::float32, drawn(32 * n, 75, 9), similarity::l2).size(), n);
  EXPECT_TRUE(centre_of(element::float32, {}, similarity::l2).empty());
  EXPECT_TRUE(centre_of(element::float32, std::vector<float>(50 * n), similarity::cosine).empty());
}

TEST(float_bounds, next_floats) {
  float const largest = std::numeric_limits<float>::max();
  EXPECT_EQ(float_below(0.1), 0x1.999998p-4F);
  EXPECT_EQ(float_above(0.1), 0x1.99999ap-4F);
  EXPECT_EQ(float_below(0.5), 0.5F);
  EXPECT_EQ(float_above(0.5), 0.5F);
  EXPECT_EQ(float_below(1e300), largest);
  EXPECT_EQ(float_above(1e300), INFINITY);
  EXPECT_EQ(float_above(-1e300), -largest);
  EXPECT_EQ(float_below(-1e300), -INFINITY);
  EXPECT_EQ(float_below(INFINITY), INFINITY);
  EXPECT_EQ(float_above(-INFINITY), -INFINITY);
  EXPECT_EQ(float_above(1e-300), std::numeric_limits<float>::denorm_min());
}

TEST(dense_search, work_of_all_processes) {
  rulerank::testing_tools::run_processes(3, [](process_group const& group) {
    context ctx;
    ctx.processes = &group;
    auto const rank = static_cast<std::uint64_t>(group.rank());
    dense_search_work own{.recomputed = rank, .widened = 1};
    if (rank > 0) own.counts = {{"kernel_ns", rank}};  // the first process has no work
    dense_search_work const all = work_of_all(ctx, own);
    EXPECT_EQ(all.recomputed, 3U);
    EXPECT_EQ(all.widened, 3U);
    EXPECT_EQ(all.counts, (engine_counts{{"kernel_ns", 3}}));
    EXPECT_TRUE(work_of_all(ctx, {}).counts.empty());
  });
}

TEST(dense_search, mnist) {
  RULERANK_REAL_DATA(path, "dense/mnist");
  vectors const rows = read_images(path + "/train-images-idx3-ubyte", 60'000);
  vectors const queries = read_images(path + "/t10k-images-idx3-ubyte", 6);
  for (similarity const metric : all_metrics) {
    dense_index const index({}, rows, {.metric = metric});
    neighbours const expected = search_reference(rows, queries, metric, 10);
    expect_same(index.search({}, queries, 10), expected, "mnist");
    expect_same(index.search({}, queries.rows(0, 1), 10), first_of(expected, 1, 10), "one");
  }
}

}  // namespace
}  // namespace rulerank::knn::dense_search_test
