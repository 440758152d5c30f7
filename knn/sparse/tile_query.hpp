#pragma once

#include "knn/sparse/engine.hpp"
#include "knn/sparse/tile_index.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

// What `tiles` does with a query on the CPU and on GPUs alike.
namespace rulerank::inline v0::knn {

/// Whether the integer sums serve for a weight: it is not below 0, and its square is neither 0 nor
/// infinite, as the bounds, which are made of norms, need.
inline bool serves(double weight) {
  return weight == 0 || (weight >= 1e-100 && weight <= 1e100);
}

/// `scale` of `integer_weight`.
double query_scale(tile_index const& tiles);
/// What integers make of a query without weights of 0.
struct query_integers {
  bool serve = false;  ///< false: a weight that does not, or sums beyond 31 bits
  double error = 0;    ///< of a sum, at most
};
query_integers integers_of(tile_index const& tiles, sparse_row const& query, double norm);

/// A query as integers, terms by rising document frequency.
struct tile_query {
  std::vector<std::uint32_t> term;
  std::vector<std::uint32_t> weight;
  std::vector<double> rest;  ///< what the terms from the i-th on can add to a sum, at most
  double error = 0;          ///< of a whole sum, at most
  double units = 0;          ///< the sum of a similarity of 1; 0: integers do not serve
};
void make_tile_query(sparse_index const& index, tile_index const& tiles, similarity metric,
                     sparse_row const& query, double norm, tile_query& made);

/// The k nearest of all documents, from exact sums. `sums`: scratch space.
void search_all(sparse_index const& index, similarity metric, sparse_row const& query, double norm,
                std::size_t k, std::vector<double>& sums, std::vector<sparse_candidate>& nearest);

/// Completes the documents that share a term with a query, the nearest first, to k: those that
/// share none have similarity 0 and follow by their number.
void fill_up(std::vector<sparse_candidate>& sorted, std::size_t k);

/// The documents without a term with a weight, which normalized_l2 orders as if their cosine were
/// 1/2.
std::vector<std::uint32_t> zero_documents(sparse_index const& index, similarity metric);

}  // namespace rulerank::knn
