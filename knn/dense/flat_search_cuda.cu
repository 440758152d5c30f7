#include "core/aligned.hpp"
#include "core/cuda_check.hpp"
#include "core/shared_memory.hpp"
#include "knn/block_sort.hpp"
#include "knn/candidate.hpp"
#include "knn/dense/error_bound.hpp"
#include "knn/dense/flat_search_cuda.cuh"
#include "knn/dense/typed_rows.cuh"
#include "knn/near_key.hpp"
#include "knn/selection.cuh"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include <cooperative_groups.h>

// How `flat` on GPUs separates near rows from far ones, and why the remaining rows include the
// nearest.
//
// Let x be a query and y a row before rounding: under l2 both moved, x = fl(q - c); under cosine
// both divided by their norms and then moved; under inner products only the row moved. Their
// shadows X and Y are x and y rounded to bfloat16. The score of a pair is s = x y under inner
// products, which omits x c (equal for all rows), and otherwise s = x y - |y|^2 / 2. D = |x - y|^2
// = |x|^2 - 2 s, and for vectors of norm 1 that are moved by the same c, D = 2 - 2 cosine. So a
// larger score is nearer under every metric. A row of zeros, whose cosine is 0, counts as one of
// norm 1 in an additional dimension in which all other vectors are 0: its |y|^2 is |c|^2 + 1. With
// e(y) = |y - Y|, which is measured and not estimated, e(x) = |x - X|, and P the sum that the
// tensor cores compute for X Y,
//
//   |P - x y| <= |x| e(y) + e(x) |Y| + g |X| |Y|,   |X| |Y| >= sum |X_i Y_i|.
//
// g is the error of the tensor cores. NVIDIA does not document how they add. M. Fasi, N. J. Higham,
// M. Mikaitis, S. Pranesh (PeerJ Computer Science 7, e330, 2021) and F. A. Khattak, M. Mikaitis
// (Accurate models of NVIDIA tensor cores, arXiv 2512.07004, with the H100) find: products of
// 16-bit floats are exact; 4, 8 or 16 of them and the current sum are aligned to the largest
// exponent, truncated below at least 24 bits of it, and the result is truncated to a float. We
// assume less: each of the at most n products and n / 4 current sums loses less than 2^-23 of the
// sum of all magnitudes, and so does each of the n / 4 results. That is 1.5 n 2^-23; g is (n + 16)
// 2^-22 plus 2^-20 for the few subsequent operations on P. Tests search with sums that lose the
// maximum.
//
// So with w(y) = e(y) + r (|y| + e(y)), r >= (e(x) + g |X|) / |x| for every query of the batch, a
// score differs from P - |y|^2 / 2 by at most |x| w(y). The row's half square is a float with an
// error of three roundings. The error of D grows by 4.2 u (|x|^2 + |y|^2) with the move
// (error_bound.hpp), by (n + 20) 2^-48 (|x|^2 + |y|^2) with the definition, and each float
// operation adds u. The row's share of all this is less than 2^-20 |y|^2 / 2 for up to 2^20
// dimensions, so `least` uses |y|^2 / 2 (1 + 2^-20) and `most` uses |y|^2 / 2 (1 - 2^-20). The
// query's share is its `slack`. Under cosine, |x| and
// |y| are at most 2, and the division by norms in double precision, the move and the definition
// lose less than (n + 20) 2^-48 of a score, for two rows (n + 20) 2^-47, which the slack covers;
// under inner products it covers this multiple of |x| |c|, which y does not contain. With L the
// k-th largest `least`, k rows have a score of at least L, so a row is among the k nearest only if
// most >= L - slack.
//
// The bounds also hold if subnormal numbers are flushed to zero: 2^-126 times the root of n is
// added to e. Rows of a norm above `largest_norm` have no shadow: no bound excludes them, and they
// lower no limit. Queries of such a norm, queries with a norm so small that r would be useless, and
// queries of zeros, for which all rows are equally near, are computed exactly with all rows.
namespace rulerank::inline v0::knn {

namespace {

constexpr std::uint32_t warps = 8;
constexpr std::uint32_t scan_threads = 32 * warps;
constexpr std::uint32_t finish_threads = 256;
/// At most this many blocks share a query, if rows have at least this many dimensions. Each block
/// then waits for fewer cache lines of rows, and fewer queries are crowded.
constexpr std::uint32_t most_together = 8;
constexpr std::uint32_t cluster_dimensions = 512;
/// Candidates of a crowded query per block.
constexpr std::uint32_t crowd_threads = 128;
constexpr std::uint32_t crowd_slice = 512;
/// At most this many rows of a crowded query are sorted without selecting the nearest first.
constexpr std::uint32_t crowd_sorted = 4096;
/// Replaces a row of a crowded query that cannot be among the nearest.
constexpr std::uint32_t no_row = ~0U;
/// Candidates are collected in shared memory until a warp writes them together: when there are this
/// many, and while there is space for a whole tile of 32 rows and 8 queries.
constexpr std::uint32_t list_full = 32;
constexpr std::uint32_t list_capacity = list_full + 256;
constexpr float row_slack = 0x1p-20F;
constexpr double smallest_norm = 0x1p-50;

/// The kernels of a batch start while the previous ones end. After this call, the results of the
/// previous kernels are visible.
__device__ inline void wait_for_kernel_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}
template <class... Parameters, class... Arguments>
void launch_clusters_behind(void (*kernel)(Parameters...), std::uint32_t cluster,
                            std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                            cudaStream_t on, Arguments const&... arguments) {
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = cluster;
  attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = on;
  config.attrs = attributes;
  config.numAttrs = cluster > 1 ? 2 : 1;
  check_cuda(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}
template <class... Parameters, class... Arguments>
void launch_behind(void (*kernel)(Parameters...), std::uint32_t blocks, std::uint32_t threads,
                   std::size_t shared_bytes, cudaStream_t on, Arguments const&... arguments) {
  launch_clusters_behind(kernel, 1, blocks, threads, shared_bytes, on, arguments...);
}

/// The blocks that share a query: a single block.
template <bool clustered>
class query_blocks {
 public:
  __device__ std::uint32_t count() const { return 1; }
  __device__ std::uint32_t rank() const { return 0; }
  /// Returns the address in the shared memory of the first block.
  template <class T>
  __device__ T* of_first(T* shared) const {
    return shared;
  }
  __device__ void wait() const { __syncthreads(); }
};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/// The blocks of a cluster.
template <>
class query_blocks<true> {
 public:
  __device__ std::uint32_t count() const { return cooperative_groups::this_cluster().num_blocks(); }
  __device__ std::uint32_t rank() const { return cooperative_groups::this_cluster().block_rank(); }
  template <class T>
  __device__ T* of_first(T* shared) const {
    return cooperative_groups::this_cluster().map_shared_rank(shared, 0U);
  }
  __device__ void wait() const { cooperative_groups::this_cluster().sync(); }
};
#endif

__device__ double sum_of_warp(double value) {
  for (int apart = 16; apart > 0; apart /= 2)
    value = __dadd_rn(value, __shfl_xor_sync(~0U, value, apart));
  return value;
}

__device__ unsigned bits_of(__nv_bfloat16 value) {
  return __bfloat16_as_ushort(value);
}

/// Computes the shadow of a vector with a warp. values(i) returns the original values; store(i,
/// bits) stores two dimensions from i on. Returns the norm before rounding, and the rounding error.
struct shadow_size {
  double norm;
  double error;
  double shadow_norm;
  bool zero;  // all values are 0 before they are moved; only under cosine
};
template <class Values, class Store>
__device__ shadow_size shadow_vector(std::uint32_t dimensions, std::uint32_t steps,
                                     similarity metric, float const* centre, bool& beyond,
                                     Values const& values, Store const& store) {
  std::uint32_t const lane = threadIdx.x % 32;
  bool const cosine = metric == similarity::cosine;
  double scale = 1;
  // Returns a value before rounding.
  auto const shadowed = [&](std::uint32_t i) {
    float const value = values(i);
    float const away = centre == nullptr ? 0 : centre[i];
    if (metric == similarity::l2) return static_cast<double>(__fsub_rn(value, away));
    return __dsub_rn(__dmul_rn(static_cast<double>(value), scale), static_cast<double>(away));
  };
  double squares = 0;
  for (std::uint32_t i = lane; i < dimensions; i += 32) {
    double const value = cosine ? static_cast<double>(values(i)) : shadowed(i);
    squares += value * value;
  }
  double norm = sqrt(sum_of_warp(squares));
  bool const zero = cosine && norm == 0;
  if (cosine) scale = zero ? 0 : 1 / norm;
  beyond = !cosine && norm > largest_norm;
  double moved_squares = 0;
  double errors = 0;
  double shadow_squares = 0;
  for (std::uint32_t i = 2 * lane; i < steps * step_dimensions; i += 64) {
    unsigned bits[2];
    for (std::uint32_t j = 0; j < 2; ++j) {
      double const value = beyond || i + j >= dimensions ? 0.0 : shadowed(i + j);
      moved_squares += value * value;
      __nv_bfloat16 const rounded = __float2bfloat16_rn(static_cast<float>(value));
      double const held = static_cast<double>(__bfloat162float(rounded));
      errors += (value - held) * (value - held);
      shadow_squares += held * held;
      bits[j] = bits_of(rounded);
    }
    store(i, bits[0] | bits[1] << 16);
  }
  if (cosine) norm = sqrt(sum_of_warp(moved_squares) + (zero ? 1 : 0));
  double const flushed = sqrt(static_cast<double>(dimensions)) * 0x1p-126;
  return {norm, sqrt(sum_of_warp(errors)) * (1 + 1e-9) + flushed,
          sqrt(sum_of_warp(shadow_squares)) * (1 + 1e-9), zero};
}

/// Blocks process slabs, warps their rows.
template <class T>
__global__ void __launch_bounds__(256, 2) shadow_slabs(shadow_rows const rows) {
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const steps = rows.steps();
  for (std::uint32_t slab = blockIdx.x; slab < rows.slabs(); slab += gridDim.x) {
    auto* const words =
        reinterpret_cast<std::uint32_t*>(rows.fragments + std::size_t{slab} * steps * 64);
    for (std::uint32_t r = threadIdx.x / 32; r < slab_rows; r += 8) {
      std::size_t const row = std::size_t{slab} * slab_rows + r;
      bool const real = row < rows.rows;
      T const* const values =
          reinterpret_cast<T const*>(rows.values) + (real ? row : 0) * rows.dimensions;
      bool beyond = false;
      shadow_size const size = shadow_vector(
          real ? rows.dimensions : 0, steps, rows.metric, rows.centre, beyond,
          [&](std::uint32_t i) { return float_of(values[i]); },
          [&](std::uint32_t i, unsigned pair) {
            // The place in operand A of mma.m16n8k16: for each 16 rows and dimensions, lane (row %
            // 8) * 4 + (dimension % 8) / 2, and among its four words, word row / 8 + 2 (dimension /
            // 8).
            std::uint32_t const step = i / 16;
            std::uint32_t const to = (r % 8) * 4 + (i % 8) / 2;
            std::uint32_t const word = r % 16 / 8 + 2 * (i % 16 / 8);
            words[((step * 2 + r / 16) * 32 + to) * 4 + word] = pair;
          });
      if (lane == 0)
        rows.marks[row] =
            beyond ? row_mark{0, INFINITY}
                   : row_mark{static_cast<float>(size.norm), __double2float_ru(size.error)};
    }
  }
}
template <class T>
__global__ void row_norms(shadow_rows const rows) {
  std::size_t const row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows.rows) return;
  rows.norms[row] = defined_norm_of(reinterpret_cast<T const*>(rows.values) + row * rows.dimensions,
                                    rows.dimensions);
}

/// Returns a query's share of the errors of scores: v, the definition's share, and the 4.2 u of the
/// move. For inner products, the error of the products includes everything except the share of the
/// centre.
__device__ double slack_of(shadow_rows const& rows, double norm) {
  double const n = rows.dimensions;
  double const slack = (n + 8) * 0x1p-120;
  double const defined = (n + 20) * 0x1p-47;
  if (rows.metric == similarity::l2) return slack + (defined + 4.3 * 0x1p-24) * norm * norm;
  return slack + defined * (rows.metric == similarity::cosine ? 1.0 : norm * rows.centre_norm);
}

/// Returns the score of rows with the key `farthest`. `of_centre`: the product of the query and the
/// centre.
__device__ double score_of_key(similarity metric, double norm, double of_centre, double farthest) {
  if (metric == similarity::l2) return (norm * norm - farthest) / 2;
  return metric == similarity::cosine ? norm * norm / 2 - 1 - farthest : -farthest - of_centre;
}

/// One query per warp.
__global__ void __launch_bounds__(128, 4)
    prepare_queries(shadow_rows const rows, flat_queries const of, flat_results const to) {
  wait_for_kernel_before();
  std::uint32_t const q = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  std::uint32_t const lane = threadIdx.x % 32;
  if (q >= of.padded()) return;
  bool const real = q < of.count;
  std::uint32_t const steps = rows.steps();
  float const* const values = of.values + std::size_t{real ? q : 0} * rows.dimensions;
  auto* const words =
      reinterpret_cast<std::uint32_t*>(of.fragments + std::size_t{q / 16} * steps * 32);
  bool beyond = false;
  bool const moves = rows.metric != similarity::inner_product;
  shadow_size const size = shadow_vector(
      real ? rows.dimensions : 0, steps, rows.metric, moves ? rows.centre : nullptr, beyond,
      [&](std::uint32_t i) { return values[i]; },
      [&](std::uint32_t i, unsigned pair) {
        // Operand B for two adjacent tiles of 8 queries: lane query * 4 + (dimension % 8) / 2.
        std::uint32_t const to_lane = (q % 8) * 4 + (i % 8) / 2;
        words[((i / 16) * 32 + to_lane) * 4 + q % 16 / 8 * 2 + i % 16 / 8] = pair;
      });
  double of_centre = 0;
  if (real)
    for (std::uint32_t i = lane; i < rows.dimensions; i += 32) {
      auto const value = static_cast<double>(values[i]);
      of.exact[std::size_t{q} * rows.dimensions + i] = value;
      if (rows.centre != nullptr) of_centre += value * static_cast<double>(rows.centre[i]);
    }
  of_centre = sum_of_warp(of_centre);
  if (lane != 0) return;
  of.handed[q] = 0;
  of.limit[q] = INFINITY;
  of.reach[q] = 0;
  of.slack[q] = 0;
  if (!real) return;
  bool const useless = size.zero || (size.norm == 0 ? !moves : size.norm < smallest_norm);
  to.found[q] = 0;
  to.computed[q] = 0;
  to.limits[q] = -FLT_MAX;
  if (rows.metric == similarity::cosine) of.norm[q] = defined_norm_of(values, rows.dimensions);
  if (beyond || useless || rows.dimensions > most_shadow_dimensions) {
    to.state[q] = query_state::exact;
    return;
  }
  to.state[q] = query_state::done;
  double const reach = fmax(size.norm, smallest_norm) * (1 + 1e-9);
  of.reach[q] = __double2float_ru(reach);
  double const ratio =
      (size.error + tensor_error(rows.dimensions) * size.shadow_norm) / reach * (1 + 1e-9);
  atomicMax(of.ratio, __float_as_uint(__double2float_ru(ratio)));
  double const slack = slack_of(rows, size.norm);
  of.slack[q] = __double2float_ru(slack);
  double limit = -FLT_MAX;
  if (of.k == 0) limit = score_of_key(rows.metric, size.norm, of_centre, of.farthest) - slack;
  if (of.given != nullptr) limit = static_cast<double>(of.given[q]);
  of.limit[q] = fmaxf(__double2float_rd(limit), -FLT_MAX);
}

__device__ inline uint4 stream_load(uint4 const* from) {
  uint4 value;
  asm("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(from));
  return value;
}
__device__ inline void multiply_add(float (&sum)[4], uint4 const& rows, unsigned low,
                                    unsigned high) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(rows.x), "r"(rows.y), "r"(rows.z), "r"(rows.w), "r"(low), "r"(high));
}

/// The row's terms in the bounds of scores.
struct row_terms {
  float half_square;
  float width;  // of the bounds, relative to the query's norm
};
__device__ inline float ratio_of(flat_queries const& of) {
  return fmaxf(__uint_as_float(*of.ratio), 0x1p-60F);
}
__device__ inline row_terms terms_of(shadow_rows const& rows, row_mark const& mark, float ratio) {
  float const width =
      __fmul_ru(__fmul_ru(__fadd_ru(mark.error, __fmul_ru(ratio, __fadd_ru(mark.norm, mark.error))),
                          1 + row_slack),
                rows.scale);
  float const half = rows.metric == similarity::inner_product ? 0.0F : 0.5F * mark.norm * mark.norm;
  return {half, width};
}
/// Candidates of a warp that are not written yet.
struct waiting_rows {
  std::uint32_t count;
  handed_row row[list_capacity];
  std::uint8_t query[list_capacity];  // index in the chunk
};

/// All lanes of a warp must call it.
__device__ inline void hand_on(flat_queries const& of, waiting_rows& waiting, std::uint32_t slabs,
                               std::uint32_t first_query, std::uint32_t lane) {
  for (std::uint32_t e = lane; e < waiting.count; e += 32) {
    std::uint32_t const query = first_query + waiting.query[e];
    handed_row const row = waiting.row[e];
    if (of.query_filter != nullptr &&
        (of.query_filter[std::size_t{query} * slabs + row.row / 32] >> (row.row % 32) & 1) == 0)
      continue;
    std::uint32_t const at = atomicAdd(of.handed + query, 1U);
    if (at < of.capacity) of.rows[std::size_t{query} * of.capacity + at] = row;
  }
  __syncwarp();
  if (lane == 0) waiting.count = 0;
  __syncwarp();
}

/// Streams rows through the registers of a warp, in slabs of 32, and compares them with all queries
/// of a chunk in shared memory. `tiles`: of 8 queries; `ahead`: steps that are loaded before they
/// are needed. A sample keeps the largest `least` for groups of rows; a group has the rows at one
/// position in the slabs of a warp. Otherwise the rows within the limits become candidates.
///
/// Long because the sums of a slab stay in registers from the products to the comparison.
template <int tiles, int ahead, bool is_sample, bool shared>
__global__ void __launch_bounds__(scan_threads, tiles >= 8 ? 1 : 2)
    scan_rows(shadow_rows const rows, flat_queries const of, scan_plan const plan, float* maxima) {
  extern __shared__ uint4 memory[];
  constexpr std::uint32_t pairs = tiles / 2;
  std::uint32_t const steps = rows.steps();
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const warp = threadIdx.x / 32;
  std::uint32_t const chunk = blockIdx.x % plan.chunks;
  std::uint32_t const first_query = chunk * tiles * 8;
  uint4 const* const from = of.fragments + std::size_t{chunk} * pairs * steps * 32;
  std::uint32_t const units = plan.slices * warps;
  std::uint32_t const unit = blockIdx.x / plan.chunks * warps + warp;
  auto const fragments_of = [&](std::uint32_t i) {
    return rows.fragments + std::size_t{i} * plan.stride * steps * 64 + lane;
  };
  uint4 ring[ahead][2];
#pragma unroll
  for (int u = 0; u < ahead; ++u)
    if (unit < plan.slabs && u < steps)
      for (int b = 0; b < 2; ++b) ring[u][b] = stream_load(fragments_of(unit) + (u * 2 + b) * 32);
  wait_for_kernel_before();
  // For each pair of tiles, [steps][32] in memory and [steps][pairs][32] here.
  if (shared)
    for (std::uint32_t i = threadIdx.x; i < pairs * steps * 32; i += scan_threads)
      memory[(i / 32 % steps * pairs + i / 32 / steps) * 32 + i % 32] = from[i];
  auto* const lines = reinterpret_cast<float2*>(memory + (shared ? pairs * steps * 32 : 0));
  if (threadIdx.x < tiles * 8)
    lines[threadIdx.x] = {of.reach[first_query + threadIdx.x], of.limit[first_query + threadIdx.x]};
  auto& waiting = reinterpret_cast<waiting_rows*>(lines + tiles * 8)[warp];
  if (lane == 0) waiting.count = 0;
  __syncthreads();
  float const ratio = ratio_of(of);

  float best[is_sample ? tiles : 1][2];
  if (is_sample)
    for (auto& two : best) two[0] = two[1] = -INFINITY;

  for (std::uint32_t i = unit; i < plan.slabs; i += units) {
    std::uint32_t const slab = i * plan.stride;
    std::uint32_t const first_row = slab * slab_rows;
    uint4 const* const here = fragments_of(i);
    uint4 const* const next = fragments_of(i + units);
    bool const has_next = i + units < plan.slabs;
    row_mark marks[4];
    for (int j = 0; j < 4; ++j) marks[j] = rows.marks[first_row + lane / 4 + 8 * j];
    std::uint32_t may = of.rows_filter == nullptr ? ~0U : of.rows_filter[slab];
    if (rows.rows - first_row < slab_rows) may &= (1U << (rows.rows - first_row)) - 1;
    float sums[2][tiles][4];
    for (auto& block : sums)
      for (auto& tile : block)
        for (float& sum : tile) sum = 0;
    for (std::uint32_t k = 0; k < steps; k += ahead) {
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        if (k + u < steps) {
#pragma unroll
          for (std::uint32_t p = 0; p < pairs; ++p) {
            uint4 const side = shared ? memory[((k + u) * pairs + p) * 32 + lane]
                                      : __ldg(from + (p * steps + k + u) * 32 + lane);
#pragma unroll
            for (int b = 0; b < 2; ++b) {
              multiply_add(sums[b][2 * p], ring[u][b], side.x, side.y);
              multiply_add(sums[b][2 * p + 1], ring[u][b], side.z, side.w);
            }
          }
        }
        // Places after the last step stay empty, so that each slab begins at the first place.
        std::uint32_t const then = k + u + ahead;
        if (then < steps) {
          for (int b = 0; b < 2; ++b) ring[u][b] = stream_load(here + (then * 2 + b) * 32);
        } else if (k + ahead >= steps && has_next && u < steps) {
          for (int b = 0; b < 2; ++b) ring[u][b] = stream_load(next + (u * 2 + b) * 32);
        }
      }
    }
    row_terms terms[4];
    for (int j = 0; j < 4; ++j) {
      terms[j] = terms_of(rows, marks[j], ratio);
      bool const in = (may >> (lane / 4 + 8 * j) & 1) != 0;
      if (is_sample) {
        terms[j].half_square *= 1 + row_slack;
        if (!in) terms[j].width = INFINITY;
      } else {
        terms[j].half_square *= 1 - row_slack;
        if (!in) terms[j].width = -INFINITY;
      }
    }
    // The reach and limit of this lane's two queries of a tile.
    auto const line_of = [&](int t) {
      return *reinterpret_cast<float4 const*>(lines + t * 8 + lane % 4 * 2);
    };
    if constexpr (is_sample) {
#pragma unroll
      for (int t = 0; t < tiles; ++t) {
        float4 const line = line_of(t);
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          float const score = sums[e / 4][t][e % 4] - terms[e / 2].half_square;
          float least = __fmaf_rn(e % 2 == 0 ? -line.x : -line.z, terms[e / 2].width, score);
          std::uint32_t const q = first_query + t * 8 + lane % 4 * 2 + e % 2;
          if (of.query_filter != nullptr && q < of.count &&
              (of.query_filter[std::size_t{q} * rows.slabs() + slab] >> (lane / 4 + 8 * (e / 2)) &
               1) == 0)
            least = -INFINITY;
          best[t][e % 2] = fmaxf(best[t][e % 2], least);
        }
      }
    } else {
      // Determines which tiles may have a row within the limit, from the largest score of a lane's
      // four rows and the widest of their bounds.
      float const width =
          fmaxf(fmaxf(terms[0].width, terms[1].width), fmaxf(terms[2].width, terms[3].width));
      unsigned hits = 0;
#pragma unroll
      for (int t = 0; t < tiles; ++t) {
        float4 const line = line_of(t);
        float most[2];
#pragma unroll
        for (int c = 0; c < 2; ++c)
          most[c] = fmaxf(
              fmaxf(sums[0][t][c] - terms[0].half_square, sums[0][t][2 + c] - terms[1].half_square),
              fmaxf(sums[1][t][c] - terms[2].half_square,
                    sums[1][t][2 + c] - terms[3].half_square));
        bool const near = static_cast<bool>((__fmaf_rn(line.x, width, most[0]) >= line.y) |
                                            (__fmaf_rn(line.z, width, most[1]) >= line.w));
        if (near) hits |= 1U << t;
      }
      for (hits = __reduce_or_sync(~0U, hits); hits != 0; hits &= hits - 1) {
        int const t = __ffs(static_cast<int>(hits)) - 1;
        float products[8];
#pragma unroll
        for (int other = 0; other < tiles; ++other)
          if (other == t) {
#pragma unroll
            for (int e = 0; e < 8; ++e) products[e] = sums[e / 4][other][e % 4];
          }
        float4 const line = line_of(t);
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          float const reach = e % 2 == 0 ? line.x : line.z;
          float const score = products[e] - terms[e / 2].half_square;
          float const most = __fmaf_rn(reach, terms[e / 2].width, score);
          if (!(most >= (e % 2 == 0 ? line.y : line.w))) continue;
          // The half square in `score` is 1 - row_slack times its value.
          float const least = __fmaf_rn(-reach, terms[e / 2].width, score) -
                              terms[e / 2].half_square * (2.5F * row_slack);
          std::uint32_t const at = atomicAdd(&waiting.count, 1U);
          waiting.row[at] = {first_row + lane / 4 + 8 * (e / 2), least, most};
          waiting.query[at] = static_cast<std::uint8_t>(t * 8 + lane % 4 * 2 + e % 2);
        }
        __syncwarp();
        if (waiting.count > list_full) hand_on(of, waiting, rows.slabs(), first_query, lane);
      }
    }
  }
  if constexpr (!is_sample) hand_on(of, waiting, rows.slabs(), first_query, lane);
  if constexpr (is_sample) {
    std::uint32_t const kept = 8U >> plan.fold;  // of a query, out of 8
    for (int t = 0; t < tiles; ++t)
      for (int c = 0; c < 2; ++c) {
        float value = best[t][c];
        for (std::uint32_t apart = 4; apart > kept / 2; apart /= 2)
          value = fmaxf(value, __shfl_xor_sync(~0U, value, static_cast<int>(apart * 4)));
        std::uint32_t const q = first_query + t * 8 + lane % 4 * 2 + c;
        if (lane / 4 < kept)
          maxima[std::size_t{q} * (units * kept) + unit * kept + lane / 4] = value;
      }
  }
}

/// Selects the k-th largest key with a block of `finish_threads`, rounded down by at most 2^-22 of
/// the range of the keys: exactly, if keys have 22 bits. each(work) calls work(key) for this
/// thread's share; there are at least k keys.
class kth_key {
 public:
  template <class Each>
  __device__ std::uint32_t operator()(std::uint32_t k, Each const& each) {
    std::uint32_t least = ~0U;
    std::uint32_t largest = 0;
    each([&](std::uint32_t key) {
      least = min(least, key);
      largest = max(largest, key);
    });
    least = __reduce_min_sync(~0U, least);
    largest = __reduce_max_sync(~0U, largest);
    if (threadIdx.x % 32 == 0) {
      of_warp_[0][threadIdx.x / 32] = least;
      of_warp_[1][threadIdx.x / 32] = largest;
    }
    __syncthreads();
    for (std::uint32_t w = 0; w < finish_threads / 32; ++w) {
      least = min(least, of_warp_[0][w]);
      largest = max(largest, of_warp_[1][w]);
    }
    int const digits = 32 - __clz(static_cast<int>(largest - least));
    auto const shift = static_cast<std::uint32_t>(max(0, digits - 11));
    pick(k, [&](auto const& count) {
      each([&](std::uint32_t key) { count((key - least) >> shift); });
    });
    std::uint32_t const bin = bin_;
    if (shift == 0) return least + bin;
    std::uint32_t const finer = shift > 11 ? shift - 11 : 0;
    pick(left_, [&](auto const& count) {
      each([&](std::uint32_t key) {
        if ((key - least) >> shift == bin) count(((key - least) & ((1U << shift) - 1)) >> finer);
      });
    });
    return least + (bin << shift) + (bin_ << finer);
  }
  /// For the last call: the key's rank among the keys that were rounded to it.
  __device__ std::uint32_t place() const { return left_; }

 private:
  static constexpr std::uint32_t bins = 2048;
  static constexpr std::uint32_t bins_a_thread = bins / finish_threads;

  /// Sets bin_ to the bin of the k-th largest key, and left_ to its rank in the bin.
  template <class Each>
  __device__ void pick(std::uint32_t k, Each const& each) {
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < bins; i += finish_threads) histogram_[i] = 0;
    __syncthreads();
    each([&](std::uint32_t bin) { atomicAdd(histogram_ + bin, 1U); });
    __syncthreads();
    // The bins of this thread, in descending order.
    std::uint32_t const lane = threadIdx.x % 32;
    std::uint32_t const top = bins - 1 - threadIdx.x * bins_a_thread;
    std::uint32_t mine = 0;
    for (std::uint32_t i = 0; i < bins_a_thread; ++i) mine += histogram_[top - i];
    std::uint32_t above = mine;
    for (std::uint32_t apart = 1; apart < 32; apart *= 2) {
      std::uint32_t const before = __shfl_up_sync(~0U, above, apart);
      if (lane >= apart) above += before;
    }
    if (lane == 31) of_warp_[0][threadIdx.x / 32] = above;
    __syncthreads();
    above -= mine;
    for (std::uint32_t w = 0; w < threadIdx.x / 32; ++w) above += of_warp_[0][w];
    if (above < k && above + mine >= k) {
      std::uint32_t bin = top;
      while (above + histogram_[bin] < k) above += histogram_[bin--];
      bin_ = bin;
      left_ = k - above;
    }
    __syncthreads();
  }

  std::uint32_t histogram_[bins];
  std::uint32_t of_warp_[2][finish_threads / 32];
  std::uint32_t bin_;
  std::uint32_t left_;
};

__device__ float limit_below(float least, float slack) {
  return fmaxf(__fsub_rd(least, slack), -FLT_MAX);
}

/// One query per block.
__global__ void __launch_bounds__(finish_threads, 2)
    draw_limits(flat_queries const of, std::uint32_t groups, float const* maxima) {
  __shared__ kth_key kth;
  wait_for_kernel_before();
  std::uint32_t const q = blockIdx.x;
  float const* const mine = maxima + std::size_t{q} * groups;
  std::uint32_t const key = kth(of.k, [&](auto const& work) {
    for (std::uint32_t i = threadIdx.x; i < groups; i += finish_threads)
      work(ascending_bits(mine[i]));
  });
  // Queries that are computed exactly keep their infinite limit.
  if (threadIdx.x == 0 && of.limit[q] < INFINITY)
    of.limit[q] = limit_below(float_of_ascending(key), of.slack[q]);
}

/// Returns the defined key of a row.
template <class T>
__device__ double defined_key(shadow_rows const& rows, flat_queries const& of, std::uint32_t q,
                              std::uint32_t row) {
  bool const cosine = rows.metric == similarity::cosine;
  double const sum = defined_sum(
      reinterpret_cast<T const*>(rows.values) + std::size_t{row} * rows.dimensions,
      of.exact + std::size_t{q} * rows.dimensions, rows.dimensions, rows.metric == similarity::l2);
  return order_key(rows.metric, sum, cosine ? of.norm[q] : 1, cosine ? rows.norms[row] : 1);
}

/// Requests all cache lines of n rows before the first is needed. row_of(i): the i-th row.
template <class T, std::uint32_t threads, class RowOf>
__device__ void prefetch_rows(shadow_rows const& rows, std::uint32_t n, RowOf const& row_of) {
  std::size_t const row_bytes = rows.dimensions * sizeof(T);
  std::uint32_t const lines = static_cast<std::uint32_t>(row_bytes / 128) + 1;
  for (std::uint32_t i = threadIdx.x; i < n * lines; i += threads) {
    std::size_t const at = min(std::size_t{i % lines} * 128, row_bytes - 1);
    asm volatile(
        "prefetch.global.L2 [%0];" ::"l"(rows.values + row_of(i / lines) * row_bytes + at));
  }
}

/// Selects the candidates of a query that are not excluded by the k-th best of them: their numbers
/// in `items`, and their count in `kept`, or 0 if this block does not compute them. Both are in
/// shared memory; all threads of the block call it.
__device__ void select_rows(flat_queries const& of, flat_results const& to, std::uint32_t q,
                            kth_key& kth, dense_candidate* items, std::uint32_t& kept) {
  if (threadIdx.x == 0) kept = 0;
  if (to.state[q] != query_state::done) return;
  std::uint32_t const handed = of.handed[q];
  std::uint32_t const count = min(handed, of.capacity);
  handed_row const* const mine = of.rows + std::size_t{q} * of.capacity;
  float limit = of.limit[q];
  if (of.k > 0 && count >= of.k) {
    // The first keys are stored in the memory of `items`, which is unused until then.
    auto* const kept_keys = reinterpret_cast<std::uint32_t*>(items);
    std::uint32_t const cached = min(count, to.sorted * 4);
    for (std::uint32_t i = threadIdx.x; i < cached; i += finish_threads)
      kept_keys[i] = ascending_bits(mine[i].least);
    std::uint32_t const key = kth(of.k, [&](auto const& work) {
      for (std::uint32_t i = threadIdx.x; i < cached; i += finish_threads) work(kept_keys[i]);
      for (std::uint32_t i = cached + threadIdx.x; i < count; i += finish_threads)
        work(ascending_bits(mine[i].least));
    });
    limit = fmaxf(limit, limit_below(float_of_ascending(key), of.slack[q]));
  }
  if (handed > of.capacity) {
    if (threadIdx.x == 0) {
      to.limits[q] = limit;
      to.found[q] = handed;
      to.state[q] = of.k > 0 ? query_state::again : query_state::exact;
    }
    return;
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < count; i += finish_threads) {
    if (!(mine[i].most >= limit)) continue;
    std::uint32_t const at = atomicAdd(&kept, 1U);
    if (at < to.sorted) items[at].id = mine[i].row;
  }
  __syncthreads();
  bool const fit = kept <= to.sorted;
  __syncthreads();
  if (fit || threadIdx.x > 0) return;
  kept = 0;
  to.limits[q] = limit;
  to.state[q] = of.k > 0 ? query_state::crowded : query_state::exact;
}

/// Writes the `found` nearest of the first n items, with a block; `size`: n rounded up to a power
/// of two.
__device__ void put_nearest(flat_results const& to, std::uint32_t q, dense_candidate* items,
                            std::uint32_t n, std::uint32_t size, std::uint32_t found) {
  auto const put = [&](std::uint32_t rank, dense_candidate const& item) {
    to.keys[std::size_t{q} * to.kept + rank] = item.value;
    to.rows[std::size_t{q} * to.kept + rank] = item.id;
  };
  if (n <= finish_threads) {
    // The rank of an item is the number of items before it.
    if (threadIdx.x < n) {
      dense_candidate const mine = items[threadIdx.x];
      std::uint32_t rank = 0;
      for (std::uint32_t i = 0; i < n; ++i) rank += nearer_row()(items[i], mine) ? 1 : 0;
      if (rank < found) put(rank, mine);
    }
  } else {
    sort_bitonic(items, size, nearer_row(), block_threads<finish_threads>());
    for (std::uint32_t i = threadIdx.x; i < found; i += finish_threads) put(i, items[i]);
  }
  if (threadIdx.x == 0) to.found[q] = found;
}

/// One query per block or per cluster: computes the keys of the remaining rows, and sorts them. The
/// first block of a cluster does everything except the sums.
template <class T, bool clustered>
__global__ void __launch_bounds__(finish_threads, 2)
    finish_queries(shadow_rows const rows, flat_queries const of, flat_results const to) {
  extern __shared__ dense_candidate items[];
  __shared__ kth_key kth;
  __shared__ std::uint32_t kept;
  wait_for_kernel_before();
  query_blocks<clustered> const blocks;
  std::uint32_t const together = blocks.count();
  std::uint32_t const rank = blocks.rank();
  std::uint32_t const q = blockIdx.x / together;
  if (rank == 0) select_rows(of, to, q, kth, items, kept);
  blocks.wait();
  std::uint32_t const n = *blocks.of_first(&kept);
  dense_candidate* const all = blocks.of_first(items);
  std::uint32_t const mine = (n + together - 1 - rank) / together;
  prefetch_rows<T, finish_threads>(rows, mine,
                                   [&](std::uint32_t i) { return all[i * together + rank].id; });
  for (std::uint32_t i = threadIdx.x; i < mine; i += finish_threads) {
    dense_candidate& item = all[i * together + rank];
    item.value = defined_key<T>(rows, of, q, item.id);
  }
  blocks.wait();
  if (rank > 0 || n == 0) return;
  std::uint32_t size = 2;
  while (size < n) size *= 2;
  if (threadIdx.x == 0) kept = 0;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < size; i += finish_threads) {
    if (i < n && (of.k > 0 || items[i].value <= of.farthest))
      atomicAdd(&kept, 1U);
    else
      items[i] = {INFINITY, ~0U};
  }
  __syncthreads();
  put_nearest(to, q, items, n, size, of.k > 0 ? min(kept, of.k) : kept);
  if (threadIdx.x == 0) to.computed[q] = n;
}

/// Returns bits that ascend as the doubles do; -0 becomes 0.
__device__ std::uint64_t ascending_key(double key) {
  auto const bits = static_cast<std::uint64_t>(__double_as_longlong(key + 0.0));
  return (bits >> 63) != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}

/// Larger is nearer, distinct for distinct rows: 64 bits of the key, 32 of the row.
__extension__ typedef unsigned __int128 near_order;
constexpr std::uint32_t order_bits = 96;
__device__ near_order order_of(double key, std::uint32_t row) {
  return near_order{~ascending_key(key)} << 32 | static_cast<std::uint32_t>(~row);
}

/// Replaces the bounds by the key.
__device__ void put_key(handed_row& row, double key) {
  row.least = __int_as_float(__double2loint(key));
  row.most = __int_as_float(__double2hiint(key));
}
__device__ double key_of_row(handed_row const& row) {
  return __hiloint2double(__float_as_int(row.most), __float_as_int(row.least));
}

/// One slice of a query's candidates per block.
template <class T>
__global__ void __launch_bounds__(crowd_threads, 4)
    compute_crowded(shadow_rows const rows, flat_queries const of, flat_results const to,
                    std::uint32_t slices) {
  __shared__ std::uint32_t near[crowd_slice];
  __shared__ std::uint32_t count;
  wait_for_kernel_before();
  std::uint32_t const q = blockIdx.x / slices;
  if (to.state[q] != query_state::crowded) return;
  std::uint32_t const first = blockIdx.x % slices * crowd_slice;
  std::uint32_t const end = min(of.handed[q], first + crowd_slice);
  if (first >= end) return;
  handed_row* const mine = of.rows + std::size_t{q} * of.capacity;
  float const limit = to.limits[q];
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for (std::uint32_t i = first + threadIdx.x; i < end; i += crowd_threads) {
    if (mine[i].most >= limit)
      near[atomicAdd(&count, 1U)] = i;
    else
      mine[i].row = no_row;
  }
  __syncthreads();
  prefetch_rows<T, crowd_threads>(rows, count, [&](std::uint32_t i) { return mine[near[i]].row; });
  for (std::uint32_t i = threadIdx.x; i < count; i += crowd_threads) {
    handed_row& row = mine[near[i]];
    put_key(row, defined_key<T>(rows, of, q, row.row));
  }
  if (threadIdx.x == 0) atomicAdd(to.computed + q, count);
}

/// One query per block: sorts its rows with keys if they fit `size` items. Otherwise reads the bits
/// of their order from the highest, until the rows that these bits cannot exclude from the k
/// nearest fit; all bits leave k rows.
__global__ void __launch_bounds__(finish_threads)
    order_crowded(flat_queries const of, flat_results const to, std::uint32_t size) {
  extern __shared__ dense_candidate items[];
  __shared__ kth_key kth;
  __shared__ std::uint32_t kept;
  wait_for_kernel_before();
  std::uint32_t const q = blockIdx.x;
  if (to.state[q] != query_state::crowded) return;
  auto const each = [&](auto const& work) {
    handed_row const* const mine = of.rows + std::size_t{q} * of.capacity;
    for (std::uint32_t i = threadIdx.x; i < of.handed[q]; i += finish_threads)
      if (mine[i].row != no_row) work(key_of_row(mine[i]), mine[i].row);
  };
  near_order floor = 0;
  std::uint32_t shift = order_bits;
  std::uint32_t place = of.k;
  std::uint32_t n = 0;
  for (;;) {
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    each([&](double key, std::uint32_t row) {
      if (order_of(key, row) >> shift < floor) return;
      std::uint32_t const at = atomicAdd(&kept, 1U);
      if (at < size) items[at] = {key, row};
    });
    __syncthreads();
    n = kept;
    if (n <= size) break;
    std::uint32_t const bits = min(22U, shift);
    shift -= bits;
    std::uint32_t const part = kth(place, [&](auto const& work) {
      each([&](double key, std::uint32_t row) {
        near_order const order = order_of(key, row) >> shift;
        if (order >> bits == floor) work(static_cast<std::uint32_t>(order) & ((1U << bits) - 1));
      });
    });
    place = kth.place();
    floor = floor << bits | part;
  }
  std::uint32_t padded = 2;
  while (padded < n) padded *= 2;
  for (std::uint32_t i = n + threadIdx.x; i < padded; i += finish_threads)
    items[i] = {INFINITY, ~0U};
  __syncthreads();
  sort_bitonic(items, padded, nearer_row(), block_threads<finish_threads>());
  for (std::uint32_t i = threadIdx.x; i < of.k; i += finish_threads) {
    to.keys[std::size_t{q} * to.kept + i] = items[i].value;
    to.rows[std::size_t{q} * to.kept + i] = items[i].id;
  }
  if (threadIdx.x == 0) {
    to.found[q] = of.k;
    to.state[q] = query_state::done;
  }
}

template <class T>
__global__ void __launch_bounds__(256, 2)
    compute_rows(shadow_rows const rows, flat_queries const of, std::uint32_t q,
                 std::uint32_t first, std::uint32_t count, double farthest, std::uint64_t* keys,
                 std::uint32_t* numbers, std::uint32_t* within) {
  std::uint32_t const i = blockIdx.x * 256 + threadIdx.x;
  bool in = i < count;
  if (in) {
    std::uint32_t const row = first + i;
    numbers[i] = row;
    keys[i] = ~std::uint64_t{0};
    if (of.rows_filter != nullptr) in = (of.rows_filter[row / 32] >> (row % 32) & 1) != 0;
    if (of.query_filter != nullptr)
      in = in && (of.query_filter[std::size_t{q} * rows.slabs() + row / 32] >> (row % 32) & 1) != 0;
    if (in) {
      double const key = defined_key<T>(rows, of, q, row);
      in = of.k > 0 || key <= farthest;
      if (in) keys[i] = ascending_key(key);
    }
  }
  auto const all = static_cast<std::uint32_t>(__syncthreads_count(in ? 1 : 0));
  if (threadIdx.x == 0 && all > 0) atomicAdd(within, all);
}

/// The kernel of a plan, and how many of its blocks fit a multiprocessor.
using scan_kernel = void (*)(shadow_rows, flat_queries, scan_plan, float*);
template <bool is_sample>
scan_kernel kernel_of(scan_plan const& plan) {
  if (!plan.shared) return scan_rows<2, 8, is_sample, false>;
  switch (plan.queries) {
    case 16:
      return scan_rows<2, 8, is_sample, true>;
    case 32:
      return scan_rows<4, 8, is_sample, true>;
    case 64:
      return scan_rows<8, 8, is_sample, true>;
    default:
      return scan_rows<16, 4, is_sample, true>;
  }
}
std::size_t shared_bytes_of(scan_plan const& plan, std::uint32_t steps) {
  return (plan.shared ? std::size_t{plan.queries} / 16 * steps * 32 * sizeof(uint4) : 0) +
         plan.queries * sizeof(float2) + warps * sizeof(waiting_rows);
}
constexpr std::uint32_t chunk_sizes[] = {16, 32, 64, 128};

scan_plan chunks_of(scan_limits const& limits, shadow_rows const& rows, std::uint32_t queries) {
  scan_plan plan;
  plan.slabs = rows.slabs();
  for (std::uint32_t const size : chunk_sizes) {
    scan_plan larger = plan;
    larger.queries = size;
    if (shared_bytes_of(larger, rows.steps()) > limits.shared_bytes) break;
    plan = larger;
    if (size >= queries) break;
  }
  plan.shared = shared_bytes_of(plan, rows.steps()) <= limits.shared_bytes;
  plan.chunks = (queries + plan.queries - 1) / plan.queries;
  return plan;
}

std::uint32_t resident_blocks(scan_limits const& limits, scan_plan const& plan,
                              shadow_rows const& rows, scan_kernel kernel) {
  int blocks = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, scan_threads,
                                                           shared_bytes_of(plan, rows.steps())));
  return limits.multiprocessors * static_cast<std::uint32_t>(std::max(blocks, 1));
}

std::size_t finish_bytes(flat_results const& to) {
  return to.sorted * sizeof(dense_candidate);
}
std::uint32_t crowd_size(flat_results const& to) {
  return std::max(to.sorted, crowd_sorted);
}

}  // namespace

std::uint32_t scan_plan::groups() const {
  return slices * warps * (8U >> fold);
}

scan_limits allow_scans() {
  scan_limits limits;
  limits.shared_bytes = ~std::size_t{0};
  scan_plan plan;
  for (bool const shared : {true, false})
    for (std::uint32_t const size : chunk_sizes) {
      plan.queries = size;
      plan.shared = shared;
      limits.shared_bytes =
          std::min({limits.shared_bytes, allow_all_shared_memory(kernel_of<false>(plan)),
                    allow_all_shared_memory(kernel_of<true>(plan))});
    }
  for (auto const type :
       {datasets::element::float32, datasets::element::float16, datasets::element::bfloat16,
        datasets::element::int8, datasets::element::uint8})
    with_type(type, []<class T>(T) {
      allow_all_shared_memory(finish_queries<T, false>);
      allow_all_shared_memory(finish_queries<T, true>);
    });
  allow_all_shared_memory(order_crowded);
  cudaFuncAttributes compiled{};
  check_cuda(cudaFuncGetAttributes(&compiled, finish_queries<float, true>));
  limits.clusters = compiled.ptxVersion >= 90;
  int device = 0;
  int multiprocessors = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  limits.multiprocessors = static_cast<std::uint32_t>(multiprocessors);
  return limits;
}

scan_plan plan_scan(scan_limits const& limits, shadow_rows const& rows, std::uint32_t queries) {
  scan_plan plan = chunks_of(limits, rows, queries);
  std::uint32_t const resident = resident_blocks(limits, plan, rows, kernel_of<false>(plan));
  std::uint32_t const most = std::max((plan.slabs + warps - 1) / warps, 1U);
  if (plan.chunks == 1) {
    plan.slices = std::min(resident, most);
    return plan;
  }
  // Chooses the number of slices so that the last blocks leave little of the device idle, by trying
  // several numbers of rounds. A warp has at least four slabs, to repay the copy of its queries to
  // shared memory; with few rows it has fewer, because otherwise most of the device would be idle.
  std::uint32_t const most_slices =
      std::max({most / 4, std::min(most, resident / plan.chunks), 1U});
  double best = 0;
  for (std::uint32_t rounds = 4; rounds <= 12; ++rounds) {
    std::uint32_t const slices = std::clamp(resident * rounds / plan.chunks, 1U, most_slices);
    std::uint32_t const blocks = slices * plan.chunks;
    double const filled =
        static_cast<double>(blocks) / static_cast<double>(round_up(blocks, resident));
    if (filled > best + 0.005) {
      best = filled;
      plan.slices = slices;
    }
  }
  return plan;
}

scan_plan plan_sample(scan_limits const& limits, shadow_rows const& rows, std::uint32_t queries,
                      std::uint32_t of, std::uint32_t groups) {
  scan_plan plan = chunks_of(limits, rows, queries);
  plan.stride = std::clamp(of, 1U, std::max(plan.slabs, 1U));
  plan.slabs = (plan.slabs + plan.stride - 1) / plan.stride;
  std::uint32_t const resident = resident_blocks(limits, plan, rows, kernel_of<true>(plan));
  std::uint32_t const for_groups = (groups + 8 * warps - 1) / (8 * warps);
  plan.slices = std::clamp(std::max(for_groups, resident / plan.chunks), 1U,
                           std::max((plan.slabs + warps - 1) / warps, 1U));
  while (plan.fold < 3 && plan.groups() / 2 >= groups) ++plan.fold;
  return plan;
}

void make_shadow(shadow_rows const& rows, cudaStream_t on) {
  if (rows.rows == 0) return;
  with_type(rows.type, [&]<class T>(T) {
    shadow_slabs<T><<<std::min(rows.slabs(), 1U << 16), 256, 0, on>>>(rows);
    check_launch();
    if (rows.metric != similarity::cosine) return;
    row_norms<T><<<(rows.rows + 255) / 256, 256, 0, on>>>(rows);
    check_launch();
  });
}

void prepare(shadow_rows const& rows, flat_queries const& queries, flat_results const& to,
             cudaStream_t on) {
  launch_behind(prepare_queries, queries.padded() / 4, 128, 0, on, rows, queries, to);
}

void sample(shadow_rows const& rows, flat_queries const& queries, scan_plan const& plan,
            float* maxima, cudaStream_t on) {
  launch_behind(kernel_of<true>(plan), plan.chunks * plan.slices, scan_threads,
                shared_bytes_of(plan, rows.steps()), on, rows, queries, plan, maxima);
  launch_behind(draw_limits, queries.count, finish_threads, 0, on, queries, plan.groups(), maxima);
}

void scan(shadow_rows const& rows, flat_queries const& queries, scan_plan const& plan,
          cudaStream_t on) {
  launch_behind(kernel_of<false>(plan), plan.chunks * plan.slices, scan_threads,
                shared_bytes_of(plan, rows.steps()), on, rows, queries, plan,
                static_cast<float*>(nullptr));
}

void finish(scan_limits const& limits, shadow_rows const& rows, flat_queries const& queries,
            flat_results const& to, cudaStream_t on) {
  std::uint32_t together = 1;
  if (limits.clusters && rows.dimensions >= cluster_dimensions)
    while (together < most_together && 2 * together * queries.count <= limits.multiprocessors)
      together *= 2;
  // Two rows per thread. With two blocks, that would be little more than one block sorts.
  flat_results in = to;
  if (together > 2) in.sorted = std::max(to.sorted, 2 * finish_threads * together);
  with_type(rows.type, [&]<class T>(T) {
    launch_clusters_behind(together > 1 ? finish_queries<T, true> : finish_queries<T, false>,
                           together, queries.count * together, finish_threads, finish_bytes(in), on,
                           rows, queries, in);
  });
}

void finish_crowded(shadow_rows const& rows, flat_queries const& queries, flat_results const& to,
                    cudaStream_t on) {
  std::uint32_t const slices = (queries.capacity + crowd_slice - 1) / crowd_slice;
  with_type(rows.type, [&]<class T>(T) {
    launch_behind(compute_crowded<T>, queries.count * slices, crowd_threads, 0, on, rows, queries,
                  to, slices);
  });
  std::uint32_t const size = crowd_size(to);
  launch_behind(order_crowded, queries.count, finish_threads, size * sizeof(dense_candidate), on,
                queries, to, size);
}

void compute_all(shadow_rows const& rows, flat_queries const& queries, std::uint32_t query,
                 std::uint32_t first, std::uint32_t count, double farthest, std::uint64_t* keys,
                 std::uint32_t* numbers, std::uint32_t* within, cudaStream_t on) {
  check_cuda(cudaMemsetAsync(within, 0, sizeof *within, on));
  with_type(rows.type, [&]<class T>(T) {
    compute_rows<T><<<(count + 255) / 256, 256, 0, on>>>(rows, queries, query, first, count,
                                                         farthest, keys, numbers, within);
    check_launch();
  });
}

double key_of(std::uint64_t ascending) {
  std::uint64_t const sign = std::uint64_t{1} << 63;
  std::uint64_t const bits = (ascending & sign) != 0 ? ascending & ~sign : ~ascending;
  double key = 0;
  std::memcpy(&key, &bits, sizeof key);
  return key;
}

}  // namespace rulerank::knn
