#pragma once

#include "datasets/vectors.hpp"
#include "knn/dense/engine.hpp"
#include "knn/similarity.hpp"

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

// The kernels of `flat` on GPUs: their arguments and launches. flat_search_cuda.cu explains how
// they separate near rows from far ones, with a proof.
namespace rulerank::inline v0::knn {

/// Rows that a warp processes at once.
inline constexpr std::uint32_t slab_rows = 32;
/// Dimensions of one tensor product; the shadow is padded with zeros to a multiple.
inline constexpr std::uint32_t step_dimensions = 16;
/// Queries are padded to a multiple of this number.
inline constexpr std::uint32_t most_chunk_queries = 128;
/// With more dimensions, the bounds are useless.
inline constexpr std::uint32_t most_shadow_dimensions = 1U << 20;

/// The error of tensor products, relative to the product of the norms.
__host__ __device__ inline double tensor_error(std::uint32_t dimensions) {
  return 1.01 * (static_cast<double>(dimensions) + 16) * 0x1p-22 + 0x1p-20;
}

/// The norm and error of a row of the shadow.
struct row_mark {
  /// The norm of the row before rounding. A row of zeros under cosine has that of its moved row,
  /// with 1 added to the square. 0 for a row that the kernels cannot process.
  float norm;
  /// Upper bound of the distance between row and shadow; infinity for a row that the kernels cannot
  /// process.
  float error;
};

/// Rows of a part of the index on a device, and their shadow: the rows minus the centre (under
/// cosine, first divided by their norms), rounded to bfloat16, in the order of tensor products.
struct shadow_rows {
  std::byte const* values = nullptr;  ///< [rows][dimensions], of `type`
  uint4* fragments = nullptr;         ///< [slabs][steps][2][32]
  row_mark* marks = nullptr;          ///< [slabs * slab_rows]
  double* norms = nullptr;            ///< [rows] as defined; cosine only
  float const* centre = nullptr;      ///< [dimensions] the vector to subtract, or null
  double centre_norm = 0;             ///< upper bound of its norm
  std::uint32_t rows = 0;
  std::uint32_t dimensions = 0;
  datasets::element type = datasets::element::float32;
  similarity metric = similarity::l2;
  float scale = 1;  ///< factor on the bounds; not 1 only in a test that breaks them

  __host__ __device__ std::uint32_t slabs() const { return (rows + slab_rows - 1) / slab_rows; }
  __host__ __device__ std::uint32_t steps() const {
    return (dimensions + step_dimensions - 1) / step_dimensions;
  }
};

/// A candidate: a row that may be near a query. The score is the product of the shadowed query and
/// row, for l2 and cosine minus half the row's square; larger is nearer. For a crowded query, the
/// key replaces the bounds.
struct handed_row {
  std::uint32_t row;
  float least;  ///< lower bound of the score
  float most;   ///< upper bound of the score
};

/// The state of a query after a search.
enum class query_state : std::uint32_t {
  done,
  again,    ///< more candidates than there is space for; `limits` has a better limit
  crowded,  ///< more candidates within `limits` than a block computes and sorts
  exact,    ///< all rows must be computed
};

/// A batch of queries on a device.
struct flat_queries {
  float const* values = nullptr;                ///< [count][dimensions]
  float const* given = nullptr;                 ///< [count] known limits, or null
  std::uint32_t const* rows_filter = nullptr;   ///< [slabs] or null
  std::uint32_t const* query_filter = nullptr;  ///< [count][slabs] or null
  std::uint32_t count = 0;
  /// At most the number of rows; 0: all rows with a key of at most `farthest`.
  std::uint32_t k = 0;
  double farthest = 0;
  // Results of the kernels, [padded]:
  double* exact = nullptr;          ///< [count][dimensions] the same numbers
  uint4* fragments = nullptr;       ///< [padded / 16][steps][32]
  float* reach = nullptr;           ///< the norm, rounded up
  float* limit = nullptr;           ///< only rows with at least this score are needed
  float* slack = nullptr;           ///< the limit is this much below the k-th largest lower bound
  double* norm = nullptr;           ///< as defined; cosine only
  std::uint32_t* ratio = nullptr;   ///< [1] bits of the largest error relative to the norm
  std::uint32_t* handed = nullptr;  ///< number of candidates, including those without space
  handed_row* rows = nullptr;       ///< [count][capacity]
  std::uint32_t capacity = 0;

  __host__ __device__ std::uint32_t padded() const {
    return (count + most_chunk_queries - 1) / most_chunk_queries * most_chunk_queries;
  }
};

/// The results, on a device.
struct flat_results {
  double* keys = nullptr;         ///< [count][kept]
  std::uint32_t* rows = nullptr;  ///< [count][kept] numbers in the part, nearest first
  /// [count] number of results; number of candidates for queries to search again.
  std::uint32_t* found = nullptr;
  query_state* state = nullptr;       ///< [count]
  float* limits = nullptr;            ///< [count] for queries to search again and crowded queries
  std::uint32_t* computed = nullptr;  ///< [count] number of rows computed
  std::uint32_t kept = 0;
  /// A power of two: most candidates of a query that are computed and sorted.
  std::uint32_t sorted = 0;
};

/// How the rows are read: the kernel, and the number of blocks.
struct scan_plan {
  std::uint32_t queries = 16;  ///< per chunk: 16, 32, 64 or 128
  bool shared = true;          ///< a chunk is in shared memory
  std::uint32_t chunks = 1;
  std::uint32_t slices = 1;  ///< parts of the rows; a block reads one slice for one chunk
  std::uint32_t stride = 1;  ///< reads every `stride`-th slab
  std::uint32_t slabs = 0;   ///< number of slabs read
  std::uint32_t fold = 0;    ///< for a sample: 8 >> fold groups per warp

  std::uint32_t groups() const;
};

/// The limits of the current device. Making them lets the kernels use its shared memory.
struct scan_limits {
  std::uint32_t multiprocessors = 0;
  std::size_t shared_bytes = 0;
  bool clusters = false;  ///< blocks on different multiprocessors can share memory
};
scan_limits allow_scans();

/// Plans a scan of all slabs.
scan_plan plan_scan(scan_limits const& limits, shadow_rows const& rows, std::uint32_t queries);
/// Plans a sample of about one in `of` rows, for at least `groups` groups.
scan_plan plan_sample(scan_limits const& limits, shadow_rows const& rows, std::uint32_t queries,
                      std::uint32_t of, std::uint32_t groups);

/// Computes the shadow.
void make_shadow(shadow_rows const& rows, cudaStream_t on);
/// Prepares queries for the other kernels. Their limits are the given ones, the limit of the range
/// for a range search, or none.
void prepare(shadow_rows const& rows, flat_queries const& queries, flat_results const& to,
             cudaStream_t on);
/// Sets limits from a sample of the rows. `maxima`: [padded][groups of the plan].
void sample(shadow_rows const& rows, flat_queries const& queries, scan_plan const& plan,
            float* maxima, cudaStream_t on);
/// Keeps all rows that may be within the limits as candidates.
void scan(shadow_rows const& rows, flat_queries const& queries, scan_plan const& plan,
          cudaStream_t on);
/// Computes the candidates that may be among the nearest.
void finish(scan_limits const& limits, shadow_rows const& rows, flat_queries const& queries,
            flat_results const& to, cudaStream_t on);
/// Computes the candidates of all crowded queries, spread over the device, and marks the queries as
/// done. A range search has no crowded queries.
void finish_crowded(shadow_rows const& rows, flat_queries const& queries, flat_results const& to,
                    cudaStream_t on);

/// Computes the keys of one query and `count` rows from `first` on, without shared memory. keys[i]
/// belongs to row first + i, as an integer that ascends with the key, the largest integer for rows
/// that the filters exclude. numbers[i] = first + i. `within`: the number of keys of at most
/// `farthest`.
void compute_all(shadow_rows const& rows, flat_queries const& queries, std::uint32_t query,
                 std::uint32_t first, std::uint32_t count, double farthest, std::uint64_t* keys,
                 std::uint32_t* numbers, std::uint32_t* within, cudaStream_t on);
/// Returns the double of such an integer.
double key_of(std::uint64_t ascending);
/// Sorts keys and their rows stably. Returns the bytes of `space` that it needs if `space` is null.
std::size_t sort_keys(void* space, std::size_t bytes, std::uint64_t const* keys,
                      std::uint64_t* sorted_keys, std::uint32_t const* numbers,
                      std::uint32_t* sorted_numbers, std::uint32_t count, cudaStream_t on);

}  // namespace rulerank::knn
