#include "knn/sparse/search.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/testing.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/published/engines.hpp"
#include "knn/sparse/search_reference.hpp"
#include "knn/sparse/testing.hpp"
#include "knn/sparse/tile_kernels.hpp"
#include "knn/sparse/weighting.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::sparse_search_test {
namespace {

[[maybe_unused]] bool const published_engines_are_listed = (add_published_sparse_engines(), true);

using rulerank::testing_tools::message_of;

constexpr std::size_t tile = 1 << 14;  // documents per tile on the CPU

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

/// Engines that sum in double precision; the published ones for GPUs have their own tests.
std::vector<sparse_engine_info> exact_engines() {
  std::vector<sparse_engine_info> exact;
  for (auto const& engine : sparse_engines())
    if (includes(engine.where, runs_on::cpu)) exact.push_back(engine);
  return exact;
}

sparse_engine_info const& tiles_info() {
  for (auto const& engine : sparse_engines())
    if (engine.which == sparse_engine::tiles) return engine;
  throw std::logic_error("no engine tiles");
}

/// Where a test runs: on the CPU, or on a number of GPUs.
constexpr std::size_t on_cpu = 0;
std::vector<std::size_t> const places = [] {
  std::vector<std::size_t> all{on_cpu};
  for (std::size_t const n : rulerank::testing_tools::gpu_counts) all.push_back(n);
  return all;
}();
std::string name_of_place(std::size_t gpus) {
  return gpus == on_cpu ? "on_cpu" : "on_gpus_" + std::to_string(gpus);
}
std::string why_not_at(std::size_t gpus) {
  auto const why = gpus == on_cpu ? std::string() : rulerank::testing_tools::why_not_on_gpus(gpus);
  return why.empty() ? why : "engine tiles on " + std::to_string(gpus) + " GPUs: " + why;
}

/// The engines with identical results there.
std::vector<sparse_engine_info> engines_at(std::size_t gpus) {
  return gpus == on_cpu ? exact_engines() : std::vector{tiles_info()};
}
/// On the CPU, one thread and four.
std::vector<context> contexts_at(std::size_t gpus) {
  if (gpus == on_cpu) return {on_threads(1), on_threads(4)};
  context ctx = rulerank::testing_tools::on_gpus(gpus);
  ctx.threads = 2;
  return {ctx};
}

/// A test of `tiles`, or of all engines with identical results, on the CPU and on 1, 2 and 4 GPUs.
class exact_search : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (auto const why = why_not_at(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
};
INSTANTIATE_TEST_SUITE_P(sparse, exact_search, ::testing::ValuesIn(places),
                         [](auto const& of) { return name_of_place(of.param); });

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
  all.push_back({"slow_long_queries",
                 {.rows = 2 * tile, .terms = 2000, .most_terms = 80},
                 {.rows = 40, .terms = 2000, .most_terms = 120},
                 {10, 100}});
  all.push_back({"slow_several_tiles_of_gpus",
                 {.rows = 110'000, .terms = 700, .most_terms = 9},
                 {.rows = 12, .terms = 700, .most_terms = 20},
                 {1, 30, 1024, 4096, 4097}});
  return all;
}

class sparse_search : public ::testing::TestWithParam<std::tuple<search_case, std::size_t>> {};

TEST_P(sparse_search, engines_find_what_the_definition_says_bit_for_bit) {
  auto const& [c, place] = GetParam();
  if (auto const why = why_not_at(place); !why.empty()) GTEST_SKIP() << why;
  sparse_matrix const documents = drawn_rows(c.documents, 1);
  sparse_matrix const queries = drawn_rows(c.queries, 2);
  sparse_index const index(on_threads(3), documents);
  for (similarity const metric :
       {similarity::cosine, similarity::inner_product, similarity::normalized_l2})
    for (std::size_t const k : c.ks) {
      sparse_result_options const results{.pad = k != c.ks.front()};
      neighbours const expected = search_reference(documents, queries, k, metric, results);
      for (auto const& engine : engines_at(place))
        for (context const& ctx : contexts_at(place)) {
          sparse_searcher const searcher(ctx, index, {metric, engine.which});
          EXPECT_EQ(searcher.engine(), engine.which);
          neighbours const found = searcher.search(ctx, queries, k, results);
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

INSTANTIATE_TEST_SUITE_P(sets, sparse_search,
                         ::testing::Combine(::testing::ValuesIn(cases()),
                                            ::testing::ValuesIn(places)),
                         [](auto const& of) {
                           return std::get<0>(of.param).name + "_" +
                                  name_of_place(std::get<1>(of.param));
                         });

TEST_P(exact_search, cosine_and_ties_by_hand) {
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
  for (auto const& engine : engines_at(GetParam()))
    for (context const& ctx : contexts_at(GetParam())) {
      auto const search = [&](similarity metric, bool pad) {
        return sparse_searcher(ctx, index, {metric, engine.which})
            .search(ctx, queries, 5, {.pad = pad});
      };
      neighbours const found = search(similarity::cosine, true);
      EXPECT_EQ(found.id, (std::vector<std::uint32_t>{2, 4, 0, 1, 3})) << engine.name;
      EXPECT_EQ(found.value, (std::vector<double>{1, 1, 0.6, 0, 0})) << engine.name;
      neighbours const near = search(similarity::normalized_l2, true);
      EXPECT_EQ(near.id, (std::vector<std::uint32_t>{2, 4, 0, 1, 3})) << engine.name;
      EXPECT_EQ(near.value, (std::vector<double>{0, 0, std::sqrt(0.8), 1, std::sqrt(2.0)}))
          << engine.name;
      std::vector<std::uint32_t> const matches{2, 4, 0, no_neighbour, no_neighbour};
      neighbours const matching = search(similarity::cosine, false);
      EXPECT_EQ(matching.id, matches) << engine.name;
      EXPECT_EQ(matching.value, (std::vector<double>{1, 1, 0.6, 0, 0})) << engine.name;
      EXPECT_EQ(matching.count_of(0), 3U) << engine.name;
      neighbours const close = search(similarity::normalized_l2, false);
      EXPECT_EQ(close.id, matches) << engine.name;
      EXPECT_EQ(close.value, (std::vector<double>{0, 0, std::sqrt(0.8), 0, 0})) << engine.name;
    }
}

// A common term makes a match, not a nonzero value: products may add up to 0, and squares may
// underflow.
TEST_P(exact_search, matches_without_a_value) {
  sparse_matrix documents;
  auto const row = [&](std::vector<std::uint32_t> terms, std::vector<double> weights) {
    documents.push_row(terms, weights);
  };
  row({0, 1}, {1, -1});
  row({2}, {1});
  row({0}, {1e-200});
  row({}, {});
  sparse_matrix queries;
  queries.push_row(std::vector<std::uint32_t>{0, 1}, std::vector<double>{1, 1});
  sparse_index const index({}, documents);
  for (auto const& engine : engines_at(GetParam()))
    for (context const& ctx : contexts_at(GetParam()))
      for (similarity const metric : {similarity::cosine, similarity::normalized_l2}) {
        std::vector<std::uint32_t> found =
            sparse_searcher(ctx, index, {metric, engine.which}).search(ctx, queries, 4).id;
        std::sort(found.begin(), found.end());
        EXPECT_EQ(found, (std::vector<std::uint32_t>{0, 2, no_neighbour, no_neighbour}))
            << engine.name << " " << name_of(metric);
      }
}

// Under SMART's lnc.ltc, a word of all documents has a weight in documents, but not in queries.
TEST_P(exact_search, a_word_of_all_documents_makes_matches) {
  sparse_matrix counts, queries;
  for (std::uint32_t d = 0; d < 4; ++d)
    counts.push_row(std::vector<std::uint32_t>{0, 1 + d}, std::vector<double>{1, 2});
  queries.push_row(std::vector<std::uint32_t>{0}, std::vector<double>{1});
  queries.push_row(std::vector<std::uint32_t>{0, 3}, std::vector<double>{1, 1});
  queries.push_row(std::vector<std::uint32_t>{9}, std::vector<double>{1});
  term_statistics const statistics = statistics_of(counts);
  weighting_options const lnc_ltc = default_weighting();
  sparse_index const index({}, weigh_documents(counts, statistics, lnc_ltc));
  sparse_matrix const weighed = weigh_queries(queries, statistics, lnc_ltc);
  for (auto const& engine : engines_at(GetParam()))
    for (context const& ctx : contexts_at(GetParam())) {
      neighbours const found =
          sparse_searcher(ctx, index, {.engine = engine.which}).search(ctx, weighed, 3);
      EXPECT_EQ(found.id, (std::vector<std::uint32_t>{0, 1, 2, 2, 0, 1, no_neighbour, no_neighbour,
                                                      no_neighbour}))
          << engine.name;
      EXPECT_GT(found.value[3], 0.5) << engine.name;
      EXPECT_EQ(found.value[4], 0) << engine.name;
    }
}

// Long lists of frequent terms are not read, and no result is lost.
TEST(tiles, reads_less_where_rare_terms_decide) {
  drawn_shape shape{.rows = 4 * tile, .terms = 3000, .most_terms = 30};
  sparse_matrix const counts = drawn_rows(shape, 3);
  term_statistics const statistics = statistics_of(counts);
  sparse_matrix const documents = weigh_documents(counts, statistics, {.tf = term_frequency::raw});
  sparse_matrix queries;
  sparse_rows const rows = documents;
  for (std::size_t d = 0; d < 40; ++d) queries.push_row(rows[d * 100].term, rows[d * 100].weight);
  sparse_index const index(on_threads(2), documents);
  sparse_searcher const tiles(on_threads(2), index, {.engine = sparse_engine::tiles});
  sparse_searcher const mt(on_threads(2), index, {.engine = sparse_engine::mt});
  sparse_search_work work;
  neighbours const ours = tiles.search(on_threads(2), queries, 3, {}, &work);
  neighbours const published = mt.search(on_threads(2), queries, 3);
  EXPECT_EQ(ours.id, published.id);
  EXPECT_EQ(bits(ours.value), bits(published.value));
  std::uint64_t all = 0;
  for (std::uint32_t const t : queries.term) all += index.list(t).size();
  EXPECT_LT(work.postings_read, all);
  EXPECT_GT(work.rescored, 0U);
  EXPECT_LT(work.rescored, 40 * documents.size() / 20);
}

// All similarities are known in advance, including documents without a term.
TEST_P(exact_search, computes_nothing_for_queries_without_known_terms) {
  sparse_matrix const documents = drawn_rows({.terms = 20, .empty = 0.1}, 14);
  sparse_matrix queries;
  queries.push_row({}, {});
  queries.push_row(std::vector<std::uint32_t>{50, 70}, std::vector<double>{1, 2});
  sparse_index const index({}, documents);
  for (similarity const metric :
       {similarity::cosine, similarity::inner_product, similarity::normalized_l2}) {
    sparse_result_options const results{.pad = true};
    neighbours const expected = search_reference(documents, queries, 60, metric, results);
    for (context const& ctx : contexts_at(GetParam())) {
      sparse_search_work work;
      neighbours const found =
          sparse_searcher(ctx, index, {metric}).search(ctx, queries, 60, results, &work);
      EXPECT_EQ(found.id, expected.id) << name_of(metric);
      EXPECT_EQ(bits(found.value), bits(expected.value)) << name_of(metric);
      EXPECT_EQ(work.rescored, 0U) << name_of(metric);
    }
  }
}

TEST_P(exact_search, inner_products_of_very_different_sizes) {
  random_engine draw(5);
  sparse_matrix documents = drawn_rows({.rows = 500, .terms = 100, .most_terms = 40}, 6);
  for (double& w : documents.weight)
    w *= std::exp2(static_cast<double>(uniform_below(draw, 60)) - 30);
  sparse_matrix queries = drawn_rows({.rows = 30, .terms = 100, .most_terms = 40}, 7);
  for (double& w : queries.weight)
    w *= std::exp2(static_cast<double>(uniform_below(draw, 60)) - 30);
  sparse_index const index({}, documents);
  for (similarity const metric : {similarity::cosine, similarity::inner_product}) {
    sparse_searcher const mt({}, index, {metric, sparse_engine::mt});
    neighbours const b = mt.search({}, queries, 20);
    for (context const& ctx : contexts_at(GetParam())) {
      sparse_searcher const tiles(ctx, index, {metric, sparse_engine::tiles});
      neighbours const a = tiles.search(ctx, queries, 20);
      EXPECT_EQ(a.id, b.id);
      EXPECT_EQ(bits(a.value), bits(b.value));
    }
  }
}

// Squares of such weights are 0, or no longer exact.
TEST_P(exact_search, weights_whose_norms_vanish) {
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
        neighbours const expected = search_reference(documents, queries, 20, metric);
        for (context const& ctx : contexts_at(GetParam())) {
          neighbours const found = sparse_searcher(ctx, index, {metric}).search(ctx, queries, 20);
          EXPECT_EQ(found.id, expected.id) << small << all << name_of(metric);
          EXPECT_EQ(bits(found.value), bits(expected.value)) << small << all << name_of(metric);
        }
      }
    }
  }
}

/// `tiles` on GPUs, with at most this many bytes of each for the index.
sparse_searcher_access::maker tiles_within([[maybe_unused]] std::size_t bytes) {
#if RULERANK_HAS_CUDA
  return
      [bytes](context const& ctx, sparse_index const& index, sparse_search_options const& options) {
        return make_tiles_on_gpus(ctx, index, options, bytes);
      };
#else
  return {};
#endif
}

// An index that fits no GPU is divided: one part per device, or one part after the other.
class tiles_in_parts : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(sparse, tiles_in_parts,
                         ::testing::ValuesIn(rulerank::testing_tools::gpu_counts),
                         [](auto const& of) { return name_of_place(of.param); });

TEST_P(tiles_in_parts, find_the_same) {
  RULERANK_NEEDS_GPUS(GetParam());
  context const ctx = rulerank::testing_tools::on_gpus(GetParam());
  sparse_matrix const documents =
      drawn_rows({.rows = 110'000, .terms = 700, .most_terms = 9, .weights = 2}, 12);
  sparse_matrix const queries = drawn_rows({.rows = 30, .terms = 700, .most_terms = 20}, 13);
  sparse_index const index(on_threads(2), documents);
  for (similarity const metric : {similarity::cosine, similarity::normalized_l2}) {
    std::map<std::size_t, neighbours> expected;
    for (std::size_t const k : {1U, 50U, 2000U})
      expected[k] = search_reference(documents, queries, k, metric);
    for (std::size_t const bytes : {std::size_t{6} << 20, std::size_t{10} << 20}) {
      auto const searcher = sparse_searcher_access::with(ctx, index, {metric}, tiles_within(bytes));
      for (std::size_t const k : {50U, 50U, 2000U, 1U}) {
        neighbours const found = searcher.search(ctx, queries, k);
        std::string const which = std::to_string(bytes) + " bytes, k " + std::to_string(k) + ", " +
                                  std::to_string(ctx.devices.size()) + " GPUs";
        EXPECT_EQ(found.id, expected[k].id) << which;
        EXPECT_EQ(bits(found.value), bits(expected[k].value)) << which;
      }
    }
  }
  EXPECT_THROW(sparse_searcher_access::with(ctx, index, {}, tiles_within(1 << 20)), device_error);
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
      neighbours const found =
          sparse_searcher({}, index, {.engine = engine.which}).search({}, queries, k);
      neighbours const expected = search_reference(documents, queries, k);
      EXPECT_EQ(found.k, 100U);
      EXPECT_EQ(found.id, expected.id);
      EXPECT_EQ(bits(found.value), bits(expected.value));
    }
  sparse_index const empty({}, sparse_matrix{});
  EXPECT_EQ(sparse_searcher({}, empty, {}).search({}, queries, 5).k, 0U);
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
      neighbours const found =
          sparse_searcher({}, index, {metric, engine.which}).search({}, queries, 4);
      neighbours const expected = search_reference(documents, queries, 4, metric);
      EXPECT_EQ(found.id, expected.id);
      EXPECT_EQ(bits(found.value), bits(expected.value));
      for (double const score : found.value) EXPECT_TRUE(std::isfinite(score));
    }
  for (double const beyond : {1.01 * largest_weight, -1e160, 1e200}) {
    sparse_matrix rows;
    rows.push_row(std::vector{1U}, std::vector{beyond});
    EXPECT_THROW(sparse_index({}, rows), usage_error);
    EXPECT_THROW(sparse_searcher({}, index, {}).search({}, rows, 4), usage_error);
  }
}

TEST(sparse_searcher, refuses_what_makes_no_sense) {
  sparse_matrix rows;
  rows.push_row(std::vector<std::uint32_t>{1, 3}, std::vector<double>{1, 2});
  sparse_index const index({}, rows);
  EXPECT_THROW(sparse_searcher({}, index, {.metric = similarity::l2}), usage_error);
  sparse_searcher const searcher({}, index, {});
  for (sparse_matrix const& some : {rows, sparse_matrix{}})
    EXPECT_EQ(message_of<usage_error>([&] { searcher.search({}, some, 0); }),
              "k: found 0, expected at least 1");
  sparse_matrix bad = rows;
  bad.term = {3, 1};
  EXPECT_THROW(searcher.search({}, bad, 1), usage_error);
  EXPECT_THROW(sparse_index({}, bad), usage_error);
  bad.term = {1, 1};
  EXPECT_THROW(searcher.search({}, bad, 1), usage_error);
  bad.term = {1, 4};
  EXPECT_THROW(searcher.search({}, bad, 1), usage_error);  // terms are below 4
  bad = rows;
  bad.weight[1] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(searcher.search({}, bad, 1), usage_error);
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
    EXPECT_EQ(searcher.search(ctx, rows, 30).id.size(), 30 * rows.size());
  }
  stop.request_stop();
  for (auto const& engine : exact_engines()) {
    sparse_searcher const searcher({}, index, {.engine = engine.which});
    EXPECT_THROW(searcher.search(ctx, rows, 30), interrupted);
  }
}

// One searcher serves several threads at once.
TEST_P(exact_search, is_called_by_several_threads) {
  sparse_matrix const documents = drawn_rows({.rows = 2 * tile, .terms = 200}, 15);
  sparse_index const index({}, documents);
  std::vector<sparse_matrix> queries;
  std::vector<neighbours> expected;
  for (std::uint64_t i = 0; i < 4; ++i) {
    queries.push_back(drawn_rows({.rows = 25, .terms = 200}, 16 + i));
    expected.push_back(search_reference(documents, queries.back(), 7));
  }
  for (auto const& engine : engines_at(GetParam()))
    for (context const& ctx : contexts_at(GetParam())) {
      sparse_searcher const searcher(ctx, index, {.engine = engine.which});
      std::vector<neighbours> found(queries.size());
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < queries.size(); ++i)
        threads.emplace_back([&, i] { found[i] = searcher.search(ctx, queries[i], 7); });
      for (std::thread& one : threads) one.join();
      for (std::size_t i = 0; i < queries.size(); ++i) {
        EXPECT_EQ(found[i].id, expected[i].id) << engine.name << " " << i;
        EXPECT_EQ(bits(found[i].value), bits(expected[i].value)) << engine.name << " " << i;
      }
    }
}

// The results of a searcher do not depend on earlier searches with another k.
TEST_P(exact_search, one_searcher_serves_any_k) {
  sparse_matrix const documents = drawn_rows({.rows = tile + 7, .terms = 300}, 25);
  sparse_matrix const queries = drawn_rows({.rows = 5, .terms = 320}, 26);
  sparse_index const index(on_threads(2), documents);
  std::size_t const n = documents.size();
  for (similarity const metric :
       {similarity::cosine, similarity::inner_product, similarity::normalized_l2})
    for (auto const& engine : engines_at(GetParam()))
      for (context const& ctx : contexts_at(GetParam())) {
        sparse_searcher const searcher(ctx, index, {metric, engine.which});
        for (std::size_t const k :
             {std::size_t{5}, std::size_t{1}, std::size_t{4096}, n, std::size_t{1}, n + 1}) {
          sparse_searcher const fresh(ctx, index, {metric, engine.which});
          for (bool const pad : {false, true}) {
            neighbours const expected = fresh.search(ctx, queries, k, {.pad = pad});
            neighbours const found = searcher.search(ctx, queries, k, {.pad = pad});
            std::string const which = std::string(engine.name) + " " +
                                      std::string(name_of(metric)) + " k " + std::to_string(k);
            EXPECT_EQ(found.k, std::min(k, n)) << which;
            EXPECT_EQ(found.id, expected.id) << which;
            EXPECT_EQ(bits(found.value), bits(expected.value)) << which;
          }
        }
      }
}

// Threads that share a searcher may use different k.
TEST_P(exact_search, threads_have_a_k_each) {
  sparse_matrix const documents = drawn_rows({.rows = 2 * tile, .terms = 200}, 27);
  sparse_matrix const queries = drawn_rows({.rows = 25, .terms = 200}, 28);
  sparse_index const index({}, documents);
  std::vector<std::size_t> const ks{1, 5, 300, 4097};
  std::vector<neighbours> expected;
  for (std::size_t const k : ks) expected.push_back(search_reference(documents, queries, k));
  for (auto const& engine : engines_at(GetParam()))
    for (context const& ctx : contexts_at(GetParam())) {
      sparse_searcher const searcher(ctx, index, {.engine = engine.which});
      std::vector<neighbours> found(ks.size());
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < ks.size(); ++i)
        threads.emplace_back([&, i] { found[i] = searcher.search(ctx, queries, ks[i]); });
      for (std::thread& one : threads) one.join();
      for (std::size_t i = 0; i < ks.size(); ++i) {
        EXPECT_EQ(found[i].id, expected[i].id) << engine.name << " k " << ks[i];
        EXPECT_EQ(bits(found[i].value), bits(expected[i].value)) << engine.name << " k " << ks[i];
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
  // A term of every document has weight 0 and is dropped.
  sparse_matrix const tf_idf = weigh_documents(counts, statistics, {.tf = term_frequency::raw});
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

/// Three documents: term 0 in all of them, 1 in two, 2 in one; N / df is 1, 3/2, 3.
struct weighed_collection {
  sparse_matrix counts, queries;
  term_statistics statistics;
};
weighed_collection small_collection() {
  weighed_collection all;
  all.counts.push_row(std::vector<std::uint32_t>{0, 1}, std::vector<double>{2, 5});
  all.counts.push_row(std::vector<std::uint32_t>{0}, std::vector<double>{1});
  all.counts.push_row(std::vector<std::uint32_t>{0, 1, 2}, std::vector<double>{1, 1, 3});
  all.statistics = statistics_of(all.counts);
  all.queries.push_row(std::vector<std::uint32_t>{0, 1, 2, 7}, std::vector<double>{4, 2, 1, 1});
  return all;
}

TEST(weighting, tf_by_hand) {
  auto const [counts, queries, statistics] = small_collection();
  double const rare = std::log(3.0), two = std::log(1.5);
  using numbers = std::vector<double>;
  struct row {
    term_frequency tf;
    numbers with_idf, without, query;
  };
  for (auto const& [tf, with_idf, without, query] :
       {row{term_frequency::raw, {5 * two, two, 3 * rare}, {2, 5, 1, 1, 1, 3}, {0, 2 * two, rare}},
        row{term_frequency::log,
            {(1 + std::log(5.0)) * two, two, (1 + std::log(3.0)) * rare},
            {1 + std::log(2.0), 1 + std::log(5.0), 1, 1, 1, 1 + std::log(3.0)},
            {0, (1 + std::log(2.0)) * two, rare}},
        row{term_frequency::binary, {two, two, rare}, {1, 1, 1, 1, 1, 1}, {0, two, rare}}}) {
    EXPECT_EQ(weigh_documents(counts, statistics, {.tf = tf}).weight, with_idf) << name_of(tf);
    EXPECT_EQ(weigh_documents(counts, statistics, {.how = weighting::none, .tf = tf}).weight,
              without);
    EXPECT_EQ(weigh_queries(queries, statistics, {.tf = tf}).weight, query) << name_of(tf);
    EXPECT_EQ(term_frequency_from(name_of(tf)), tf);
  }
  EXPECT_EQ(weigh_documents(counts, statistics, {}).weight,
            weigh_documents(counts, statistics, {.tf = term_frequency::raw}).weight);
  EXPECT_EQ(weigh_documents(counts, statistics, default_weighting()).weight,
            weigh_documents(counts, statistics, {.how = weighting::none, .tf = term_frequency::log})
                .weight);
  EXPECT_EQ(weigh_queries(queries, statistics, default_weighting()).weight,
            weigh_queries(queries, statistics, {.tf = term_frequency::log}).weight);
  EXPECT_EQ(weigh_documents(counts, statistics, {.how = weighting::none}).weight, counts.weight);
  EXPECT_THROW(term_frequency_from("sqrt"), usage_error);
  EXPECT_THROW(
      weigh_documents(counts, statistics, {.how = weighting::bm25, .tf = term_frequency::log}),
      usage_error);
  EXPECT_THROW(weigh_queries(counts, statistics,
                             {.queries = term_weighting{weighting::bm25, term_frequency::raw}}),
               usage_error);
  sparse_matrix fractions;
  fractions.push_row(std::vector<std::uint32_t>{0}, std::vector<double>{0.5});
  EXPECT_THROW(weigh_documents(fractions, statistics, {.tf = term_frequency::log}), usage_error);
}

TEST(weighting, smart_names) {
  auto const [counts, queries, statistics] = small_collection();
  smart_weighting const ltc_lnc = smart_weighting_from("ltc.lnc");
  EXPECT_EQ(ltc_lnc.metric, similarity::cosine);
  EXPECT_EQ(weigh_documents(counts, statistics, ltc_lnc.weights).weight,
            weigh_documents(counts, statistics, {.tf = term_frequency::log}).weight);
  EXPECT_EQ(weigh_queries(queries, statistics, ltc_lnc.weights).weight,
            (std::vector<double>{1 + std::log(4.0), 1 + std::log(2.0), 1}));
  smart_weighting const nnn_btn = smart_weighting_from("nnn.btn");
  EXPECT_EQ(nnn_btn.metric, similarity::inner_product);
  EXPECT_EQ(weigh_documents(counts, statistics, nnn_btn.weights).weight, counts.weight);
  EXPECT_EQ(weigh_queries(queries, statistics, nnn_btn.weights).weight,
            (std::vector<double>{0, std::log(1.5), std::log(3.0)}));
  for (std::string const documents : {"nnn", "ltc", "btc", "lnn", "bnc", "ntc"})
    for (std::string const terms : {"nn", "lt", "bt"}) {
      std::string const name = documents + "." + terms + documents[2];
      smart_weighting const one = smart_weighting_from(name);
      EXPECT_EQ(smart_name_of(one.weights, one.metric), name);
    }
  EXPECT_EQ(smart_name_of({}, similarity::cosine), "ntc.ntc");  // queries as documents
  EXPECT_EQ(smart_name_of(default_weighting(), similarity::cosine), default_smart_weighting);
  EXPECT_THROW(smart_name_of({.how = weighting::bm25}, similarity::inner_product), usage_error);
  EXPECT_THROW(smart_name_of({}, similarity::l2), usage_error);
  auto const said = [](std::string_view name) {
    return message_of<usage_error>([&] { smart_weighting_from(name); });
  };
  EXPECT_EQ(
      said("atc.lnc"),
      "found 'a' for tf in 'atc.lnc', expected one of n (the count), l (1 + ln of it), b (1)");
  EXPECT_EQ(said("ltc.lpc"),
            "found 'p' for idf in 'ltc.lpc', expected one of n (none), t (ln(N / df))");
  EXPECT_EQ(said("ltu.lnc"),
            "found 'u' for the norm in 'ltu.lnc', expected one of n (none), c (cosine)");
  EXPECT_EQ(said("lnc.ltn"),
            "found the norms c and n in 'lnc.ltn', expected the same norm twice, because the norm "
            "of a query does not change the ranking");
  for (char const* const name : {"", "ltc", "ltc-lnc", "ltc.lnc.", "ltcc.nc"})
    EXPECT_EQ(said(name), "found '" + std::string(name) +
                              "', expected three letters of the documents, a dot and three of the "
                              "queries, as in ltc.lnc");
}

/// SMART's letters, the same for documents and queries, and an engine, which may be unable to run
/// here.
class weighted_search : public ::testing::TestWithParam<std::tuple<char, char, char, std::string>> {
};

/// The definition with weights that are computed independently here.
neighbours expected_of(weighed_collection const& all, std::string const& smart, std::size_t k) {
  auto const weigh = [&](sparse_matrix const& counts) {
    sparse_matrix rows;
    sparse_rows const from = counts;
    for (std::size_t r = 0; r < from.size(); ++r) {
      std::vector<std::uint32_t> terms;
      std::vector<double> weights;
      for (std::size_t i = 0; i < from[r].size(); ++i) {
        std::uint32_t const t = from[r].term[i];
        double const count = from[r].weight[i];
        double const df =
            t < all.statistics.document_frequency.size() ? all.statistics.document_frequency[t] : 0;
        double const tf = smart[0] == 'n' ? count : smart[0] == 'l' ? 1 + std::log(count) : 1;
        double const w = df == 0 ? 0
                         : smart[1] == 't'
                             ? tf * std::log(static_cast<double>(all.counts.size()) / df)
                             : tf;
        if (w == 0) continue;
        terms.push_back(t);
        weights.push_back(w);
      }
      rows.push_row(terms, weights);
    }
    return rows;
  };
  similarity const metric = smart[2] == 'c' ? similarity::cosine : similarity::inner_product;
  return search_reference(weigh(all.counts), weigh(all.queries), k, metric);
}

TEST_P(weighted_search, every_engine_finds_what_the_definition_says) {
  auto const& [tf, idf, norm, name] = GetParam();
  auto const registered = std::ranges::find(sparse_engines(), name, &sparse_engine_info::name);
  if (registered == sparse_engines().end())
    GTEST_SKIP() << "engine " << name << " is not in this build";
  bool const exact = includes(registered->where, runs_on::cpu);
  if (!exact) RULERANK_NEEDS_GPU();
  weighed_collection all;
  auto const counted = [](drawn_shape const& shape, std::uint64_t seed) {
    sparse_matrix rows = drawn_rows(shape, seed);
    for (double& count : rows.weight) count += 0.5;  // 1, 2, ...
    return rows;
  };
  all.counts = counted({.rows = 500, .terms = 90, .most_terms = 30, .empty = 0, .weights = 9}, 21);
  for (std::size_t d = 0; d < all.counts.size(); ++d)  // term 0 is in all documents
    if (std::uint64_t const at = all.counts.begin[d];
        at < all.counts.begin[d + 1] && all.counts.term[at] != 0)
      all.counts.term[at] = 0;
  all.queries = counted({.rows = 25, .terms = 100, .most_terms = 40, .weights = 5}, 22);
  all.statistics = statistics_of(all.counts);
  std::string const part{tf, idf, norm}, smart = part + "." + part;
  smart_weighting const asked = smart_weighting_from(smart);
  constexpr std::size_t k = 40;
  neighbours const expected = expected_of(all, smart, k);
  sparse_index const index({}, weigh_documents(all.counts, all.statistics, asked.weights));
  sparse_matrix const queries = weigh_queries(all.queries, all.statistics, asked.weights);
  for (context const& ctx :
       exact ? contexts_at(on_cpu) : std::vector{rulerank::testing_tools::on_gpus(1)}) {
    sparse_searcher const searcher(ctx, index, {asked.metric, registered->which});
    neighbours const found = searcher.search(ctx, queries, k);
    if (exact) {
      EXPECT_EQ(found.id, expected.id) << smart;
      EXPECT_EQ(bits(found.value), bits(expected.value)) << smart;
      continue;
    }
    ASSERT_EQ(found.value.size(), expected.value.size()) << smart;
    for (std::size_t i = 0; i < found.value.size(); ++i)  // sums of floats
      ASSERT_NEAR(found.value[i], expected.value[i],
                  1e-5 * std::max(1.0, std::abs(expected.value[i])))
          << smart << " " << i;
  }
}

std::string name_of_case(
    ::testing::TestParamInfo<std::tuple<char, char, char, std::string>> const& of) {
  auto const& [tf, idf, norm, engine] = of.param;
  return std::string{tf, idf, norm, '_'} + engine;
}
INSTANTIATE_TEST_SUITE_P(smart, weighted_search,
                         ::testing::Combine(::testing::Values('n', 'l', 'b'),
                                            ::testing::Values('n', 't'),
                                            ::testing::Values('n', 'c'),
                                            ::testing::Values("mt", "tiles", "gknn", "gt", "fish")),
                         name_of_case);

}  // namespace
}  // namespace rulerank::knn::sparse_search_test
