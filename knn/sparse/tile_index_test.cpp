#include "knn/sparse/tile_index.hpp"

#include "knn/sparse/posting_lists.hpp"
#include "knn/sparse/similarity_math.hpp"
#include "knn/sparse/testing.hpp"
#include "knn/sparse/tile_query.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::tile_index_test {
namespace {

using testing_tools::drawn_rows;
using testing_tools::drawn_shape;

using offset_and_weight = std::pair<std::uint16_t, std::uint16_t>;

std::vector<offset_and_weight> sorted(std::span<tile_posting const> list) {
  std::vector<offset_and_weight> all;
  for (tile_posting const& p : list)
    if (p.weight != 0) all.emplace_back(p.offset, p.weight);
  std::sort(all.begin(), all.end());
  return all;
}

// The lists for warps have the same postings, in full lanes.
TEST(tile_index, lists_over_banks_are_the_lists) {
  sparse_matrix const documents =
      drawn_rows({.rows = 70'000, .terms = 40, .most_terms = 12, .weights = 9}, 1);
  sparse_index const index({}, documents);
  tile_index const plain({}, index, similarity::cosine, 1 << 15);
  tile_index const dealt({}, index, similarity::cosine, 1 << 15, tile_lists::over_banks);
  ASSERT_EQ(plain.tiles(), 3U);
  ASSERT_EQ(dealt.tiles(), 3U);
  for (std::size_t tile = 0; tile < 3; ++tile)
    for (std::uint32_t term = 0; term < index.terms(); ++term) {
      auto const list = dealt.list(tile, term);
      EXPECT_EQ(list.size() % postings_a_lane, 0U);
      EXPECT_LT(list.size(), plain.list(tile, term).size() + postings_a_lane);
      EXPECT_EQ(sorted(list), sorted(plain.list(tile, term))) << tile << " " << term;
    }
}

// Frequent terms have a weight for every document, other terms have postings: together they are the
// lists.
TEST(tile_index, dense_lists_are_the_lists) {
  sparse_matrix documents =
      drawn_rows({.rows = 20'000, .terms = 60, .most_terms = 14, .weights = 9}, 6);
  for (std::size_t i = 0; i < documents.weight.size(); i += 97) documents.weight[i] = 0;
  sparse_index const index({}, documents);
  tile_index const plain({}, index, similarity::cosine, 1 << 14);
  tile_index const mixed({}, index, similarity::cosine, 1 << 14, tile_lists::frequent_dense);
  ASSERT_EQ(mixed.tiles(), 2U);
  std::set<bool> kinds;
  for (std::uint32_t term = 0; term < index.terms(); ++term) {
    EXPECT_FALSE(plain.is_dense(term));
    bool const dense = mixed.is_dense(term);
    kinds.insert(dense);
    EXPECT_EQ(dense, index.list(term).size() > index.size() / 8);
    for (std::size_t tile = 0; tile < 2; ++tile) {
      auto const wanted = sorted(plain.list(tile, term));
      if (!dense) {
        EXPECT_EQ(sorted(mixed.list(tile, term)), wanted);
        continue;
      }
      EXPECT_TRUE(mixed.list(tile, term).empty());
      dense_list const list = mixed.dense(tile, term);
      EXPECT_EQ(list.weights.size() % tile_padding, 0U);
      EXPECT_EQ(list.postings, wanted.size());
      std::vector<offset_and_weight> found;
      for (std::size_t offset = 0; offset < list.weights.size(); ++offset)
        if (list.weights[offset] != 0)
          found.emplace_back(static_cast<std::uint16_t>(offset), list.weights[offset]);
      EXPECT_EQ(found, wanted) << tile << " " << term;
    }
  }
  EXPECT_EQ(kinds.size(), 2U);
}

TEST(tile_kernels, add_and_find_as_plain_loops_do) {
  random_engine draw(8);
  for (std::size_t const n : {64, 192, 256, 320, 16384}) {
    std::vector<std::int32_t> sums(n), wanted(n);
    std::vector<std::uint16_t> weights(n);
    for (std::size_t i = 0; i < n; ++i) {
      wanted[i] = sums[i] = static_cast<std::int32_t>(uniform_below(draw, 1U << 20));
      weights[i] = static_cast<std::uint16_t>(uniform_below(draw, 32768));
    }
    std::uint32_t const weight = 32767;
    for (std::size_t i = 0; i < n; ++i) wanted[i] += static_cast<std::int32_t>(weights[i] * weight);
    add_weighted(sums.data(), weights.data(), n, weight);
    ASSERT_EQ(sums, wanted);

    // Each sum is in one group of sixteen, so k groups contain k different sums.
    std::vector<std::int32_t> maxima(n / 16 + 16);
    maxima.resize(largest_of_sixteen(sums.data(), n, maxima.data()));
    EXPECT_LE(maxima.size(), n / 16 + 15);
    std::vector<std::int32_t> largest(maxima.size(), 0);
    for (std::size_t i = 0; i < n; ++i) {
      std::int32_t& of = largest[i / 256 * 16 + i % 16];
      of = std::max(of, sums[i]);
    }
    EXPECT_EQ(maxima, largest);

    std::int32_t const threshold = sums[n / 3];
    std::vector<std::uint32_t> offsets(n), above;
    for (std::size_t i = 0; i < n; ++i)
      if (sums[i] >= threshold) above.push_back(static_cast<std::uint32_t>(i));
    offsets.resize(find_at_least(sums.data(), n, threshold, offsets.data()));
    EXPECT_EQ(offsets, above);
    EXPECT_EQ(count_at_least(sums.data(), n, threshold), above.size());
  }
}

// Lanes add one posting each simultaneously; these postings should be in different banks.
TEST(tile_index, lists_over_banks_have_few_conflicts) {
  sparse_matrix const documents =
      drawn_rows({.rows = 1 << 15, .terms = 5, .most_terms = 3, .empty = 0}, 2);
  sparse_index const index({}, documents);
  auto const turns = [&](tile_lists how) {
    tile_index const tiles({}, index, similarity::cosine, 1 << 15, how);
    std::size_t additions = 0, passes = 0;
    for (std::uint32_t term = 0; term < index.terms(); ++term) {
      auto const list = tiles.list(0, term);
      for (std::size_t from = 0; from + 128 <= list.size(); from += 128)
        for (std::size_t turn = 0; turn < postings_a_lane; ++turn) {
          std::map<std::uint32_t, std::size_t> of_bank;
          for (std::size_t lane = 0; lane < 32; ++lane)
            ++of_bank[list[from + lane * postings_a_lane + turn].offset % 32];
          std::size_t longest = 0;
          for (auto const& [bank, n] : of_bank) longest = std::max(longest, n);
          passes += longest;
          ++additions;
        }
    }
    EXPECT_GT(additions, 500U);
    return static_cast<double>(passes) / static_cast<double>(additions);
  };
  EXPECT_LT(turns(tile_lists::over_banks), 1.3);
  EXPECT_GT(turns(tile_lists::by_document), 2);
}

/// The terms from the j-th on add no more than their bound.
void expect_rests_within_bounds(tile_index const& tiles, tile_query const& query,
                                std::size_t documents) {
  for (std::size_t j = 0; j < std::min<std::size_t>(query.term.size(), 4); ++j) {
    std::vector<double> rest(documents, 0);
    for (std::size_t i = j; i < query.term.size(); ++i)
      for (tile_posting const& p : tiles.list(0, query.term[i]))
        rest[p.offset] += 1.0 * p.weight * query.weight[i];
    EXPECT_LE(*std::max_element(rest.begin(), rest.end()), query.rest[j] + query.error);
  }
}

// An integer sum differs from the similarity by no more than its error bound:
// docs/concepts/certified-search.md derives it.
TEST(tile_query, sums_are_as_near_as_their_error_says) {
  struct kind {
    drawn_shape shape;
    double octaves;  // range of the weights
  };
  for (kind const& of :
       {kind{{.rows = 400, .terms = 60, .most_terms = 12}, 0},
        kind{{.rows = 200, .terms = 900, .most_terms = 400}, 0},
        kind{{.rows = 400, .most_terms = 3}, 12}, kind{{.rows = 300, .most_terms = 40}, 30}}) {
    random_engine draw(7);
    auto const drawn = [&](std::uint64_t seed) {
      sparse_matrix rows = drawn_rows(of.shape, seed);
      for (double& w : rows.weight) w *= std::exp2(of.octaves * (uniform_unit(draw) - 0.5));
      return rows;
    };
    sparse_matrix const documents = drawn(3);
    sparse_matrix const queries = drawn(4);
    sparse_rows const rows = documents, asked = queries;
    sparse_index const index({}, documents);
    std::size_t compared = 0;
    double worst = 0;
    for (similarity const metric : {similarity::cosine, similarity::inner_product}) {
      tile_index const tiles({}, index, metric, 1 << 14);
      for (std::size_t q = 0; q < asked.size(); ++q) {
        double const norm = norm_of(asked[q]);
        tile_query integers;
        make_tile_query(index, tiles, metric, asked[q], norm, integers);
        if (integers.units == 0) continue;
        std::map<std::uint32_t, std::uint32_t> weight_of;
        for (std::size_t i = 0; i < integers.term.size(); ++i)
          weight_of[integers.term[i]] = integers.weight[i];
        std::vector<double> sums(index.size(), 0), products(index.size(), 0);
        for (auto const& [term, weight] : weight_of)
          for (tile_posting const& p : tiles.list(0, term))
            sums[p.offset] += 1.0 * p.weight * weight;
        for (std::size_t i = 0; i < asked[q].size(); ++i) {
          posting_list const list = index.list(asked[q].term[i]);
          for (std::size_t p = 0; p < list.size(); ++p)
            products[list.document[p]] += asked[q].weight[i] * list.weight[p];
        }
        for (std::uint32_t d = 0; d < rows.size(); ++d) {
          double const similarity = metric == similarity::inner_product
                                        ? products[d]
                                        : cosine_of(products[d], norm, index.norms()[d], false);
          double const off = std::abs(sums[d] - similarity * integers.units);
          EXPECT_LE(off, integers.error) << q << " " << d;
          EXPECT_EQ(sums[d] == 0, products[d] == 0);
          worst = std::max(worst, off / integers.error);
          ++compared;
        }
        expect_rests_within_bounds(tiles, integers, index.size());
      }
    }
    EXPECT_GT(compared, 10'000U);
    EXPECT_GT(worst, 1e-3);  // the bound is of the same magnitude as the error
  }
}

}  // namespace
}  // namespace rulerank::knn::tile_index_test
