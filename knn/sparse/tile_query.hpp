#pragma once

#include "knn/sparse/engine.hpp"
#include "knn/sparse/tile_index.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

// The preparation of queries that `tiles` shares between CPU and GPUs.
namespace rulerank::inline v0::knn {

/// Returns whether integer sums can represent a weight: it must not be negative, and its square
/// must be neither 0 nor infinite, because the bounds use norms.
inline bool serves(double weight) {
  return weight == 0 || (weight >= 1e-100 && weight <= 1e100);
}

/// Returns the `scale` of `integer_weight`.
double query_scale(tile_index const& tiles);
/// The integer form of a query without zero weights.
struct query_integers {
  bool serve = false;  ///< false: a weight has no integer form, or sums exceed 31 bits
  double error = 0;    ///< upper bound of the error of a sum
};
query_integers integers_of(tile_index const& tiles, sparse_row const& query, double norm);

/// A query with integer weights, terms by ascending document frequency.
struct tile_query {
  std::vector<std::uint32_t> term;
  std::vector<std::uint32_t> weight;
  std::vector<double> rest;  ///< upper bound of what the terms from the i-th on add to a sum
  double error = 0;          ///< upper bound of the error of a whole sum
  double units = 0;  ///< the sum that equals a similarity of 1; 0: the query has no integer form
};
void make_tile_query(sparse_index const& index, tile_index const& tiles, similarity metric,
                     sparse_row const& query, double norm, tile_query& made);

/// Finds the k nearest of all documents by exact sums. `sums`: scratch space.
void search_all(sparse_index const& index, similarity metric, sparse_row const& query, double norm,
                std::size_t k, std::vector<double>& sums, std::vector<sparse_candidate>& nearest);

/// Appends documents that share no term with the query up to k, in ascending order. Their
/// similarity is 0. `sorted`: the documents that share a term, nearest first.
void fill_up(std::vector<sparse_candidate>& sorted, std::size_t k);

/// Returns the documents without a nonzero weight, which normalized_l2 orders as if their cosine
/// were 1/2.
std::vector<std::uint32_t> zero_documents(sparse_index const& index, similarity metric);

}  // namespace rulerank::knn
