#include "core/error.hpp"
#include "knn/dense/dense_reference.hpp"
#include "knn/dense/engine.hpp"
#include "knn/dense/search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// Compares `mpi-knn` with the definition: bit for bit if floats round nothing, otherwise within the
// bounds in docs/reference/modules/knn-dense.md.
namespace rulerank::inline v0::knn::mpi_knn_test {
namespace {

using datasets::vectors;

constexpr similarity all_metrics[] = {similarity::l2, similarity::inner_product,
                                      similarity::cosine};

bool is_listed() {
  return find_engine(dense_engines(), dense_engine::mpi_knn) != nullptr;
}

vectors drawn(std::size_t count, std::size_t dimensions, std::uint32_t seed, bool integers) {
  std::mt19937 random(seed);
  std::normal_distribution<float> value(3, 1);
  std::vector<float> values(count * dimensions);
  for (float& one : values)
    one = integers ? static_cast<float>(static_cast<int>(random() % 5) - 2) : value(random);
  return vectors(std::move(values), dimensions);
}

TEST(mpi_knn, FindsWhatTheDefinitionSays) {
  if (!is_listed()) GTEST_SKIP() << "engine mpi-knn: this build has no MPI";
  for (bool const exact : {true, false})
    for (similarity const metric : all_metrics)
      for (std::size_t const dimensions : {1, 7, 130}) {
        vectors const rows = drawn(300, dimensions, 1, exact);
        vectors const queries = drawn(9, dimensions, 2, exact);
        auto const all = dense_reference(rows, queries, metric);
        dense_index const index({}, rows, {metric, dense_engine::mpi_knn});
        EXPECT_EQ(index.engine(), dense_engine::mpi_knn);
        double const n = static_cast<double>(dimensions) + 8;
        double const g = n * 0x1p-24 / (1 - n * 0x1p-24);
        for (std::size_t const k : {1, 10, 300, 310}) {
          neighbours const found = index.search({}, queries, k);
          for (std::size_t q = 0; q < queries.size(); ++q) {
            EXPECT_EQ(found.count_of(q), std::min<std::size_t>(k, rows.size()));
            for (std::size_t i = 0; i < found.count_of(q); ++i) {
              reference_row const& expected = all[q][i];
              double const value = found.values_of(q)[i];
              if (exact && metric != similarity::cosine) {
                EXPECT_EQ(found.ids_of(q)[i], expected.row);
                EXPECT_EQ(value,
                          metric == similarity::l2 ? std::sqrt(expected.value) : expected.value);
              } else if (metric == similarity::l2) {
                EXPECT_NEAR(value * value, expected.value, 1.001 * g * expected.value + 1e-30);
              } else {
                // |x| |y| is below 17 n for random values around 3.
                EXPECT_NEAR(value, expected.value,
                            1.001 * g * (metric == similarity::cosine ? 1 : 64 * n));
              }
            }
          }
        }
      }
}

TEST(mpi_knn, TakesRowsThatAreAdded) {
  if (!is_listed()) GTEST_SKIP() << "engine mpi-knn: this build has no MPI";
  vectors const rows = drawn(40, 3, 5, true), queries = drawn(4, 3, 6, true);
  dense_index some({}, rows.rows(0, 25), {similarity::l2, dense_engine::mpi_knn});
  some.add({}, rows.rows(25, 15));
  dense_index const all({}, rows, {similarity::l2, dense_engine::mpi_knn});
  EXPECT_EQ(some.search({}, queries, 7).id, all.search({}, queries, 7).id);
}

TEST(mpi_knn, RefusesWhatItWasNotPublishedFor) {
  if (!is_listed()) GTEST_SKIP() << "engine mpi-knn: this build has no MPI";
  vectors const rows(std::vector<float>{1, 2, 3, 4}, 2);
  dense_index const index({}, rows, {similarity::l2, dense_engine::mpi_knn});
  EXPECT_THROW(index.search_range({}, rows, 1), usage_error);
  std::vector<std::uint64_t> const filter{1};
  EXPECT_THROW(index.search({}, rows, 1, {filter, {}}), usage_error);
  vectors const large(std::vector<float>{1, 2, 1e16F, 4}, 2);
  EXPECT_THROW(dense_index({}, large, {similarity::l2, dense_engine::mpi_knn}), usage_error);
  EXPECT_THROW(index.search({}, large, 1), usage_error);
}

}  // namespace
}  // namespace rulerank::knn::mpi_knn_test
