#pragma once

#include "knn/similarity.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/tile_index.hpp"

#include <cstdint>

#include <cuda_runtime_api.h>

// The kernels of `tiles` on GPUs: their arguments and launches.
namespace rulerank::inline v0::knn {

/// Marks a query without an integer form.
inline constexpr std::uint32_t not_served = ~0U;

/// A candidate: a document of a tile that may be among the k nearest.
struct handed_document {
  std::uint32_t document;
  std::uint32_t sum;
};

/// A batch of queries, on the host or on a device.
struct query_view {
  std::uint64_t* begin;  ///< [queries + 1] into the next two
  std::uint32_t* term;   ///< ascending
  double* weight;
  double* norm;          ///< [queries]
  std::uint32_t* error;  ///< [queries] upper bound of the error of a sum; or not_served
};

/// The tiles of a part of the index.
struct tiles_view {
  std::uint64_t const* base;   ///< [tiles] into the postings of the whole index
  std::uint32_t const* begin;  ///< [tiles][terms + 1] within the tile
  tile_posting const* postings;
  std::uint32_t tiles;
  std::uint32_t terms;
  std::uint32_t documents;
  std::uint32_t tile_size;
};

/// The documents of a part; `begin` counts from the first document of the whole index.
struct rows_view {
  std::uint64_t const* begin;
  std::uint32_t const* term;
  double const* weight;
  double const* norms;
};

/// The results of a batch, on the host or on a device.
struct results_view {
  double* scores;            ///< [queries][k]
  std::uint32_t* documents;  ///< [queries][k] numbers in the part, nearest first
  /// [queries] 1 + the number of the k that share a term; 0: not answered yet.
  std::uint32_t* answered;
  unsigned long long* rescored;
  unsigned long long* postings_read;
};

/// The state that the blocks of a query share on a device.
struct handed_view {
  std::uint32_t* best;        ///< [queries] lower bound of the k-th best sum
  std::uint32_t* count;       ///< [queries] number of candidates
  handed_document* document;  ///< [queries][capacity]
  std::uint32_t capacity;
};

/// The sizes that fit the shared memory of a block on the current device. Making them lets the
/// kernels use that memory.
struct block_limits {
  std::uint32_t tile_size = 0;  ///< documents whose sums a block keeps
  std::uint32_t rescored = 0;   ///< documents that a block sorts
};
block_limits allow_shared_memory();

/// Computes the sums of `count` queries in all tiles and keeps the candidates.
void sum_tiles(tiles_view const& tiles, query_view const& queries, std::uint32_t count,
               double scale, std::uint32_t k, handed_view const& handed, results_view const& to,
               cudaStream_t on);

/// Computes candidates that may be near exactly and writes the k nearest of each query. Skips
/// answered queries, and queries with more than `capacity` (a power of two) documents to compute.
void rescore(rows_view const& rows, query_view const& queries, std::uint32_t count,
             similarity metric, std::uint32_t k, std::uint32_t capacity, handed_view const& handed,
             results_view const& to, cudaStream_t on);

}  // namespace rulerank::knn
