#include "knn/sparse/search.hpp"

#include "core/error.hpp"
#include "core/testing.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/search_reference.hpp"
#include "knn/sparse/testing.hpp"
#include "knn/sparse/tile_kernels.hpp"
#include "knn/sparse/weighting.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace rulerank::knn {
namespace {

constexpr std::size_t tile = 1 << 14;  // documents of a tile on the CPU

using testing_tools::drawn_rows;
using testing_tools::drawn_shape;

context on_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

std::vector<std::uint64_t> bits(std::vector<double> const& values) {
  std::vector<std::uint64_t> out;
  for (double const v : values) out.push_back(std::bit_cast<std::uint64_t>(v));
  return out;
}

/// Those that sum in double precision; the published ones for GPUs have tests of their own.
std::vector<sparse_engine_entry> exact_engines() {
  std::vector<sparse_engine_entry> exact;
  for (auto const& engine : sparse_engines())
    if (includes(engine.where, runs_on::cpu)) exact.push_back(engine);
  return exact;
}

sparse_engine_entry const& tiles_info() {
  for (auto const& engine : sparse_engines())
    if (engine.which == sparse_engine::tiles) return engine;
  throw std::logic_error("no engine tiles");
}

/// One thread and four; and for an engine that runs there, 1, 2 and 4 GPUs as far as there are any.
std::vector<context> contexts_of(sparse_engine_entry const& engine) {
  std::vector<context> contexts{on_threads(1), on_threads(4)};
  if (!includes(engine.where, runs_on::gpus)) return contexts;
  for (context& ctx : rulerank::testing_tools::with_gpus()) {
    ctx.threads = 2;
    contexts.push_back(std::move(ctx));
  }
  return contexts;
}

struct search_case {
  std::string name;
  drawn_shape documents;
  drawn_shape queries;
  std::vector<std::size_t> ks{1, 10};
};
void PrintTo(search_case const& c, std::ostream* out) {
  *out << c.name;
}

std::vector<search_case> cases() {
  std::vector<search_case> all;
  all.push_back({"plain", {}, {.rows = 40}});
  all.push_back({"one_document", {.rows = 1, .empty = 0}, {.rows = 5}});
  all.push_back({"no_document", {.rows = 0}, {.rows = 3}});
  all.push_back({"no_query", {}, {.rows = 0}});
  all.push_back({"empty_rows", {.empty = 0.5}, {.rows = 30, .empty = 0.5}, {3, 200}});
  all.push_back({"unknown_terms", {.terms = 20}, {.rows = 30, .terms = 90}});
  all.push_back({"negative", {.negative = true}, {.rows = 30, .negative = true}, {5, 299}});
  all.push_back({"negative_queries", {}, {.rows = 30, .negative = true}});
  all.push_back({"all_documents", {.rows = 120}, {.rows = 10}, {119, 120, 1000}});
  all.push_back({"few_weights", {.weights = 1}, {.rows = 30, .weights = 1}, {7, 50}});
  all.push_back({"tile_boundary", {.rows = tile}, {.rows = 6}});
  all.push_back({"several_tiles",
                 {.rows = 3 * tile + 1, .terms = 400},
                 {.rows = 40, .terms = 400},
                 {1, 30, 300}});
  all.push_back({"long_queries",
                 {.rows = 2 * tile, .terms = 2000, .most_terms = 80},
                 {.rows = 40, .terms = 2000, .most_terms = 120},
                 {10, 100}});
  all.push_back({"several_tiles_of_gpus",
                 {.rows = 110'000, .terms = 700, .most_terms = 9},
                 {.rows = 12, .terms = 700, .most_terms = 20},
                 {1, 30, 1024, 4096, 4097}});
  return all;
}

class sparse_search : public ::testing::TestWithParam<search_case> {};

TEST_P(sparse_search, engines_find_what_the_definition_says_bit_for_bit) {
  search_case const& c = GetParam();
  sparse_matrix const documents = drawn_rows(c.documents, 1);
  sparse_matrix const queries = drawn_rows(c.queries, 2);
  sparse_index const index(on_threads(3), documents);
  for (similarity const metric :
       {similarity::cosine, similarity::inner_product, similarity::normalized_l2})
    for (std::size_t const k : c.ks) {
      sparse_search_options options{.k = k, .metric = metric};
      neighbours const expected = search_reference(documents, queries, options);
      for (auto const& engine : exact_engines())
        for (context const& ctx : contexts_of(engine)) {
          options.engine = engine.which;
          sparse_searcher const searcher(ctx, index, options);
          EXPECT_EQ(searcher.engine(), engine.which);
          neighbours const found = searcher.search(ctx, queries);
          std::string const which = std::string(engine.name) + " " + std::string(name_of(metric)) +
                                    " " + std::to_string(k) + ", " +
                                    std::to_string(ctx.devices.size()) + " GPUs";
          EXPECT_EQ(found.k, expected.k) << which;
          EXPECT_EQ(found.id, expected.id) << which;
          EXPECT_EQ(bits(found.value), bits(expected.value)) << which;
          EXPECT_EQ(found.queries, queries.size()) << which;
          EXPECT_EQ(found.order, order_of(metric)) << which;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(sets, sparse_search, ::testing::ValuesIn(cases()),
                         [](auto const& of) { return of.param.name; });

TEST(sparse_search_by_hand, cosine_and_ties) {
  sparse_matrix documents;
  auto const row = [](sparse_matrix& to, std::vector<std::uint32_t> terms,
                      std::vector<double> weights) { to.push_row(terms, weights); };
  row(documents, {0, 1}, {3, 4});
  row(documents, {}, {});
  row(documents, {0}, {2});
  row(documents, {1}, {7});
  row(documents, {0}, {5});
  sparse_matrix queries;
  row(queries, {0}, {10});
  sparse_index const index({}, documents);
  for (auto const& engine : exact_engines())
    for (context const& ctx : contexts_of(engine)) {
      sparse_searcher const searcher(ctx, index, {.k = 5, .engine = engine.which});
      neighbours const found = searcher.search(ctx, queries);
      EXPECT_EQ(found.id, (std::vector<std::uint32_t>{2, 4, 0, 1, 3})) << engine.name;
      EXPECT_EQ(found.value, (std::vector<double>{1, 1, 0.6, 0, 0})) << engine.name;
      sparse_searcher const by_distance(
          ctx, index, {.k = 5, .metric = similarity::normalized_l2, .engine = engine.which});
      neighbours const near = by_distance.search(ctx, queries);
      EXPECT_EQ(near.id, (std::vector<std::uint32_t>{2, 4, 0, 1, 3})) << engine.name;
      EXPECT_EQ(near.value, (std::vector<double>{0, 0, std::sqrt(0.8), 1, std::sqrt(2.0)}))
          << engine.name;
    }
}

// Long lists of frequent terms are left unread, and nothing is lost by it.
TEST(tiles, reads_less_where_rare_terms_decide) {
  drawn_shape shape{.rows = 4 * tile, .terms = 3000, .most_terms = 30};
  sparse_matrix const counts = drawn_rows(shape, 3);
  term_statistics const statistics = statistics_of(counts);
  sparse_matrix const documents = weigh_documents(counts, statistics, {});
  sparse_matrix queries;
  sparse_rows const rows = documents;
  for (std::size_t d = 0; d < 40; ++d) queries.push_row(rows[d * 100].term, rows[d * 100].weight);
  sparse_index const index(on_threads(2), documents);
  sparse_searcher const tiles(on_threads(2), index, {.k = 3, .engine = sparse_engine::tiles});
  sparse_searcher const mt(on_threads(2), index, {.k = 3, .engine = sparse_engine::mt});
  sparse_search_work work;
  neighbours const ours = tiles.search(on_threads(2), queries, &work);
  neighbours const published = mt.search(on_threads(2), queries);
  EXPECT_EQ(ours.id, published.id);
  EXPECT_EQ(bits(ours.value), bits(published.value));
  std::uint64_t all = 0;
  for (std::uint32_t const t : queries.term) all += index.list(t).size();
  EXPECT_LT(work.postings_read, all);
  EXPECT_GT(work.rescored, 0U);
  EXPECT_LT(work.rescored, 40 * documents.size() / 20);
}

// All similarities are known then, documents without a term included.
TEST(tiles, computes_nothing_for_queries_without_known_terms) {
  sparse_matrix const documents = drawn_rows({.terms = 20, .empty = 0.1}, 14);
  sparse_matrix queries;
  queries.push_row({}, {});
  queries.push_row(std::vector<std::uint32_t>{50, 70}, std::vector<double>{1, 2});
  sparse_index const index({}, documents);
  for (similarity const metric :
       {similarity::cosine, similarity::inner_product, similarity::normalized_l2}) {
    sparse_search_options const options{.k = 60, .metric = metric};
    neighbours const expected = search_reference(documents, queries, options);
    for (context const& ctx : contexts_of(tiles_info())) {
      sparse_search_work work;
      neighbours const found = sparse_searcher(ctx, index, options).search(ctx, queries, &work);
      EXPECT_EQ(found.id, expected.id) << name_of(metric);
      EXPECT_EQ(bits(found.value), bits(expected.value)) << name_of(metric);
      EXPECT_EQ(work.rescored, 0U) << name_of(metric);
    }
  }
}

TEST(tiles, inner_products_of_very_different_sizes) {
  random_engine draw(5);
  sparse_matrix documents = drawn_rows({.rows = 500, .terms = 100, .most_terms = 40}, 6);
  for (double& w : documents.weight)
    w *= std::exp2(static_cast<double>(uniform_below(draw, 60)) - 30);
  sparse_matrix queries = drawn_rows({.rows = 30, .terms = 100, .most_terms = 40}, 7);
  for (double& w : queries.weight)
    w *= std::exp2(static_cast<double>(uniform_below(draw, 60)) - 30);
  sparse_index const index({}, documents);
  for (similarity const metric : {similarity::cosine, similarity::inner_product}) {
    sparse_searcher const mt({}, index, {.k = 20, .metric = metric, .engine = sparse_engine::mt});
    neighbours const b = mt.search({}, queries);
    for (context const& ctx : contexts_of(tiles_info())) {
      sparse_searcher const tiles(ctx, index,
                                  {.k = 20, .metric = metric, .engine = sparse_engine::tiles});
      neighbours const a = tiles.search(ctx, queries);
      EXPECT_EQ(a.id, b.id);
      EXPECT_EQ(bits(a.value), bits(b.value));
    }
  }
}

// Squares of such weights are 0, or are no longer exact.
TEST(tiles, weights_whose_norms_vanish) {
  for (double const small : {1e-200, 1e-160}) {
    for (bool const all : {false, true}) {
      sparse_matrix documents = drawn_rows({.rows = 500}, 10);
      for (std::size_t d = 0; d < documents.size(); d += all ? 1 : 3)
        for (std::uint64_t i = documents.begin[d]; i < documents.begin[d + 1]; ++i)
          documents.weight[i] *= small;
      sparse_matrix queries = drawn_rows({.rows = 40}, 11);
      for (std::uint64_t i = 0; i < queries.begin[20]; ++i) queries.weight[i] *= small;
      sparse_index const index({}, documents);
      for (similarity const metric :
           {similarity::cosine, similarity::inner_product, similarity::normalized_l2}) {
        sparse_search_options const options{.k = 20, .metric = metric};
        neighbours const expected = search_reference(documents, queries, options);
        for (context const& ctx : contexts_of(tiles_info())) {
          neighbours const found = sparse_searcher(ctx, index, options).search(ctx, queries);
          EXPECT_EQ(found.id, expected.id) << small << all << name_of(metric);
          EXPECT_EQ(bits(found.value), bits(expected.value)) << small << all << name_of(metric);
        }
      }
    }
  }
}

/// `tiles` on GPUs, with so many bytes of each for the index.
sparse_searcher::maker tiles_within([[maybe_unused]] std::size_t bytes) {
#if RULERANK_HAS_CUDA
  return
      [bytes](context const& ctx, sparse_index const& index, sparse_search_options const& options) {
        return make_tiles_on_gpus(ctx, index, options, bytes);
      };
#else
  return {};
#endif
}

// An index that no GPU has room for is cut: a part a device, or one after the other.
TEST(tiles, an_index_in_parts) {
  RULERANK_NEEDS_GPU();
  sparse_matrix const documents =
      drawn_rows({.rows = 110'000, .terms = 700, .most_terms = 9, .weights = 2}, 12);
  sparse_matrix const queries = drawn_rows({.rows = 30, .terms = 700, .most_terms = 20}, 13);
  sparse_index const index(on_threads(2), documents);
  for (similarity const metric : {similarity::cosine, similarity::normalized_l2}) {
    sparse_search_options const options{.k = 50, .metric = metric};
    neighbours const expected = search_reference(documents, queries, options);
    for (context const& ctx : rulerank::testing_tools::with_gpus())
      for (std::size_t const bytes : {std::size_t{6} << 20, std::size_t{10} << 20}) {
        sparse_searcher const searcher(ctx, index, options, tiles_within(bytes));
        for (int time = 0; time < 2; ++time) {
          neighbours const found = searcher.search(ctx, queries);
          EXPECT_EQ(found.id, expected.id) << bytes << " " << ctx.devices.size();
          EXPECT_EQ(bits(found.value), bits(expected.value)) << bytes << " " << ctx.devices.size();
        }
      }
  }
  context const ctx = rulerank::testing_tools::with_gpus().back();
  EXPECT_THROW(sparse_searcher(ctx, index, {}, tiles_within(1 << 20)), device_error);
}

TEST(tiles, kernels_find_what_is_at_least_a_threshold) {
  random_engine draw(8);
  std::vector<std::int32_t> sums(5 * tile_padding);
  for (auto& s : sums) s = static_cast<std::int32_t>(uniform_below(draw, 100)) - 5;
  for (std::int32_t const threshold : {-10, 0, 1, 50, 94, 95}) {
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < sums.size(); ++i)
      if (sums[i] >= threshold) expected.push_back(i);
    std::vector<std::uint32_t> indices(sums.size());
    indices.resize(find_at_least(sums.data(), sums.size(), threshold, indices.data()));
    EXPECT_EQ(indices, expected);
    EXPECT_EQ(count_at_least(sums.data(), sums.size(), threshold), expected.size());
  }
}

TEST(sparse_searcher, k_far_beyond_the_collection) {
  sparse_matrix documents, queries;
  for (std::uint32_t d = 0; d < 100; ++d)
    documents.push_row(std::vector{d % 7, 7 + d % 5}, std::vector{1.0 + d, 2.0});
  queries.push_row(std::vector{3U, 8U}, std::vector{1.0, 1.0});
  sparse_index const index({}, documents);
  for (auto const& engine : exact_engines())
    for (std::size_t const k : {std::size_t{101}, std::size_t{1} << 58, ~std::size_t{0}}) {
      sparse_search_options options;
      options.engine = engine.which;
      options.k = k;
      neighbours const found = sparse_searcher({}, index, options).search({}, queries);
      neighbours const expected = search_reference(documents, queries, options);
      EXPECT_EQ(found.k, 100U);
      EXPECT_EQ(found.id, expected.id);
      EXPECT_EQ(bits(found.value), bits(expected.value));
    }
  sparse_index const empty({}, sparse_matrix{});
  EXPECT_EQ(sparse_searcher({}, empty, {.k = 5}).search({}, queries).k, 0U);
}

TEST(sparse_searcher, weights_up_to_the_largest) {
  sparse_matrix documents, queries;
  documents.push_row(std::vector{1U, 2U}, std::vector{largest_weight, 1.0});
  documents.push_row(std::vector{1U, 2U}, std::vector{-largest_weight, largest_weight});
  documents.push_row(std::vector{2U}, std::vector{1e-3});
  documents.push_row(std::vector{1U}, std::vector{1.0});
  queries.push_row(std::vector{1U, 2U}, std::vector{largest_weight, 1.0});
  queries.push_row(std::vector{2U}, std::vector{1.0});
  sparse_index const index({}, documents);
  for (auto const& engine : exact_engines())
    for (auto const metric :
         {similarity::cosine, similarity::inner_product, similarity::normalized_l2}) {
      sparse_search_options options;
      options.k = 4;
      options.metric = metric;
      options.engine = engine.which;
      neighbours const found = sparse_searcher({}, index, options).search({}, queries);
      neighbours const expected = search_reference(documents, queries, options);
      EXPECT_EQ(found.id, expected.id);
      EXPECT_EQ(bits(found.value), bits(expected.value));
      for (double const score : found.value) EXPECT_TRUE(std::isfinite(score));
    }
  for (double const beyond : {1.01 * largest_weight, -1e160, 1e200}) {
    sparse_matrix rows;
    rows.push_row(std::vector{1U}, std::vector{beyond});
    EXPECT_THROW(sparse_index({}, rows), usage_error);
    EXPECT_THROW(sparse_searcher({}, index, {}).search({}, rows), usage_error);
  }
}

TEST(sparse_searcher, refuses_what_makes_no_sense) {
  sparse_matrix rows;
  rows.push_row(std::vector<std::uint32_t>{1, 3}, std::vector<double>{1, 2});
  sparse_index const index({}, rows);
  EXPECT_THROW(sparse_searcher({}, index, {.k = 0}), usage_error);
  sparse_searcher const searcher({}, index, {});
  sparse_matrix bad = rows;
  bad.term = {3, 1};
  EXPECT_THROW(searcher.search({}, bad), usage_error);
  EXPECT_THROW(sparse_index({}, bad), usage_error);
  bad.term = {1, 1};
  EXPECT_THROW(searcher.search({}, bad), usage_error);
  bad.term = {1, 4};
  EXPECT_THROW(searcher.search({}, bad), usage_error);  // terms are below 4
  bad = rows;
  bad.weight[1] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(searcher.search({}, bad), usage_error);
  EXPECT_THROW(sparse_engine_from("mtt"), usage_error);
  EXPECT_EQ(sparse_similarity_from("l2"), similarity::normalized_l2);
  EXPECT_THROW(sparse_similarity_from("cos"), usage_error);
  EXPECT_EQ(sparse_engine_from("tiles"), sparse_engine::tiles);
}

TEST(sparse_searcher, stops_when_asked) {
  sparse_matrix const rows = drawn_rows({}, 9);
  sparse_index const index({}, rows);
  std::stop_source stop;
  context ctx;
  ctx.stop = stop.get_token();
  for (auto const& engine : exact_engines()) {
    sparse_searcher const searcher({}, index, {.engine = engine.which});
    EXPECT_EQ(searcher.search(ctx, rows).id.size(), 30 * rows.size());
  }
  stop.request_stop();
  for (auto const& engine : exact_engines()) {
    sparse_searcher const searcher({}, index, {.engine = engine.which});
    EXPECT_THROW(searcher.search(ctx, rows), interrupted);
  }
}

// One searcher serves several threads at once.
TEST(sparse_searcher, is_called_by_several_threads) {
  sparse_matrix const documents = drawn_rows({.rows = 2 * tile, .terms = 200}, 15);
  sparse_index const index({}, documents);
  std::vector<sparse_matrix> queries;
  std::vector<neighbours> expected;
  for (std::uint64_t i = 0; i < 4; ++i) {
    queries.push_back(drawn_rows({.rows = 25, .terms = 200}, 16 + i));
    expected.push_back(search_reference(documents, queries.back(), {.k = 7}));
  }
  for (auto const& engine : exact_engines())
    for (context const& ctx : contexts_of(engine)) {
      sparse_searcher const searcher(ctx, index, {.k = 7, .engine = engine.which});
      std::vector<neighbours> found(queries.size());
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < queries.size(); ++i)
        threads.emplace_back([&, i] { found[i] = searcher.search(ctx, queries[i]); });
      for (std::thread& one : threads) one.join();
      for (std::size_t i = 0; i < queries.size(); ++i) {
        EXPECT_EQ(found[i].id, expected[i].id) << engine.name << " " << i;
        EXPECT_EQ(bits(found[i].value), bits(expected[i].value)) << engine.name << " " << i;
      }
    }
}

TEST(weighting, by_hand) {
  sparse_matrix counts;
  counts.push_row(std::vector<std::uint32_t>{0, 1}, std::vector<double>{2, 1});
  counts.push_row(std::vector<std::uint32_t>{0}, std::vector<double>{1});
  counts.push_row(std::vector<std::uint32_t>{0, 2}, std::vector<double>{1, 3});
  term_statistics const statistics = statistics_of(counts);
  EXPECT_EQ(statistics.documents, 3U);
  EXPECT_EQ(statistics.document_frequency, (std::vector<std::uint32_t>{3, 1, 1}));
  EXPECT_DOUBLE_EQ(statistics.mean_length, 8.0 / 3);
  // A term of every document weighs nothing and is dropped.
  sparse_matrix const tf_idf = weigh_documents(counts, statistics, {});
  EXPECT_EQ(tf_idf.begin, (std::vector<std::uint64_t>{0, 1, 1, 2}));
  EXPECT_EQ(tf_idf.term, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(tf_idf.weight, (std::vector<double>{std::log(3.0), 3 * std::log(3.0)}));
  sparse_matrix const bm25 = weigh_documents(counts, statistics, {.how = weighting::bm25});
  ASSERT_EQ(bm25.weight.size(), 5U);
  EXPECT_DOUBLE_EQ(bm25.weight[1],
                   std::log(1 + 2.5 / 1.5) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 3 / (8.0 / 3))));
  sparse_matrix queries;
  queries.push_row(std::vector<std::uint32_t>{1, 7}, std::vector<double>{2, 1});
  sparse_matrix const weighed = weigh_queries(queries, statistics, {.how = weighting::bm25});
  EXPECT_EQ(weighed.term, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(weighed.weight, (std::vector<double>{2}));
  EXPECT_THROW(weigh_documents(counts, statistics, {.how = weighting::bm25, .b = 2}), usage_error);
  EXPECT_THROW(weigh_documents(counts, statistics, {.k1 = -1}), usage_error);
  EXPECT_EQ(weighting_from("tf-idf"), weighting::tf_idf);
  EXPECT_THROW(weighting_from("tfidf"), usage_error);
}

}  // namespace
}  // namespace rulerank::knn
