#include "core/error.hpp"
#include "core/testing.hpp"
#include "knn/block_sort.hpp"
#include "knn/candidate.hpp"
#include "knn/merge_lists.hpp"
#include "knn/near_key.hpp"
#include "knn/sparse/published/fish.hpp"
#include "knn/sparse/search_reference.hpp"
#include "knn/sparse/testing.hpp"
#include "knn/sparse/weighting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

// Compares the published engines for GPUs, which sum in single precision, with the definition.
namespace rulerank::inline v0::knn::sparse_search_cuda_test {
namespace {

constexpr std::size_t tile = 1 << 14;  // documents per tile on the CPU

using testing_tools::drawn_rows;
using testing_tools::drawn_shape;

constexpr double tolerance = 1e-5;
constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

/// Returns the quantity that is compared with a tolerance of 1e-5: the similarity. For l2 it is the
/// cosine, because the root turns an error e in a cosine of 1 into sqrt(2 e).
double compared(similarity metric, double score) {
  return metric == similarity::normalized_l2 ? score * score / 2 : score;
}

/// All documents' scores and their order by the definition.
class expectation {
 public:
  expectation(sparse_rows const& documents, sparse_rows const& queries, similarity metric)
      : metric_(metric), documents_(documents.size()), queries_(queries.size()) {
    all_ = search_reference(documents, queries, documents_, metric, {.pad = true});
    score_.resize(all_.value.size());
    for (std::size_t q = 0; q < queries_; ++q)
      for (std::size_t i = 0; i < documents_; ++i)
        score_[q * documents_ + all_.id[q * documents_ + i]] = all_.value[q * documents_ + i];
  }

  /// `exact`: floats hold the sums of products of these weights exactly.
  void check(neighbours const& found, std::size_t k, bool exact, std::string const& what) const {
    ASSERT_EQ(found.k, std::min(k, documents_)) << what;
    ASSERT_EQ(found.id.size(), queries_ * found.k) << what;
    ASSERT_EQ(found.value.size(), queries_ * found.k) << what;
    for (std::size_t q = 0; q < queries_; ++q) {
      std::set<std::uint32_t> seen;
      for (std::size_t i = 0; i < found.k; ++i) {
        std::uint32_t const d = found.id[q * found.k + i];
        double const score = found.value[q * found.k + i];
        std::string const where =
            what + ", query " + std::to_string(q) + ", rank " + std::to_string(i);
        ASSERT_LT(d, documents_) << where;
        ASSERT_TRUE(seen.insert(d).second) << where << ": document " << d << " twice";
        double const expected = compared(metric_, all_.value[q * documents_ + i]);
        double const within = tolerance * std::max(1.0, std::abs(expected));
        ASSERT_NEAR(compared(metric_, score), expected, within) << where;
        ASSERT_NEAR(compared(metric_, score_[q * documents_ + d]), expected, within) << where;
        if (exact && metric_ == similarity::inner_product) {
          ASSERT_EQ(score, all_.value[q * documents_ + i]) << where;
          ASSERT_EQ(d, all_.id[q * documents_ + i]) << where;
        }
        if (i == 0 || metric_ == similarity::normalized_l2) continue;
        double const before = found.value[q * found.k + i - 1];
        ASSERT_GE(before, score) << where;
        if (before == score) {
          ASSERT_LT(found.id[q * found.k + i - 1], d) << where << ": equal, not in id order";
        }
      }
    }
  }

 private:
  similarity metric_;
  std::size_t documents_, queries_;
  neighbours all_;
  std::vector<double> score_;  // [queries][documents]
};

struct way {
  sparse_engine engine;
  std::size_t group = 1;
  load_balance balance = load_balance::inter;
  sparse_searcher searcher(context const& ctx, sparse_index const& index,
                           similarity metric = similarity::cosine) const {
    if (engine == sparse_engine::fish)
      return make_fish_searcher(ctx, index, metric, {group, balance});
    return {ctx, index, {metric, engine}};
  }
  std::string name() const {
    return std::string(name_of(engine)) + " group " + std::to_string(group) + " " +
           std::string(name_of(balance));
  }
};
std::vector<way> ways() {
  std::vector<way> all{{sparse_engine::gknn}, {sparse_engine::gt}};
  for (load_balance const balance : {load_balance::inter, load_balance::intra})
    for (std::size_t const group : {1, 7, 1000})
      all.push_back({sparse_engine::fish, group, balance});
  return all;
}

void check_all(sparse_matrix const& documents, sparse_matrix const& queries,
               std::vector<std::size_t> const& ks, bool exact, context const& ctx,
               std::string const& name) {
  sparse_index const index({}, documents);
  for (similarity const metric :
       {similarity::cosine, similarity::inner_product, similarity::normalized_l2}) {
    expectation const expected(documents, queries, metric);
    for (way const& how : ways()) {
      sparse_searcher const searcher = how.searcher(ctx, index, metric);
      EXPECT_EQ(searcher.engine(), how.engine) << how.name();
      for (std::size_t const k : ks) {
        std::string const what = name + ": " + how.name() + " " + std::string(name_of(metric)) +
                                 " k " + std::to_string(k);
        neighbours const found = searcher.search(ctx, queries, k, {.pad = true});
        expected.check(found, k, exact, what);
        if (::testing::Test::HasFatalFailure()) return;
        if (k != ks.front()) continue;
        neighbours const again = searcher.search(ctx, queries, k, {.pad = true});
        expected.check(again, k, exact, what + ", again");
        if (how.engine == sparse_engine::gknn) {  // its sums have a fixed order
          EXPECT_EQ(again.id, found.id) << what;
          EXPECT_EQ(again.value, found.value) << what;
        }
      }
    }
  }
}

struct gpu_case {
  std::string name;
  drawn_shape documents;
  drawn_shape queries;
  std::vector<std::size_t> ks{1, 30};
};
void PrintTo(gpu_case const& c, std::ostream* out) {
  *out << c.name;
}

std::vector<gpu_case> cases() {
  std::vector<gpu_case> all;
  all.push_back({"plain", {}, {.rows = 40}, {1, 2, 30, 300, everything}});
  all.push_back({"one_document", {.rows = 1, .empty = 0}, {.rows = 5}});
  all.push_back({"no_near_key", {.rows = 0}, {.rows = 3}});
  all.push_back({"no_query", {}, {.rows = 0}});
  all.push_back({"only_empty_rows", {.rows = 40, .empty = 1}, {.rows = 3}});
  all.push_back({"no_terms", {.rows = 5, .terms = 0, .empty = 1}, {.rows = 3}});
  all.push_back({"empty_rows", {.empty = 0.5}, {.rows = 30, .empty = 0.5}, {3, 200}});
  all.push_back({"unknown_terms", {.terms = 20}, {.rows = 30, .terms = 90}});
  all.push_back({"negative", {.negative = true}, {.rows = 30, .negative = true}, {5, 299}});
  all.push_back({"few_weights", {.weights = 1}, {.rows = 30, .weights = 1}, {7, 50}});
  // A truncated sort processes 1,024 - 32 new documents at k = 30, 4,096 - 1,024 at k = 1,024.
  for (std::size_t const rows : {992, 993, 1985})
    all.push_back({"sort_boundary_" + std::to_string(rows), {.rows = rows}, {.rows = 3}, {30, 32}});
  all.push_back(
      {"largest_truncated_sort", {.rows = 7000}, {.rows = 3}, {513, 1024, 1025, everything}});
  all.push_back({"tile_boundary", {.rows = tile}, {.rows = 4}, {30, 300}});
  // More documents than 3 blocks on each of 132 multiprocessors sort at once.
  all.push_back({"all_blocks",
                 {.rows = 132 * 3 * 992 + 4321, .terms = 400},
                 {.rows = 3, .terms = 400},
                 {30, 1000}});
  // More terms than blocks, and than threads of one block.
  all.push_back({"long_queries",
                 {.rows = 3000, .terms = 4000, .most_terms = 80},
                 {.rows = 12, .terms = 4000, .most_terms = 3000},
                 {10, 100}});
  return all;
}

/// Returns why the published engines cannot run on so many GPUs; empty if they can.
std::string why_not_here(std::size_t gpus) {
  auto const why = rulerank::testing_tools::why_not_on_gpus(gpus);
  return why.empty() ? why : "engines gknn, gt, fish: " + why;
}

class published_search : public ::testing::TestWithParam<std::tuple<gpu_case, std::size_t>> {};

TEST_P(published_search, finds_what_the_definition_says_in_single_precision) {
  auto const& [c, gpus] = GetParam();
  if (auto const why = why_not_here(gpus); !why.empty()) GTEST_SKIP() << why;
  check_all(drawn_rows(c.documents, 1), drawn_rows(c.queries, 2), c.ks, true,
            rulerank::testing_tools::on_gpus(gpus), c.name);
}

INSTANTIATE_TEST_SUITE_P(
    sets, published_search,
    ::testing::Combine(::testing::ValuesIn(cases()),
                       ::testing::ValuesIn(rulerank::testing_tools::gpu_counts)),
    [](auto const& of) {
      return std::get<0>(of.param).name + "_on_" + std::to_string(std::get<1>(of.param));
    });

/// Tests on 1, 2 and 4 GPUs.
class sparse_search_on_gpus : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (auto const why = why_not_here(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  static context gpus() { return rulerank::testing_tools::on_gpus(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(sparse, sparse_search_on_gpus,
                         ::testing::ValuesIn(rulerank::testing_tools::gpu_counts),
                         [](auto const& of) { return std::to_string(of.param); });

TEST_P(sparse_search_on_gpus, weights_that_floats_round) {
  sparse_matrix const counts = drawn_rows({.rows = 5000, .terms = 3000, .most_terms = 120}, 3);
  sparse_matrix const documents =
      weigh_documents(counts, statistics_of(counts), {.tf = term_frequency::raw});
  sparse_matrix queries;
  sparse_rows const rows = documents;
  for (std::size_t d = 0; d < 40; ++d) queries.push_row(rows[d * 100].term, rows[d * 100].weight);
  queries.terms = documents.terms;
  check_all(documents, queries, {1, 30, 300}, false, gpus(), "tf-idf");
}

TEST_P(sparse_search_on_gpus, refuses_what_single_precision_does_not_hold) {
  context const ctx = gpus();
  sparse_matrix large;
  large.push_row(std::vector<std::uint32_t>{0}, std::vector<double>{1e20});
  sparse_matrix small;
  small.push_row(std::vector<std::uint32_t>{0}, std::vector<double>{1e-20});
  sparse_matrix good;
  good.push_row(std::vector<std::uint32_t>{0}, std::vector<double>{1});
  for (way const& how : ways()) {
    EXPECT_THROW(how.searcher(ctx, sparse_index({}, large)), usage_error);
    EXPECT_THROW(how.searcher(ctx, sparse_index({}, small)), usage_error);
    sparse_index const index({}, good);
    sparse_searcher const searcher = how.searcher(ctx, index);
    EXPECT_THROW(searcher.search(ctx, large, 30), usage_error);
    EXPECT_EQ(searcher.search(ctx, good, 30).id, (std::vector<std::uint32_t>{0}));
  }
}

TEST_P(sparse_search_on_gpus, stops_when_asked) {
  context ctx = gpus();
  sparse_matrix const rows = drawn_rows({.rows = 40}, 9);
  sparse_index const index({}, rows);
  for (way const& how : ways()) {
    std::stop_source stop;
    ctx.stop = {};
    sparse_searcher const searcher = how.searcher(ctx, index);
    ctx.stop = stop.get_token();
    EXPECT_EQ(searcher.search(ctx, rows, 30).id.size(), 30 * rows.size());
    stop.request_stop();
    EXPECT_THROW(searcher.search(ctx, rows, 30), interrupted);
  }
}

/// The queries of one device; devices have even shares.
struct query_share {
  std::size_t begin, end;
};
std::vector<query_share> shares_of(std::size_t queries, std::size_t devices) {
  std::vector<query_share> shares;
  for (std::size_t i = 0, begin = 0; i < devices; ++i) {
    std::size_t const end = begin + queries / devices + (i < queries % devices ? 1 : 0);
    shares.push_back({begin, end});
    begin = end;
  }
  return shares;
}

/// Returns the postings that the busiest block adds for a query, with three blocks per
/// multiprocessor: all terms' postings divided evenly (Algorithm 8), or one term per block
/// (Algorithm 20).
std::uint64_t busiest_block(sparse_index const& index, sparse_row const& query, load_balance how,
                            std::uint64_t blocks) {
  std::uint64_t all = 0;
  std::vector<std::uint64_t> of_block(blocks);
  std::size_t term = 0;
  for (std::uint32_t const t : query.term) {
    if (t >= index.terms() || index.list(t).size() == 0) continue;
    all += index.list(t).size();
    of_block[term++ % blocks] += index.list(t).size();
  }
  if (how == load_balance::intra) return *std::max_element(of_block.begin(), of_block.end());
  return std::min(all, (all + blocks - 1) / blocks);
}

// The characteristics of fish and gt: groups of queries in memory that is allocated once, or memory
// for each query, and the distribution of postings over blocks of threads.
TEST_P(sparse_search_on_gpus, groups_allocations_and_balance_are_the_published_ones) {
  context const ctx = gpus();
  sparse_matrix const documents = drawn_rows({.rows = 3000, .terms = 900, .most_terms = 40}, 21);
  // More terms than blocks of one multiprocessor, and more than there are blocks.
  sparse_matrix const queries = drawn_rows({.rows = 23, .terms = 900, .most_terms = 1500}, 22);
  sparse_index const index({}, documents);
  auto const devices = list_devices().devices;
  // With lists of the nearest, and with all documents sorted.
  for (std::size_t const k : {10, 2000})
    for (way const& how : ways()) {
      if (how.engine == sparse_engine::gknn) continue;
      bool const gt = how.engine == sparse_engine::gt;
      std::uint64_t groups = 0;
      std::uint64_t allocations = 0;
      std::uint64_t busiest = 0;
      auto const shares = shares_of(queries.size(), ctx.devices.size());
      for (std::size_t i = 0; i < shares.size(); ++i) {
        std::size_t const of_device = shares[i].end - shares[i].begin;
        groups += (of_device + how.group - 1) / how.group;
        allocations += gt ? of_device : 1;
        std::uint64_t const blocks =
            3 * static_cast<std::uint64_t>(
                    devices[static_cast<std::size_t>(ctx.devices[i])].multiprocessors);
        for (std::size_t q = shares[i].begin; q < shares[i].end; ++q)
          busiest += busiest_block(index, sparse_rows(queries)[q], how.balance, blocks);
      }
      sparse_searcher const searcher = how.searcher(ctx, index);
      for (int call = 1; call <= 2; ++call) {
        sparse_search_work work;
        searcher.search(ctx, queries, k, {}, &work);
        EXPECT_EQ(count_of(work.counts, "groups"), groups) << how.name() << " k " << k;
        EXPECT_EQ(count_of(work.counts, "allocations"), allocations) << how.name() << " k " << k;
        EXPECT_EQ(count_of(work.counts, "busiest_block"), busiest) << how.name() << " k " << k;
      }
    }
}

TEST_P(sparse_search_on_gpus, gknn_takes_memory_once) {
  context const ctx = gpus();
  sparse_matrix const documents = drawn_rows({.rows = 500}, 23);
  sparse_matrix const queries = drawn_rows({.rows = 20}, 24);
  sparse_index const index({}, documents);
  sparse_searcher const searcher(ctx, index, {.engine = sparse_engine::gknn});
  sparse_search_work work;
  neighbours const first = searcher.search(ctx, queries, 5, {}, &work);
  EXPECT_EQ(count_of(work.counts, "allocations"), ctx.devices.size());
  for (int call = 0; call < 5; ++call)
    EXPECT_EQ(searcher.search(ctx, queries, 5, {}, &work).id, first.id);
  EXPECT_EQ(count_of(work.counts, "allocations"), ctx.devices.size());
}

TEST(sparse_search_without_gpus, is_refused) {
  sparse_matrix const rows = drawn_rows({}, 9);
  sparse_index const index({}, rows);
  for (way const& how : ways()) EXPECT_THROW(how.searcher({}, index), device_error) << how.name();
}

// The results of a searcher do not depend on earlier searches with another k. Sums of these weights
// are exact, so their order has no effect.
TEST_P(sparse_search_on_gpus, one_searcher_serves_any_k) {
  context const ctx = gpus();
  sparse_matrix const documents = drawn_rows({.rows = 3000}, 25);
  sparse_matrix const queries = drawn_rows({.rows = 12}, 26);
  sparse_index const index({}, documents);
  std::size_t const n = documents.size();
  for (way const& how : ways()) {
    sparse_searcher const searcher = how.searcher(ctx, index, similarity::inner_product);
    for (std::size_t const k :
         {std::size_t{5}, std::size_t{1}, n, std::size_t{1}, std::size_t{1024}, n + 1}) {
      std::string const what = how.name() + " k " + std::to_string(k);
      sparse_searcher const fresh = how.searcher(ctx, index, similarity::inner_product);
      neighbours const expected = fresh.search(ctx, queries, k);
      neighbours const found = searcher.search(ctx, queries, k);
      EXPECT_EQ(found.k, std::min(k, n)) << what;
      EXPECT_EQ(found.id, expected.id) << what;
      EXPECT_EQ(found.value, expected.value) << what;
    }
    EXPECT_THROW(searcher.search(ctx, queries, 0), usage_error) << how.name();
  }
}

TEST_P(sparse_search_on_gpus, fish_refuses_a_group_of_0) {
  sparse_index const index({}, drawn_rows({}, 9));
  EXPECT_THROW(make_fish_searcher(gpus(), index, similarity::cosine, {.group = 0}), usage_error);
}

TEST(load_balance, names) {
  EXPECT_EQ(load_balance_from("inter"), load_balance::inter);
  EXPECT_EQ(load_balance_from(name_of(load_balance::intra)), load_balance::intra);
  EXPECT_THROW(load_balance_from("Inter"), usage_error);
}

// The steps that the kernels do in parallel.

TEST(near_key, orders_by_score_and_then_by_document) {
  float const most = std::numeric_limits<float>::max();
  float const least = std::numeric_limits<float>::denorm_min();
  std::vector<float> const descending{most, 1.5F, 1, 0.5F, least, 0, -least, -0.5F, -1, -most};
  std::vector<near_key> keys;
  for (float const score : descending)
    for (std::uint32_t const d : {0U, 1U, 0x80000000U, 0xFFFFFFFEU}) {
      keys.push_back(near_key_of(score, d));
      EXPECT_EQ(value_of(keys.back()), score);
      EXPECT_EQ(id_of(keys.back()), d);
    }
  for (std::size_t i = 1; i < keys.size(); ++i) EXPECT_LT(keys[i - 1], keys[i]) << i;
  EXPECT_LT(keys.back(), no_near_key);
  EXPECT_EQ(near_key_of(-0.0F, 7), near_key_of(0, 7));
}

TEST(near_key, orders_distances_from_the_smallest) {
  constexpr value_order smaller = value_order::smaller_is_nearer;
  std::vector<float> const ascending{0, std::numeric_limits<float>::denorm_min(), 0.25F, 1, 1e30F};
  std::vector<near_key> keys;
  for (float const distance : ascending)
    for (std::uint32_t const id : {0U, 7U, 0xFFFFFFFEU}) {
      keys.push_back(near_key_of<smaller>(distance, id));
      EXPECT_EQ(value_of<smaller>(keys.back()), distance);
      EXPECT_EQ(id_of(keys.back()), id);
    }
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_LT(keys.back(), no_near_key);
}

TEST(bitonic_sort, sorts_by_any_order) {
  auto const one_by_one = [](std::uint32_t n, auto const& work) {
    for (std::uint32_t e = n; e-- > 0;) work(e);
  };
  random_engine draw(13);
  auto const sorted_by = [&](auto const& before) {
    for (std::uint32_t size = 2; size <= 2048; size *= 2)
      for (std::uint64_t const different : {std::uint64_t{2}, std::uint64_t{1} << 40}) {
        std::vector<candidate<double>> items(size);
        for (std::uint32_t i = 0; i < size; ++i)
          items[i] = {static_cast<double>(uniform_below(draw, different)), (i * 7) % size};
        auto const expected = [&] {
          auto copy = items;
          std::sort(copy.begin(), copy.end(), before);
          return copy;
        }();
        sort_bitonic(items.data(), size, before, one_by_one);
        for (std::uint32_t i = 0; i < size; ++i) {
          ASSERT_EQ(items[i].value, expected[i].value) << size << " " << i;
          ASSERT_EQ(items[i].id, expected[i].id) << size << " " << i;
        }
      }
  };
  sorted_by(nearer<value_order::larger_is_nearer>{});
  sorted_by(nearer<value_order::smaller_is_nearer>{});
}

TEST(nearest_candidates, keeps_the_k_nearest) {
  random_engine draw(14);
  auto const kept_by = [&]<value_order Order>() {
    for (std::size_t const k : {1, 5, 64}) {
      nearest_candidates<double, Order> nearest(k);
      std::vector<candidate<double>> all;
      for (std::uint32_t id = 0; id < 300; ++id) {
        all.push_back({static_cast<double>(uniform_below(draw, 40)), id});
        nearest.add(all.back());
      }
      std::sort(all.begin(), all.end(), nearer<Order>{});
      EXPECT_TRUE(nearest.full());
      EXPECT_EQ(nearest.last(), all[k - 1].value);
      auto const& sorted = nearest.sorted();
      ASSERT_EQ(sorted.size(), k);
      for (std::size_t i = 0; i < k; ++i) EXPECT_EQ(sorted[i].id, all[i].id) << k << " " << i;
    }
  };
  kept_by.operator()<value_order::larger_is_nearer>();
  kept_by.operator()<value_order::smaller_is_nearer>();
}

TEST(truncated_sort, keeps_the_smallest_ascending) {
  auto const one_by_one = [](std::uint32_t n, auto const& work) {
    for (std::uint32_t e = n; e-- > 0;) work(e);
  };
  random_engine draw(11);
  for (std::uint32_t size = 2; size <= 4096; size *= 2)
    for (std::uint32_t kept_log = 0; (2U << kept_log) <= size; ++kept_log)
      for (std::uint64_t const different : {std::uint64_t{3}, std::uint64_t{1} << 40}) {
        std::vector<near_key> keys(size);
        for (near_key& key : keys) key = uniform_below(draw, different);
        std::vector<near_key> expected = keys;
        std::sort(expected.begin(), expected.end());
        sort_truncated(keys.data(), size, kept_log, one_by_one);
        std::size_t const kept = std::size_t{1} << kept_log;
        keys.resize(kept);
        expected.resize(kept);
        EXPECT_EQ(keys, expected) << size << " " << kept;
      }
}

TEST(merge_lists, ends_a_search) {
  random_engine draw(12);
  for (std::size_t const lists : {1, 2, 7, 396})
    for (std::size_t const length : {1, 30, 64}) {
      std::vector<near_key> keys, all;
      for (std::size_t i = 0; i < lists; ++i) {
        std::size_t const present = i == 0 ? length : uniform_below(draw, length + 1);
        std::vector<near_key> list(length, no_near_key);
        for (std::size_t j = 0; j < present; ++j)
          list[j] = near_key_of(static_cast<float>(uniform_below(draw, 50)),
                                static_cast<std::uint32_t>(all.size() + j));
        std::sort(list.begin(), list.end());
        keys.insert(keys.end(), list.begin(), list.end());
        all.insert(all.end(), list.begin(), list.begin() + static_cast<std::ptrdiff_t>(present));
      }
      std::sort(all.begin(), all.end());
      neighbours found;
      found.k = length;
      found.id.resize(2 * length);
      found.value.resize(2 * length);
      merge_lists(keys, length, 1, found);
      for (std::size_t i = 0; i < length; ++i) {
        EXPECT_EQ(found.id[length + i], id_of(all[i])) << lists << " " << i;
        EXPECT_EQ(found.value[length + i], value_of(all[i])) << lists << " " << i;
      }
    }
}

}  // namespace
}  // namespace rulerank::knn::sparse_search_cuda_test
