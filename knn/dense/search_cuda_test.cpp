#include "core/error.hpp"
#include "core/testing.hpp"
#include "knn/dense/definition.hpp"
#include "knn/dense/dense_reference.hpp"
#include "knn/dense/engine.hpp"
#include "knn/dense/flat_kernels.hpp"
#include "knn/dense/testing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

// Compares `flat` on GPUs with the definition and with the CPU.
namespace rulerank::inline v0::knn::dense_search_cuda_test {
namespace {

using namespace testing_tools;
using rulerank::testing_tools::on_gpus;

class dense_gpus : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { RULERANK_NEEDS_GPUS(GetParam()); }
  context ctx() const { return on_gpus(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(gpus, dense_gpus, ::testing::ValuesIn(rulerank::testing_tools::gpu_counts),
                         [](auto const& i) { return std::to_string(i.param); });

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

/// Tests several numbers of queries: a partial tile, several tiles, several chunks.
void expect_reference(context const& ctx, vectors const& rows, vectors const& queries,
                      std::vector<std::size_t> const& ks, std::string const& what) {
  for (similarity const metric : all_metrics) {
    neighbours const expected =
        search_reference(rows, queries, metric, *std::max_element(ks.begin(), ks.end()));
    dense_index const index(ctx, rows, {.metric = metric, .engine = dense_engine::flat});
    for (std::size_t const count : {1, 17, 40, 150}) {
      if (count > queries.size()) continue;
      for (std::size_t const k : ks)
        expect_same(index.search(ctx, queries.rows(0, count), k), first_of(expected, count, k),
                    what + ", " + std::string(name_of(metric)) + ", queries " +
                        std::to_string(count) + ", k " + std::to_string(k));
    }
  }
}

TEST_P(dense_gpus, types_and_dimensions) {
  for (element const type : all_types)
    for (std::size_t const dimensions : {1, 2, 15, 16, 33, 130}) {
      std::size_t const count = 5000;
      vectors const rows = as(type, drawn(count * dimensions, 1, 3, 30), dimensions);
      vectors const queries = as(type, drawn(40 * dimensions, 2, 3, 30), dimensions);
      expect_reference(ctx(), rows, queries, {1, 10, 100},
                       std::string(datasets::name_of(type)) + " of " + std::to_string(dimensions));
    }
}

TEST_P(dense_gpus, queries_of_another_type) {
  for (element const type : all_types) {
    vectors const rows = as(type, drawn(std::size_t{300} * 20, 5, 0, 20), 20);
    vectors const queries = as(element::float32, drawn(std::size_t{40} * 20, 6, 0, 20), 20);
    expect_reference(ctx(), rows, queries, {7}, std::string(datasets::name_of(type)));
  }
}

TEST_P(dense_gpus, few_rows) {
  for (std::size_t const count : {1, 2, 31, 32, 33, 64, 65, 300}) {
    vectors const rows(drawn(count * 20, 7), 20);
    vectors const queries(drawn(std::size_t{150} * 20, 8), 20);
    expect_reference(ctx(), rows, queries, {1, count, count + 3}, std::to_string(count) + " rows");
  }
}

/// Enough queries to make a sample worthwhile, of all rows or of some.
TEST_P(dense_gpus, few_rows_of_many_queries) {
  std::size_t const n = 20;
  vectors const queries(drawn(std::size_t{1200} * n, 63), n);
  for (std::size_t const count : {101, 600, 1024, 2048, 3276, 3277, 8192}) {
    vectors const rows(drawn(count * n, 64), n);
    neighbours const expected = search_reference(rows, queries, similarity::l2, 250);
    dense_index const index(ctx(), rows, {.engine = dense_engine::flat});
    for (std::size_t const k : {1, 25, 250}) {
      dense_search_work work;
      expect_same(index.search(ctx(), queries, k, {}, &work), first_of(expected, 1200, k),
                  std::to_string(count) + " rows, k " + std::to_string(k));
      EXPECT_EQ(work.widened, 0U);
    }
  }
}

/// Rows far from the origin compared with their mutual distances, some negated, some zeros.
TEST_P(dense_gpus, far_rows) {
  std::size_t const n = 24;
  std::vector<float> factors(100, 1);
  factors[7] = 0;
  factors[50] = -1;
  vectors const rows(scaled(drawn(std::size_t{9000} * n, 65, 10, 1), n, factors), n);
  vectors const queries(scaled(drawn(std::size_t{60} * n, 66, 10, 1), n, factors), n);
  for (similarity const metric : all_metrics) {
    neighbours const expected = search_reference(rows, queries, metric, 200);
    dense_index const index(ctx(), rows, {.metric = metric, .engine = dense_engine::flat});
    dense_index const cpu({}, rows, {.metric = metric});
    std::string const what = "far, " + std::string(name_of(metric));
    for (std::size_t const k : {1, 10, 200})
      expect_same(index.search(ctx(), queries, k), first_of(expected, 60, k), what);
    dense_search_work work;
    expect_same(index.search(ctx(), queries.rows(0, 7), 10, {}, &work), first_of(expected, 7, 10),
                what);
    EXPECT_EQ(work.widened, 0U) << what;
    EXPECT_LT(work.recomputed, std::size_t{7} * 200) << what;
    for (double const radius :
         {expected.values_of(0)[9], expected.values_of(7)[0], expected.values_of(50)[100], 1.0}) {
      rows_in_range const found = index.search_range(ctx(), queries, radius);
      rows_in_range const within = cpu.search_range({}, queries, radius);
      EXPECT_EQ(found.begin, within.begin) << what;
      EXPECT_EQ(found.row, within.row) << what;
      EXPECT_EQ(found.value, within.value) << what;
    }
  }
}

/// The centre is right for short rows among long ones, and for rows after a far one.
TEST_P(dense_gpus, rows_of_many_lengths) {
  std::size_t const n = 24;
  std::vector<float> factors;
  for (float const value : drawn(9000, 76)) factors.push_back(std::exp(value));
  vectors const rows(scaled(drawn_uniform(std::size_t{9000} * n, 77), n, factors), n);
  vectors const queries(scaled(drawn_uniform(std::size_t{40} * n, 78), n, factors), n);
  vectors const first(drawn(n, 79, 1000, 1), n);
  vectors const normal(drawn(std::size_t{9000} * n, 80), n);
  auto const expect_few_computed = [&](dense_index const& index, dense_index const& cpu) {
    std::string const what = std::string(name_of(cpu.metric())) + ", " + std::to_string(cpu.size());
    dense_search_work work;
    expect_same(index.search(ctx(), queries, 10, {}, &work), cpu.search({}, queries, 10), what);
    EXPECT_LT(work.recomputed, std::size_t{40} * 200) << what;
  };
  for (similarity const metric : all_metrics) {
    expect_few_computed({ctx(), rows, {.metric = metric, .engine = dense_engine::flat}},
                        {{}, rows, {.metric = metric}});
    dense_index grown(ctx(), first, {.metric = metric, .engine = dense_engine::flat});
    dense_index grown_on_cpu({}, first, {.metric = metric});
    grown.add(ctx(), normal);
    grown_on_cpu.add({}, normal);
    expect_few_computed(grown, grown_on_cpu);
  }
}

TEST_P(dense_gpus, many_dimensions) {
  for (std::size_t const n : {784, 3000, 7000}) {
    vectors const rows(drawn(200 * n, 9), n);
    vectors const queries(drawn(20 * n, 10), n);
    expect_reference(ctx(), rows, queries, {5}, std::to_string(n) + " dimensions");
  }
}

/// Eight, four and two blocks share a query.
TEST_P(dense_gpus, long_rows) {
  std::size_t const n = 600;
  for (element const type : all_types) {
    vectors const rows = as(type, drawn(3000 * n, 58, 3, 30), n);
    vectors const queries = as(type, drawn(40 * n, 59, 3, 30), n);
    expect_reference(ctx(), rows, queries, {1, 10, 200},
                     std::string(datasets::name_of(type)) + " of " + std::to_string(n));
  }
}

TEST_P(dense_gpus, equally_near_rows) {
  vectors const rows(drawn_small(std::size_t{6000} * 4, 11), 4);
  vectors const queries(drawn_small(std::size_t{40} * 4, 12), 4);
  expect_reference(ctx(), rows, queries, {1, 20, 500}, "ties");
}

TEST_P(dense_gpus, hard_numbers) {
  std::size_t const n = 24;
  std::size_t const count = 300;
  auto const kinds = testing_tools::hard_numbers(count, n);
  for (auto const& [name, values] : kinds)
    for (auto const& [of_queries, asked] : kinds) {
      vectors const rows(values, n);
      vectors const queries = vectors(asked, n).rows(3, 17);
      expect_reference(ctx(), rows, queries, {10}, name + ", asked: " + of_queries);
    }
}

TEST_P(dense_gpus, any_k) {
  std::size_t const n = 18;
  vectors const rows(drawn_small(std::size_t{9000} * n, 13), n);
  vectors const queries(drawn_small(std::size_t{20} * n, 14), n);
  neighbours const all = search_reference(rows, queries, similarity::l2, rows.size());
  dense_index const index(ctx(), rows, {.engine = dense_engine::flat});
  for (std::size_t const k : {1, 2, 63, 130, 500, 2048, 2049, 8999, 9000})
    expect_same(index.search(ctx(), queries, k), first_of(all, queries.size(), k),
                "k " + std::to_string(k));
}

TEST_P(dense_gpus, as_on_the_cpu) {
  std::size_t const n = 64;
  vectors const rows(drawn(std::size_t{150'000} * n, 15, 1), n);
  vectors const queries(drawn(std::size_t{700} * n, 16, 1), n);
  for (similarity const metric : all_metrics) {
    dense_index const cpu({}, rows, {.metric = metric});
    dense_index const gpu(ctx(), rows, {.metric = metric});
    for (std::size_t const count : {1, 30, 100, 700}) {
      dense_search_work work;
      expect_same(gpu.search(ctx(), queries.rows(0, count), 50, {}, &work),
                  cpu.search({}, queries.rows(0, count), 50), "as on the CPU");
      EXPECT_EQ(work.widened, 0U);
      EXPECT_LT(work.recomputed, 150 * count * GetParam());
      EXPECT_GT(work.device_s, 0);
    }
  }
}

TEST_P(dense_gpus, filters) {
  std::size_t const n = 10;
  std::size_t const count = 4500;
  std::size_t const words = (count + 63) / 64;
  vectors const rows(scaled(drawn(count * n, 20), n, {1, 1, 1e30F, 1}), n);
  vectors const queries(drawn(40 * n, 21), n);
  auto const rare = drawn_filter(words, 22, 5);
  auto const often = drawn_filter(words * 40, 23, 1);
  std::vector<std::uint64_t> const none(words);
  for (similarity const metric : all_metrics)
    for (std::size_t const asked : {2, 40}) {
      dense_index const index(ctx(), rows, {.metric = metric, .engine = dense_engine::flat});
      vectors const some = queries.rows(0, asked);
      std::span<std::uint64_t const> const each(often.data(), asked * words);
      for (dense_filter const& filter : {dense_filter{rare, {}}, dense_filter{{}, each},
                                         dense_filter{rare, each}, dense_filter{none, each}}) {
        expect_same(index.search(ctx(), some, 30, filter),
                    search_reference(rows, some, metric, 30, filter), "filter");
        expect_same(index.search(ctx(), some, 4000, filter),
                    search_reference(rows, some, metric, 4000, filter), "filter, large k");
        rows_in_range const range = index.search_range(ctx(), some, 2.5, filter);
        rows_in_range const expected =
            dense_index({}, rows, {.metric = metric}).search_range({}, some, 2.5, filter);
        EXPECT_EQ(range.begin, expected.begin);
        EXPECT_EQ(range.row, expected.row);
        EXPECT_EQ(range.value, expected.value);
      }
    }
}

TEST_P(dense_gpus, range_to_the_bit) {
  std::size_t const n = 12;
  vectors const rows(drawn(std::size_t{10'000} * n, 24), n);
  vectors const queries(drawn(std::size_t{20} * n, 25), n);
  for (similarity const metric : all_metrics) {
    dense_index const index(ctx(), rows, {.metric = metric, .engine = dense_engine::flat});
    dense_index const cpu({}, rows, {.metric = metric});
    neighbours const all = search_reference(rows, queries.rows(0, 1), metric, rows.size());
    for (std::size_t const rank : {0, 17, 4000, 9999}) {
      double const radius = all.values_of(0)[rank];
      double const nearer_by_a_bit = std::nextafter(radius, metric == similarity::l2 ? 0.0 : 1e300);
      for (double const r : {radius, nearer_by_a_bit}) {
        rows_in_range const found = index.search_range(ctx(), queries, r);
        rows_in_range const expected = cpu.search_range({}, queries, r);
        EXPECT_EQ(found.begin, expected.begin);
        EXPECT_EQ(found.row, expected.row);
        EXPECT_EQ(found.value, expected.value);
        EXPECT_EQ(found.rows_of(0).size(), rank + (r == radius ? 1 : 0));
      }
    }
    double const everything = metric == similarity::l2 ? std::numeric_limits<double>::infinity()
                                                       : -std::numeric_limits<double>::infinity();
    EXPECT_EQ(index.search_range(ctx(), queries, everything).row.size(), 20 * rows.size());
    if (metric == similarity::l2) continue;
    EXPECT_TRUE(index.search_range(ctx(), queries, -everything).row.empty());
  }
}

TEST_P(dense_gpus, rows_added_later) {
  std::size_t const n = 20;
  vectors const rows = as(element::float16, drawn(std::size_t{6000} * n, 26, 1000, 1), n);
  vectors const queries = as(element::float16, drawn(std::size_t{30} * n, 27, 1000, 1), n);
  std::vector<std::uint64_t> const filter = drawn_filter((rows.size() + 63) / 64, 28, 1);
  for (similarity const metric : all_metrics) {
    neighbours const expected = search_reference(rows, queries, metric, 40);
    for (std::size_t const first : {0, 1, 4500, 5999}) {
      dense_index grown(ctx(), rows.rows(0, first),
                        {.metric = metric, .engine = dense_engine::flat});
      std::size_t const second = first + (rows.size() - first) / 3;
      grown.add(ctx(), rows.rows(first, second - first));
      grown.add(ctx(), rows.rows(second, rows.size() - second));
      ASSERT_EQ(grown.size(), rows.size());
      expect_same(grown.search(ctx(), queries, 40), expected,
                  "added behind " + std::to_string(first));
      expect_same(grown.search(ctx(), queries, 40, {filter, {}}),
                  search_reference(rows, queries, metric, 40, {filter, {}}),
                  "filtered, added behind " + std::to_string(first));
    }
  }
}

TEST_P(dense_gpus, an_index_of_nothing) {
  dense_index index(ctx(), vectors(), {.engine = dense_engine::flat});
  vectors const query(std::vector<float>{1, 2}, 2);
  EXPECT_EQ(index.search(ctx(), query, 2).id,
            (std::vector<std::uint32_t>{no_neighbour, no_neighbour}));
  index.add(ctx(), vectors(std::vector<std::int8_t>{1, 2, 3, 4}, 2));
  EXPECT_EQ(index.search(ctx(), query, 1).id, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(index.search(ctx(), query.rows(0, 0), 1).queries, 0U);
}

/// Rows whose order changes if sums lose everything after their first term.
TEST_P(dense_gpus, order_that_tensor_products_turn_around) {
  for (std::size_t const n : {40, 200, 1000, 4000}) {
    std::vector<float> values(3 * n);
    float const small = 0x1p-12F;
    for (std::size_t i = 0; i < n; ++i) values[2 * n + i] = small;
    values[2 * n] = 1;
    // The largest loss of the last row in a sum that begins with 1, minus a fifth.
    values[n] = 1;
    std::size_t const units = n * 2 / 5;
    values[n + 1] = static_cast<float>(units) * 0x1p-11F;
    values[0] = 0.5F;
    vectors const rows(values, n);
    std::vector<float> asked;
    for (int q = 0; q < 70; ++q)
      asked.insert(asked.end(), values.begin() + static_cast<std::ptrdiff_t>(2 * n), values.end());
    dense_index const index(ctx(), rows,
                            {.metric = similarity::inner_product, .engine = dense_engine::flat});
    for (std::size_t const count : {1, 20, 70}) {
      vectors const queries = vectors(asked, n).rows(0, count);
      expect_same(index.search(ctx(), queries, 1),
                  search_reference(rows, queries, similarity::inner_product, 1), "turned");
    }
  }
}

TEST_P(dense_gpus, several_threads_at_once) {
  std::size_t const n = 30;
  vectors const rows(drawn(std::size_t{8000} * n, 29), n);
  vectors const queries(drawn(std::size_t{200} * n, 30), n);
  dense_index const index(ctx(), rows, {.engine = dense_engine::flat});
  neighbours const expected = index.search(ctx(), queries, 12);
  std::vector<neighbours> found(4);
  {
    std::vector<std::jthread> threads;
    for (neighbours& one : found)
      threads.emplace_back([&] { one = index.search(ctx(), queries, 12); });
  }
  for (neighbours const& one : found) expect_same(one, expected, "beside other threads");
}

TEST_P(dense_gpus, stops) {
  vectors const rows(drawn(std::size_t{2000} * 8, 31), 8);
  dense_index index(ctx(), rows, {.engine = dense_engine::flat});
  std::stop_source stop;
  stop.request_stop();
  context stopped = ctx();
  stopped.stop = stop.get_token();
  EXPECT_THROW(index.search(stopped, rows, 3), interrupted);
  EXPECT_THROW(index.search_range(stopped, rows, 3), interrupted);
  EXPECT_THROW(index.add(stopped, rows), interrupted);
  EXPECT_EQ(index.size(), rows.size());
  vectors const one = rows.rows(7, 1);
  expect_same(index.search(ctx(), one, 5), search_reference(rows, one, similarity::l2, 5), "after");
}

TEST_P(dense_gpus, mnist) {
  RULERANK_REAL_DATA(path, "dense/mnist");
  vectors const rows = read_images(path + "/train-images-idx3-ubyte", 60'000);
  vectors const queries = read_images(path + "/t10k-images-idx3-ubyte", 60);
  for (similarity const metric : all_metrics) {
    dense_index const cpu({}, rows, {.metric = metric});
    dense_index const gpu(ctx(), rows, {.metric = metric});
    expect_same(gpu.search(ctx(), queries, 10), cpu.search({}, queries, 10), "mnist");
  }
}

#if RULERANK_HAS_CUDA

/// The results of an engine with given limits.
struct limited_search {
  neighbours found;
  dense_search_work work;
};
limited_search search_limited(context const& ctx, vectors const& rows, vectors const& queries,
                              similarity metric, std::size_t k, flat_gpu_limits const& limits,
                              dense_filter const& filter = {}) {
  dense_rows const kept(rows);
  auto const engine =
      make_flat_on_gpus(ctx, kept, {.metric = metric, .engine = dense_engine::flat}, limits);
  std::vector<float> values(queries.size() * queries.dimensions());
  to_floats(queries.type(), queries.data(), values.size(), values.data());
  dense_request request;
  request.queries = values;
  request.count = queries.size();
  request.k = std::min(k, rows.size());
  request.filter = filter;
  std::vector<std::vector<dense_candidate>> lists(queries.size());
  limited_search done;
  engine->search(ctx, request, lists, done.work);
  done.found.queries = queries.size();
  done.found.k = k;
  done.found.order = order_of(metric);
  done.found.id.assign(queries.size() * k, no_neighbour);
  done.found.value.assign(queries.size() * k, 0);
  for (std::size_t q = 0; q < queries.size(); ++q)
    for (std::size_t i = 0; i < lists[q].size(); ++i) {
      done.found.id[q * k + i] = lists[q][i].id;
      done.found.value[q * k + i] = value_of_key(metric, lists[q][i].value);
    }
  return done;
}

TEST_P(dense_gpus, rows_split_over_devices) {
  std::size_t const n = 40;
  vectors const rows(drawn(std::size_t{9000} * n, 32, 2), n);
  vectors const queries(drawn(std::size_t{300} * n, 33, 2), n);
  for (similarity const metric : all_metrics)
    for (std::size_t const k : {1, 30, 8000})
      expect_same(search_limited(ctx(), rows, queries, metric, k, {.replicated_bytes = 1}).found,
                  search_reference(rows, queries, metric, k), "split");
}

TEST_P(dense_gpus, too_little_space_is_widened) {
  std::size_t const n = 16;
  vectors const rows(drawn(std::size_t{9000} * n, 34), n);
  vectors const queries(drawn(std::size_t{100} * n, 35), n);
  for (similarity const metric : all_metrics) {
    neighbours const expected = search_reference(rows, queries, metric, 20);
    limited_search const done = search_limited(ctx(), rows, queries, metric, 20, {.capacity = 200});
    expect_same(done.found, expected, "little space");
    EXPECT_GT(done.work.widened, 0U);
    // For most queries, a better limit sufficed.
    EXPECT_LT(done.work.recomputed, 100 * rows.size() / 2);
    limited_search const easy = search_limited(ctx(), rows, queries, metric, 20, {});
    expect_same(easy.found, expected, "space");
    EXPECT_EQ(easy.work.widened, 0U);
  }
}

TEST_P(dense_gpus, equal_rows_are_widened) {
  std::size_t const n = 16;
  vectors const rows(std::vector<float>(9000 * n, 0.1F), n);
  vectors const queries(drawn(40 * n, 36), n);
  limited_search const done = search_limited(ctx(), rows, queries, similarity::l2, 5, {});
  expect_same(done.found, search_reference(rows, queries, similarity::l2, 5), "equal rows");
  EXPECT_EQ(done.work.widened, 40U);
}

/// The rows that a block sorts for a query with up to 224 neighbours; with more to compute, the
/// query is crowded.
constexpr std::size_t sorted_by_a_block = 512;
constexpr std::size_t crowd_rows = 12'000;

/// Nearly all queries were crowded, and no query computed most rows.
void expect_crowded(limited_search const& done, std::string const& what) {
  std::size_t const queries = done.found.queries;
  EXPECT_EQ(done.work.widened, queries) << what;
  EXPECT_GT(done.work.recomputed, sorted_by_a_block * queries) << what;
  EXPECT_LT(done.work.recomputed, crowd_rows * queries * 3 / 4) << what;
  EXPECT_GT(done.work.device_s, 0) << what;
}

/// Repeats the first `count` of the results.
neighbours repeated(neighbours const& all, std::size_t queries, std::size_t k) {
  neighbours const some = first_of(all, all.queries, k);
  neighbours many = some;
  many.queries = queries;
  many.id.clear();
  many.value.clear();
  for (std::size_t q = 0; q < queries; ++q) {
    auto const ids = some.ids_of(q % some.queries);
    auto const values = some.values_of(q % some.queries);
    many.id.insert(many.id.end(), ids.begin(), ids.end());
    many.value.insert(many.value.end(), values.begin(), values.end());
  }
  return many;
}

/// Bounds wider than necessary leave enough rows for crowded queries under every metric and for
/// every type, but not all rows.
struct crowd_case {
  std::size_t dimensions;
  element type;
  float largest;
  // Factors on the bounds.
  double of_l2, of_inner_product, of_cosine;

  double scale(similarity metric) const {
    if (metric == similarity::l2) return of_l2;
    return metric == similarity::cosine ? of_cosine : of_inner_product;
  }
};
constexpr crowd_case crowd_cases[] = {
    {64, element::float32, 1, 32, 32, 32},  {64, element::float16, 1, 32, 32, 32},
    {300, element::float32, 1, 16, 16, 16}, {784, element::float32, 1, 8, 8, 8},
    {784, element::bfloat16, 1, 64, 64, 8}, {784, element::int8, 127, 64, 64, 8},
    {784, element::uint8, 255, 64, 64, 8},
};

TEST_P(dense_gpus, crowded_queries) {
  for (crowd_case const& one : crowd_cases) {
    std::size_t const n = one.dimensions;
    vectors const rows = as(one.type, drawn_uniform(crowd_rows * n, 50, one.largest), n);
    std::vector<float> const five = drawn_uniform(5 * n, 51, one.largest);
    std::vector<float> asked;
    while (asked.size() < 130 * n) asked.insert(asked.end(), five.begin(), five.end());
    vectors const queries = as(one.type, asked, n);
    for (similarity const metric : all_metrics) {
      neighbours const expected = search_reference(rows, queries.rows(0, 5), metric, 128);
      for (std::size_t const count : {5, 130})
        for (std::size_t const k : {64, 128}) {
          std::string const what = std::string(datasets::name_of(one.type)) + " of " +
                                   std::to_string(n) + ", " + std::string(name_of(metric)) +
                                   ", queries " + std::to_string(count) + ", k " +
                                   std::to_string(k);
          limited_search const done = search_limited(ctx(), rows, queries.rows(0, count), metric, k,
                                                     {.bound_scale = one.scale(metric)});
          expect_same(done.found, repeated(expected, count, k), what);
          expect_crowded(done, what);
        }
    }
  }
}

/// With normal bounds, no query is crowded. With wider bounds: searched again; with filters;
/// streamed.
TEST_P(dense_gpus, uniform_values_crowd_queries) {
  std::size_t const n = 784;
  vectors const rows(drawn_uniform(crowd_rows * n, 52), n);
  vectors const queries(drawn_uniform(10 * n, 53), n);
  auto const often = drawn_filter((crowd_rows + 63) / 64, 54, 1);
  auto const each = drawn_filter((crowd_rows + 63) / 64 * 10, 55, 1);
  for (similarity const metric : {similarity::l2, similarity::cosine}) {
    neighbours const expected = search_reference(rows, queries, metric, 128);
    limited_search const plain = search_limited(ctx(), rows, queries, metric, 128, {});
    expect_same(plain.found, expected, "uniform");
    EXPECT_EQ(plain.work.widened, 0U);
    EXPECT_LT(plain.work.recomputed, std::size_t{256} * 10);
    limited_search const again =
        search_limited(ctx(), rows, queries, metric, 128, {.capacity = 2000, .bound_scale = 4});
    expect_same(again.found, expected, "searched again");
    EXPECT_EQ(again.work.widened, 10U);
    EXPECT_GT(again.work.recomputed, sorted_by_a_block * 10);
    EXPECT_LT(again.work.recomputed, std::size_t{2000} * 10);
    for (dense_filter const& filter : {dense_filter{often, {}}, dense_filter{{}, each}}) {
      limited_search const some =
          search_limited(ctx(), rows, queries, metric, 128, {.bound_scale = 8}, filter);
      expect_same(some.found, search_reference(rows, queries, metric, 128, filter), "filtered");
      expect_crowded(some, "filtered");
    }
    // A third of the rows stays on the device; the others are streamed.
    limited_search const streamed = search_limited(ctx(), rows, queries, metric, 128,
                                                   {.device_bytes = 40'000'000, .bound_scale = 8});
    expect_same(streamed.found, expected, "streamed");
    expect_crowded(streamed, "streamed");
    double const radius = expected.values_of(0).back();
    dense_search_work work;
    rows_in_range const range = dense_index(ctx(), rows, {.metric = metric})
                                    .search_range(ctx(), queries.rows(0, 1), radius, {}, &work);
    EXPECT_EQ(range.row.size(), 128U);
    EXPECT_LT(work.recomputed, 2000U);
    for (std::size_t i = 0; i < range.row.size(); ++i) EXPECT_EQ(range.row[i], expected.id[i]);
  }
}

/// Rows that bounds cannot separate make nearby queries crowded: 1,000 of them; and 6,000, for
/// which there is space only in the third search of the query.
TEST_P(dense_gpus, tight_clusters_crowd_queries_of_an_index) {
  std::size_t const n = 32;
  for (std::size_t const clusters : {12, 2}) {
    std::vector<float> const centres = drawn(clusters * n, 60);
    auto const drawn_beside = [&](std::size_t count, std::uint32_t seed) {
      std::vector<float> values = drawn(count * n, seed, 0, 0.01F);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += centres[i % centres.size()];
      return vectors(std::move(values), n);
    };
    vectors const rows = drawn_beside(crowd_rows, 61);
    vectors const queries = drawn_beside(130, 62);
    for (similarity const metric : {similarity::l2, similarity::cosine}) {
      dense_index const index(ctx(), rows, {.metric = metric, .engine = dense_engine::flat});
      neighbours const expected = search_reference(rows, queries, metric, 10);
      for (std::size_t const count : {5, 130}) {
        dense_search_work work;
        expect_same(index.search(ctx(), queries.rows(0, count), 10, {}, &work),
                    first_of(expected, count, 10), "clusters");
        EXPECT_EQ(work.widened, count) << clusters << " clusters";
        EXPECT_EQ(work.recomputed, crowd_rows / clusters * count) << clusters << " clusters";
      }
    }
  }
}

/// More equal keys than are sorted at once: row numbers decide.
TEST_P(dense_gpus, crowds_of_equal_distances) {
  vectors const rows(drawn_small(crowd_rows * 5 / 4, 56), 1);
  std::vector<float> asked = drawn_small(40, 57);
  for (float& one : asked) ++one;
  vectors const queries(asked, 1);
  for (similarity const metric : all_metrics)
    for (std::size_t const k : {1, 8, 500}) {
      limited_search const done =
          search_limited(ctx(), rows, queries, metric, k, {.capacity = rows.size()});
      expect_same(done.found, search_reference(rows, queries, metric, k), "equal distances");
      EXPECT_EQ(done.work.widened, 40U);
      EXPECT_GT(done.work.recomputed, 4096U * 40);
      EXPECT_LT(done.work.recomputed, rows.size() * 40);
    }
}

/// The bounds matter: with smaller ones, rows are lost.
TEST_P(dense_gpus, bounds_that_are_too_small_lose_rows) {
  std::size_t const n = 64;
  vectors const rows(drawn(std::size_t{20'000} * n, 37, 0, 1), n);
  vectors const queries(drawn(std::size_t{300} * n, 38, 0, 1), n);
  for (similarity const metric : all_metrics) {
    neighbours const expected = search_reference(rows, queries, metric, 30);
    expect_same(search_limited(ctx(), rows, queries, metric, 30, {}).found, expected, "bounds");
    EXPECT_NE(search_limited(ctx(), rows, queries, metric, 30, {.bound_scale = 0.01}).found.id,
              expected.id)
        << name_of(metric);
  }
}

/// 100 kB hold some of the rows and stream others; 40 kB stream nearly all, in many pieces.
TEST_P(dense_gpus, rows_without_space_are_streamed) {
  std::size_t const n = 16;
  vectors const rows(drawn(std::size_t{9000} * n, 39, 0, 20), n);
  vectors const queries(drawn(std::size_t{50} * n, 40, 0, 20), n);
  for (similarity const metric : all_metrics)
    for (std::size_t const bytes : {40'000, 100'000, 10'000'000})
      // On all devices; divided among two and four.
      for (std::size_t const replicated : {rows.bytes(), rows.bytes() / 2, std::size_t{1}})
        for (std::size_t const k : {1, 30, 4000})
          expect_same(search_limited(ctx(), rows, queries, metric, k,
                                     {.device_bytes = bytes, .replicated_bytes = replicated})
                          .found,
                      search_reference(rows, queries, metric, k),
                      "streamed, " + std::to_string(bytes) + " bytes, k " + std::to_string(k));
}

/// Filters, a range, and added rows, with an engine that streams.
TEST_P(dense_gpus, streamed_rows_are_like_others) {
  std::size_t const n = 12;
  vectors const rows(drawn(std::size_t{6000} * n, 41), n);
  vectors const queries(drawn(std::size_t{20} * n, 42), n);
  auto const each = drawn_filter((rows.size() + 63) / 64 * 20, 43, 1);
  std::vector<float> values(queries.size() * n);
  to_floats(queries.type(), queries.data(), values.size(), values.data());
  for (similarity const metric : all_metrics) {
    dense_rows grown(rows.rows(0, 2500));
    dense_index_options const options{.metric = metric, .engine = dense_engine::flat};
    auto const engine = make_flat_on_gpus(ctx(), grown, options, {.device_bytes = 80'000});
    for (std::size_t const begin : {2500, 3000}) {
      grown.add(rows.rows(begin, begin == 2500 ? 500 : 3000));
      engine->added(ctx(), begin);
    }
    dense_rows const all(rows);
    auto const cpu = make_flat_on_cpu({}, all, options);
    for (std::size_t const k : {0, 25}) {
      dense_request request;
      request.queries = values;
      request.count = queries.size();
      request.k = k;
      request.farthest = metric == similarity::l2 ? 6 : -0.5;
      request.filter.of_query = each;
      std::vector<std::vector<dense_candidate>> found(request.count), expected(request.count);
      dense_search_work work;
      engine->search(ctx(), request, found, work);
      cpu->search({}, request, expected, work);
      for (std::size_t q = 0; q < request.count; ++q) {
        ASSERT_EQ(found[q].size(), expected[q].size()) << name_of(metric) << ", k " << k;
        for (std::size_t i = 0; i < found[q].size(); ++i) {
          EXPECT_EQ(found[q][i].id, expected[q][i].id);
          EXPECT_EQ(found[q][i].value, expected[q][i].value);
        }
      }
    }
  }
}

TEST_P(dense_gpus, stops_while_it_streams) {
  vectors const rows(drawn(std::size_t{9000} * 16, 44), 16);
  dense_rows const kept(rows);
  auto const engine =
      make_flat_on_gpus(ctx(), kept, {.engine = dense_engine::flat}, {.device_bytes = 40'000});
  std::stop_source stop;
  stop.request_stop();
  context stopped = ctx();
  stopped.stop = stop.get_token();
  std::vector<float> const query(16);
  dense_request request;
  request.queries = query;
  request.count = 1;
  request.k = 1;
  std::vector<std::vector<dense_candidate>> found(1);
  dense_search_work work;
  EXPECT_THROW(engine->search(stopped, request, found, work), interrupted);
  engine->search(ctx(), request, found, work);
  EXPECT_EQ(found[0].size(), 1U);
}

TEST_P(dense_gpus, an_index_without_space_for_a_piece) {
  vectors const rows(drawn(std::size_t{9000} * 16, 39), 16);
  try {
    search_limited(ctx(), rows, rows.rows(0, 1), similarity::l2, 1, {.device_bytes = 1000});
    FAIL() << "no error";
  } catch (device_error const& e) {
    EXPECT_NE(std::string(e.what()).find("of the index and their copy in lower precision take"),
              std::string::npos)
        << e.what();
  }
}

#endif

}  // namespace
}  // namespace rulerank::knn::dense_search_cuda_test
