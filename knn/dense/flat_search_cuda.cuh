#pragma once

#include "datasets/vectors.hpp"
#include "knn/dense/engine.hpp"
#include "knn/similarity.hpp"

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

// The kernels of `flat` on GPUs, by what they take and how they are launched. How they tell rows
// apart, with the proof: flat_search_cuda.cu.
namespace rulerank::inline v0::knn {

/// Rows that a warp takes at once.
inline constexpr std::uint32_t slab_rows = 32;
/// Dimensions of a tensor product; the shadow has zeros up to a multiple of it.
inline constexpr std::uint32_t step_dimensions = 16;
/// Queries are padded to a multiple of it.
inline constexpr std::uint32_t most_chunk_queries = 128;
/// With more dimensions the bounds say nothing.
inline constexpr std::uint32_t most_shadow_dimensions = 1U << 20;

/// Errors of tensor products, times the product of the norms.
__host__ __device__ inline double tensor_error(std::uint32_t dimensions) {
  return 1.01 * (static_cast<double>(dimensions) + 16) * 0x1p-22 + 0x1p-20;
}

/// Of a row of the shadow.
struct row_mark {
  /// Of the row as it is shadowed; its square less 1 is that of one of zeros under cosine; 0 for
  /// one that the kernels cannot take.
  float norm;
  float error;  ///< how far the shadow is from it, at most; infinity for such a one
};

/// Rows of a part of the index on a device, and their shadow: the rows moved, under cosine divided
/// by their norm before, rounded to bfloat16, in the order in which tensor products take
/// them.
struct shadow_rows {
  std::byte const* values = nullptr;  ///< [rows][dimensions], of `type`
  uint4* fragments = nullptr;         ///< [slabs][steps][2][32]
  row_mark* marks = nullptr;          ///< [slabs * slab_rows]
  double* norms = nullptr;            ///< [rows] as they are defined; cosine alone
  float const* centre = nullptr;      ///< [dimensions] what is subtracted, or null
  double centre_norm = 0;             ///< no less than its norm
  std::uint32_t rows = 0;
  std::uint32_t dimensions = 0;
  datasets::element type = datasets::element::float32;
  similarity metric = similarity::l2;
  float scale = 1;  ///< of the bounds; another in a test that breaks them

  __host__ __device__ std::uint32_t slabs() const { return (rows + slab_rows - 1) / slab_rows; }
  __host__ __device__ std::uint32_t steps() const {
    return (dimensions + step_dimensions - 1) / step_dimensions;
  }
};

/// A row that may be near a query. Scores: the larger the nearer; the product of the query and the
/// row as they are shadowed, but for inner products less half the row's square. Of a crowded query
/// the bounds give way to the key.
struct handed_row {
  std::uint32_t row;
  float least;  ///< the score is at least this
  float most;   ///< and at most this
};

/// What becomes of a query.
enum class query_state : std::uint32_t {
  done,
  again,    ///< more rows than there is space for; `limits` has a better limit
  crowded,  ///< more rows within `limits` than a block computes and sorts
  exact,    ///< all rows must be computed
};

/// A batch of queries on a device.
struct flat_queries {
  float const* values = nullptr;                ///< [count][dimensions]
  float const* given = nullptr;                 ///< [count] limits that are known, or null
  std::uint32_t const* rows_filter = nullptr;   ///< [slabs] or null
  std::uint32_t const* query_filter = nullptr;  ///< [count][slabs] or null
  std::uint32_t count = 0;
  std::uint32_t k = 0;  ///< at most the rows; 0: all rows that order at most by `farthest`
  double farthest = 0;
  // What the kernels make of them, [padded]:
  double* exact = nullptr;          ///< [count][dimensions] the same numbers
  uint4* fragments = nullptr;       ///< [padded / 16][steps][32]
  float* reach = nullptr;           ///< the norm, rounded up
  float* limit = nullptr;           ///< only rows of such a score are wanted
  float* slack = nullptr;           ///< the limit is so much below the k-th least score
  double* norm = nullptr;           ///< as it is defined; cosine alone
  std::uint32_t* ratio = nullptr;   ///< [1] bits of the largest error beside the norm
  std::uint32_t* handed = nullptr;  ///< how many rows were handed on, those without space too
  handed_row* rows = nullptr;       ///< [count][capacity]
  std::uint32_t capacity = 0;

  __host__ __device__ std::uint32_t padded() const {
    return (count + most_chunk_queries - 1) / most_chunk_queries * most_chunk_queries;
  }
};

/// What is found, on a device.
struct flat_results {
  double* keys = nullptr;             ///< [count][kept]
  std::uint32_t* rows = nullptr;      ///< [count][kept] by their number in the part, nearest first
  std::uint32_t* found = nullptr;     ///< [count] how many; handed on of those to search again
  query_state* state = nullptr;       ///< [count]
  float* limits = nullptr;            ///< [count] of those to search again and the crowded
  std::uint32_t* computed = nullptr;  ///< [count] rows that were computed
  std::uint32_t kept = 0;
  std::uint32_t sorted = 0;  ///< a power of two: rows of a query that are computed and sorted
};

/// How the rows are read: by which kernel, and how many blocks.
struct scan_plan {
  std::uint32_t queries = 16;  ///< of a chunk: 16, 32, 64 or 128
  bool shared = true;          ///< a chunk lies in shared memory
  std::uint32_t chunks = 1;
  std::uint32_t slices = 1;  ///< of the rows; a block takes a chunk and a slice
  std::uint32_t stride = 1;  ///< every so manieth slab is read
  std::uint32_t slabs = 0;   ///< that are read
  std::uint32_t fold = 0;    ///< of a sample: 8 >> fold groups a warp

  std::uint32_t groups() const;
};

/// What the current device can do. Making it allows the kernels to take its shared memory.
struct scan_limits {
  std::uint32_t multiprocessors = 0;
  std::size_t shared_bytes = 0;
  bool clusters = false;  ///< blocks of different multiprocessors share memory
};
scan_limits allow_scans();

/// Of all slabs.
scan_plan plan_scan(scan_limits const& limits, shadow_rows const& rows, std::uint32_t queries);
/// Of about a row in `of`, for at least `groups` groups.
scan_plan plan_sample(scan_limits const& limits, shadow_rows const& rows, std::uint32_t queries,
                      std::uint32_t of, std::uint32_t groups);

/// Fills the shadow.
void make_shadow(shadow_rows const& rows, cudaStream_t on);
/// Makes of queries what the other kernels take; their limits are those that are given, of a range
/// that of the range, else none.
void prepare(shadow_rows const& rows, flat_queries const& queries, flat_results const& to,
             cudaStream_t on);
/// Sets limits by some of the rows. `maxima`: [padded][groups of the plan].
void sample(shadow_rows const& rows, flat_queries const& queries, scan_plan const& plan,
            float* maxima, cudaStream_t on);
/// Hands on all rows that may be within the limits.
void scan(shadow_rows const& rows, flat_queries const& queries, scan_plan const& plan,
          cudaStream_t on);
/// Computes the rows that were handed on and may be among the nearest.
void finish(scan_limits const& limits, shadow_rows const& rows, flat_queries const& queries,
            flat_results const& to, cudaStream_t on);
/// Computes the rows of all crowded queries that may be among the nearest, spread over the device,
/// and makes the queries done. Of a range none is crowded.
void finish_crowded(shadow_rows const& rows, flat_queries const& queries, flat_results const& to,
                    cudaStream_t on);

/// Computes the keys of a query and of `count` rows from `first` on, in no block's shared memory:
/// keys[i] of row first + i as integers that ascend with them, the largest for rows that may not be
/// found; numbers[i] = first + i. `within`: how many keys are at most `farthest`.
void compute_all(shadow_rows const& rows, flat_queries const& queries, std::uint32_t query,
                 std::uint32_t first, std::uint32_t count, double farthest, std::uint64_t* keys,
                 std::uint32_t* numbers, std::uint32_t* within, cudaStream_t on);
/// The double of such an integer.
double key_of(std::uint64_t ascending);
/// Sorts keys and their rows; equal keys stay in order. Returns how many bytes it needs where
/// `space` is null.
std::size_t sort_keys(void* space, std::size_t bytes, std::uint64_t const* keys,
                      std::uint64_t* sorted_keys, std::uint32_t const* numbers,
                      std::uint32_t* sorted_numbers, std::uint32_t count, cudaStream_t on);

}  // namespace rulerank::knn
