#pragma once

#include "knn/similarity.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/tile_index.hpp"

#include <cstdint>

#include <cuda_runtime_api.h>

// The kernels of `tiles` on GPUs, by what they take and how they are launched.
namespace rulerank::inline v0::knn {

/// Marks a query that integers do not serve.
inline constexpr std::uint32_t not_served = ~0U;

/// A document that a tile hands on: it may be among the nearest.
struct handed_document {
  std::uint32_t document;
  std::uint32_t sum;
};

/// A batch of queries, on the host or on a device.
struct query_view {
  std::uint64_t* begin;  ///< [queries + 1] into the two below
  std::uint32_t* term;   ///< ascending
  double* weight;
  double* norm;          ///< [queries]
  std::uint32_t* error;  ///< [queries] of a sum, at most; or not_served
};

/// The tiles of a part of the index.
struct tiles_view {
  std::uint64_t const* base;   ///< [tiles] into the postings of the whole index
  std::uint32_t const* begin;  ///< [tiles][terms + 1] from there
  tile_posting const* postings;
  std::uint32_t tiles;
  std::uint32_t terms;
  std::uint32_t documents;
  std::uint32_t tile_size;
};

/// The documents of a part: `begin` counts from the first of the whole index.
struct rows_view {
  std::uint64_t const* begin;
  std::uint32_t const* term;
  double const* weight;
  double const* norms;
};

/// What is found for a batch, on the host or on a device.
struct results_view {
  double* scores;            ///< [queries][k]
  std::uint32_t* documents;  ///< [queries][k] by their number in the part, nearest first
  std::uint32_t* answered;   ///< [queries] 1 + how many of the k share a term; 0: not yet
  unsigned long long* rescored;
  unsigned long long* postings_read;
};

/// What the blocks of a query share, on a device.
struct handed_view {
  std::uint32_t* best;        ///< [queries] the k-th best sum is at least this
  std::uint32_t* count;       ///< [queries] how many documents are handed on
  handed_document* document;  ///< [queries][capacity]
  std::uint32_t capacity;
};

/// What a block of the current device has shared memory for. Making it allows the kernels to take
/// that memory.
struct block_limits {
  std::uint32_t tile_size = 0;  ///< documents whose sums a block keeps
  std::uint32_t rescored = 0;   ///< documents that a block sorts
};
block_limits allow_shared_memory();

/// Adds up the sums of `count` queries in all tiles and hands on the documents that may be among
/// the k nearest.
void sum_tiles(tiles_view const& tiles, query_view const& queries, std::uint32_t count,
               double scale, std::uint32_t k, handed_view const& handed, results_view const& to,
               cudaStream_t on);

/// Computes the handed documents that may be near exactly and writes the k nearest of each query.
/// Queries that are answered are skipped, as are those with more documents to compute than
/// `capacity`, a power of two.
void rescore(rows_view const& rows, query_view const& queries, std::uint32_t count,
             similarity metric, std::uint32_t k, std::uint32_t capacity, handed_view const& handed,
             results_view const& to, cudaStream_t on);

}  // namespace rulerank::knn
