#include "core/shared_memory.hpp"
#include "knn/block_sort.hpp"
#include "knn/selection.cuh"
#include "knn/sparse/similarity_math.hpp"
#include "knn/sparse/tile_search_cuda.cuh"

#include <algorithm>
#include <cstddef>

#include <cub/block/block_scan.cuh>

// A block adds the integer sums of one query and one tile of documents in shared memory, and keeps
// as candidates the documents that may be among the nearest: those whose sum is less than the k-th
// best of any tile so far by no more than the error of sums. The blocks of a tile run one after the
// other, so that its lists stay in the L2 cache and later tiles use the results of earlier ones.
// Then one block per query takes the candidates that remain given all tiles, computes them exactly,
// one per warp, adding products in term order as on the CPU, and sorts them.
namespace rulerank::inline v0::knn {

namespace {

constexpr std::uint32_t sum_threads = 1024;
/// With at most this many documents in a tile, a multiprocessor has shared memory for two blocks.
constexpr std::uint32_t small_tile = 20 * 1024;
constexpr std::uint32_t rescore_threads = 256;
/// Lists are read in runs of `run_length` postings, one run per warp.
constexpr std::uint32_t loads_a_run = 4;
constexpr std::uint32_t run_length = 32 * postings_a_lane * loads_a_run;
/// Terms of a query whose lists are looked up together.
constexpr std::uint32_t terms_together = 256;
/// Candidates of a tile are listed if there are at most this many.
constexpr std::uint32_t most_listed = 2048;
/// Terms of a query that are in shared memory while documents are computed exactly.
constexpr std::uint32_t shared_terms = 2048;

static_assert(sizeof(sparse_candidate) == 16);

/// Returns the least sum of a document that may be among the k nearest, given that the k-th best
/// sum is at least `best`. Each of the two sums has an error of at most `error`. A sum of 0 shares
/// no term.
__device__ std::uint32_t least_sum(std::uint32_t best, std::uint32_t error) {
  return best > 2 * error ? max(best - 2 * error, 1U) : 1U;
}

/// Adds the weight of a posting, its upper half, to the sum of its document.
__device__ void add(std::uint32_t* sums, std::uint32_t posting, std::uint32_t weight) {
  static_assert(sizeof(tile_posting) == 4 && offsetof(tile_posting, offset) == 0);
  atomicAdd(sums + (posting & 0xffff), (posting >> 16) * weight);
}

/// A term of a query in a tile.
struct posting_list_view {
  std::uint32_t begin;
  std::uint32_t size;
  std::uint32_t weight;
};

/// A block's shared memory besides the sums.
struct sum_memory {
  using scan = cub::BlockScan<std::uint32_t, sum_threads>;
  typename scan::TempStorage scan_storage;
  kth_largest<sum_threads> kth;
  std::uint32_t offsets[most_listed];  // in the tile, of candidates
  posting_list_view lists[terms_together];
  std::uint32_t run_begin[terms_together];
  std::uint32_t best, postings_read, listed;
};

/// Adds the postings of a query's terms in a tile to the sums, which must be zeros.
__device__ __forceinline__ void add_lists(tiles_view const& tiles, std::uint32_t tile,
                                          query_view const& queries, std::uint32_t q, double scale,
                                          std::uint32_t* sums, sum_memory& own) {
  std::uint32_t const lane = threadIdx.x % 32;
  tile_posting const* const postings = tiles.postings + (tiles.base[tile] - tiles.base[0]);
  std::uint32_t const* const begin = tiles.begin + tile * (std::size_t{tiles.terms} + 1);
  std::uint64_t const terms_end = queries.begin[q + 1];
  double const norm = queries.norm[q];
  for (std::uint64_t t0 = queries.begin[q]; t0 < terms_end; t0 += terms_together) {
    auto const terms =
        static_cast<std::uint32_t>(min(std::uint64_t{terms_together}, terms_end - t0));
    std::uint32_t runs = 0;
    if (threadIdx.x < terms) {
      std::uint32_t const term = queries.term[t0 + threadIdx.x];
      std::uint32_t const from = begin[term];
      std::uint32_t const size = begin[term + 1] - from;
      own.lists[threadIdx.x] = {from, size,
                                integer_weight(queries.weight[t0 + threadIdx.x], norm, scale)};
      runs = (size + run_length - 1) / run_length;
      atomicAdd(&own.postings_read, size);
    }
    std::uint32_t before = 0;
    std::uint32_t all = 0;
    sum_memory::scan(own.scan_storage).ExclusiveSum(runs, before, all);
    if (threadIdx.x < terms) own.run_begin[threadIdx.x] = before;
    __syncthreads();
    std::uint32_t of = 0;  // the last list that begins at or before the run
    for (std::uint32_t run = threadIdx.x / 32; run < all; run += sum_threads / 32) {
      for (std::uint32_t ahead = 32; ahead == 32; of += ahead) {
        std::uint32_t const next = of + 1 + lane;
        ahead = static_cast<std::uint32_t>(
            __popc(__ballot_sync(~0U, next < terms && own.run_begin[next] <= run)));
      }
      posting_list_view const list = own.lists[of];
      std::uint32_t const from = (run - own.run_begin[of]) * run_length;
      auto const* const quads = reinterpret_cast<uint4 const*>(postings + list.begin + from);
      std::uint32_t const left = (list.size - from) / postings_a_lane;
      uint4 read[loads_a_run];
#pragma unroll
      for (std::uint32_t i = 0; i < loads_a_run; ++i)
        if (i * 32 + lane < left) read[i] = quads[i * 32 + lane];
#pragma unroll
      for (std::uint32_t i = 0; i < loads_a_run; ++i)
        if (i * 32 + lane < left) {
          add(sums, read[i].x, list.weight);
          add(sums, read[i].y, list.weight);
          add(sums, read[i].z, list.weight);
          add(sums, read[i].w, list.weight);
        }
    }
    __syncthreads();
  }
}

/// Keeps the candidates of a tile, given the current results of this and other tiles. `first`, `n`:
/// the tile's first document and its number of documents.
__device__ __forceinline__ void hand_on(std::uint32_t first, std::uint32_t n, std::uint32_t q,
                                        std::uint32_t error, std::uint32_t k,
                                        handed_view const& handed, std::uint32_t const* sums,
                                        sum_memory& own) {
  auto const* const four_sums = reinterpret_cast<uint4 const*>(sums);
  std::uint32_t least = least_sum(own.best, error);
  for (std::uint32_t i = threadIdx.x; i < (n + 3) / 4; i += sum_threads) {
    uint4 const four = four_sums[i];
    if (max(max(four.x, four.y), max(four.z, four.w)) < least) continue;
    for (std::uint32_t j = i * 4; j < i * 4 + 4; ++j)
      if (sums[j] >= least) {
        std::uint32_t const at = atomicAdd(&own.listed, 1U);
        if (at < most_listed) own.offsets[at] = j;
      }
  }
  __syncthreads();
  std::uint32_t const near = own.listed;
  auto const each_near = [&](auto const& work) {
    if (near <= most_listed)
      for (std::uint32_t i = threadIdx.x; i < near; i += sum_threads) work(own.offsets[i]);
    else
      for (std::uint32_t i = threadIdx.x; i < n; i += sum_threads)
        if (sums[i] >= least) work(i);
  };
  if (near >= k) {
    std::uint32_t const best = own.kth(
        k, [&](auto const& work) { each_near([&](std::uint32_t offset) { work(sums[offset]); }); });
    if (threadIdx.x == 0) atomicMax(handed.best + q, best);
    least = max(least, least_sum(best, error));
  }
  handed_document* const out = handed.document + std::size_t{q} * handed.capacity;
  each_near([&](std::uint32_t offset) {
    if (sums[offset] < least) return;
    std::uint32_t const at = atomicAdd(handed.count + q, 1U);
    if (at < handed.capacity) out[at] = {first + offset, sums[offset]};
  });
}

/// Block (query, tile), queries first. `blocks`: fewest blocks per multiprocessor.
template <int blocks>
__global__ __launch_bounds__(sum_threads, blocks) void sum_kernel(
    tiles_view const tiles, query_view const queries, double scale, handed_view const handed,
    unsigned long long* all_postings_read, std::uint32_t k) {
  extern __shared__ __align__(16) std::uint32_t sums[];  // [tile_size]
  __shared__ sum_memory own;
  std::uint32_t const q = blockIdx.x;
  std::uint32_t const tile = blockIdx.y;
  std::uint32_t const first = tile * tiles.tile_size;
  std::uint32_t const n = min(tiles.tile_size, tiles.documents - first);
  std::uint32_t const error = queries.error[q];
  if (error == not_served) return;
  // Four at a time: the last sums may belong to no document and stay 0.
  auto* const four_sums = reinterpret_cast<uint4*>(sums);
  for (std::uint32_t i = threadIdx.x; i < (n + 3) / 4; i += sum_threads)
    four_sums[i] = uint4{0, 0, 0, 0};
  if (threadIdx.x == 0) {
    own.postings_read = 0;
    own.listed = 0;
  }
  __syncthreads();
  add_lists(tiles, tile, queries, q, scale, sums, own);
  if (threadIdx.x == 0) {
    atomicAdd(all_postings_read, own.postings_read);
    own.best = *static_cast<std::uint32_t volatile*>(handed.best + q);
  }
  __syncthreads();
  hand_on(first, n, q, error, k, handed, sums, own);
}

/// Terms of a row, ascending, and their weights.
struct term_weights {
  std::uint32_t const* term;
  double const* weight;
  std::uint32_t size;
};

/// Returns the sum of the products of two rows' common terms, added in term order, by a warp that
/// searches the terms of one row in the other. All lanes get the same sum.
__device__ double sum_of_common(term_weights const& of, term_weights const& in) {
  constexpr std::uint32_t together = 4;  // terms that a lane fetches at a time
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const largest_half =
      in.size == 0 ? 0 : 1U << (31 - __clz(static_cast<int>(in.size)));
  double sum = 0;
  for (std::uint32_t first = 0; first < of.size; first += 32 * together) {
    std::uint32_t term[together];
    double product[together];
#pragma unroll
    for (std::uint32_t j = 0; j < together; ++j) {
      std::uint32_t const i = first + j * 32 + lane;
      term[j] = i < of.size ? of.term[i] : ~0U;
      product[j] = i < of.size ? of.weight[i] : 0;
    }
    // Binary searches in the other row, several terms side by side.
    std::uint32_t low[together]{};
    for (std::uint32_t half = largest_half; half > 0; half /= 2)
#pragma unroll
      for (std::uint32_t j = 0; j < together; ++j) {
        std::uint32_t const next = low[j] + half;
        if (next <= in.size && in.term[next - 1] < term[j]) low[j] = next;
      }
#pragma unroll
    for (std::uint32_t j = 0; j < together; ++j) {
      bool const common = low[j] < in.size && in.term[low[j]] == term[j];
      if (common) product[j] = __dmul_rn(product[j], in.weight[low[j]]);
      for (std::uint32_t left = __ballot_sync(~0U, common); left != 0; left &= left - 1)
        sum = __dadd_rn(sum, __shfl_sync(~0U, product[j], __ffs(static_cast<int>(left)) - 1));
    }
  }
  return sum;
}

/// A block's shared memory besides the documents that it computes.
struct rescore_memory {
  kth_largest<rescore_threads> kth;
  std::uint32_t query_term[shared_terms];
  std::uint32_t kept, taken;
};

/// Keeps the candidates of a query that may be among its k nearest, given the k-th best sum over
/// all tiles; `own.kept` is their number, even beyond `capacity`.
__device__ __forceinline__ void keep_near(handed_view const& handed, std::uint32_t q,
                                          std::uint32_t error, std::uint32_t k,
                                          std::uint32_t capacity, sparse_candidate* kept,
                                          rescore_memory& own) {
  std::uint32_t const handed_on = handed.count[q];
  handed_document const* const near = handed.document + std::size_t{q} * handed.capacity;
  std::uint32_t least = least_sum(handed.best[q], error);
  if (handed_on >= k)
    least = max(least, least_sum(own.kth(k,
                                         [&](auto const& work) {
                                           for (std::uint32_t i = threadIdx.x; i < handed_on;
                                                i += rescore_threads)
                                             work(near[i].sum);
                                         }),
                                 error));
  if (threadIdx.x == 0) {
    own.kept = 0;
    own.taken = 0;
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < handed_on; i += rescore_threads) {
    if (near[i].sum < least) continue;
    std::uint32_t const at = atomicAdd(&own.kept, 1U);
    if (at < capacity) kept[at] = {0, near[i].document};
  }
  __syncthreads();
}

/// Computes the kept documents, one per warp.
__device__ __forceinline__ void compute_exactly(rows_view const& rows, query_view const& queries,
                                                std::uint32_t q, similarity metric,
                                                sparse_candidate* kept, rescore_memory& own) {
  auto const terms = static_cast<std::uint32_t>(queries.begin[q + 1] - queries.begin[q]);
  std::uint64_t const at = queries.begin[q];
  std::uint32_t const* term = queries.term + at;
  if (terms <= shared_terms) {
    for (std::uint32_t i = threadIdx.x; i < terms; i += rescore_threads)
      own.query_term[i] = term[i];
    term = own.query_term;
  }
  __syncthreads();
  std::uint32_t const lane = threadIdx.x % 32;
  double const norm = queries.norm[q];
  term_weights const query{term, queries.weight + at, terms};
  for (std::uint32_t c = threadIdx.x / 32; c < own.kept;) {
    std::uint32_t const document = kept[c].id;
    std::uint64_t const row_begin = rows.begin[document] - rows.begin[0];
    term_weights const row{
        rows.term + row_begin, rows.weight + row_begin,
        static_cast<std::uint32_t>(rows.begin[document + 1] - rows.begin[document])};
    // Neighbouring threads read neighbouring terms of the document and search them in the query,
    // which is in shared memory; the reverse if the query has far fewer terms.
    double const sum = row.size / 8 > terms ? sum_of_common(query, row) : sum_of_common(row, query);
    if (lane == 0) {
      kept[c].value =
          metric == similarity::inner_product
              ? sum
              : cosine_of(sum, norm, rows.norms[document], metric == similarity::normalized_l2);
      c = rescore_threads / 32 + atomicAdd(&own.taken, 1U);
    }
    c = __shfl_sync(~0U, c, 0);
  }
  __syncthreads();
}

/// One query per block.
__global__ __launch_bounds__(rescore_threads) void rescore_kernel(
    rows_view const rows, query_view const queries, handed_view const handed, results_view const to,
    std::uint32_t k, similarity metric, std::uint32_t capacity) {
  extern __shared__ uint4 shared[];
  auto* const kept = reinterpret_cast<sparse_candidate*>(shared);  // [capacity]
  __shared__ rescore_memory own;
  std::uint32_t const q = blockIdx.x;
  std::uint32_t const error = queries.error[q];
  if (to.answered[q] != 0 || handed.count[q] > handed.capacity || error == not_served) return;
  keep_near(handed, q, error, k, capacity, kept, own);
  if (own.kept > capacity) return;
  compute_exactly(rows, queries, q, metric, kept, own);
  std::uint32_t const count = own.kept;
  std::uint32_t size = 2;
  while (size < count) size *= 2;
  for (std::uint32_t i = count + threadIdx.x; i < size; i += rescore_threads) kept[i] = {-1, ~0U};
  __syncthreads();
  sort_bitonic(kept, size, nearer_document{}, block_threads<rescore_threads>{});
  std::uint32_t const here = min(count, k);
  for (std::uint32_t i = threadIdx.x; i < here; i += rescore_threads) {
    to.documents[std::size_t{q} * k + i] = kept[i].id;
    to.scores[std::size_t{q} * k + i] = kept[i].value;
  }
  if (threadIdx.x == 0) {
    to.answered[q] = 1 + here;
    atomicAdd(to.rescored, static_cast<unsigned long long>(count));
  }
}

}  // namespace

block_limits allow_shared_memory() {
  std::size_t const sums =
      std::min(allow_all_shared_memory(sum_kernel<1>), allow_all_shared_memory(sum_kernel<2>));
  return {static_cast<std::uint32_t>(sums / sizeof(std::uint32_t)),
          static_cast<std::uint32_t>(allow_all_shared_memory(rescore_kernel) /
                                     sizeof(sparse_candidate))};
}

void sum_tiles(tiles_view const& tiles, query_view const& queries, std::uint32_t count,
               double scale, std::uint32_t k, handed_view const& handed, results_view const& to,
               cudaStream_t on) {
  auto* const kernel = tiles.tile_size <= small_tile ? sum_kernel<2> : sum_kernel<1>;
  kernel<<<dim3(count, tiles.tiles), sum_threads, tiles.tile_size * sizeof(std::uint32_t), on>>>(
      tiles, queries, scale, handed, to.postings_read, k);
  check_launch();
}

void rescore(rows_view const& rows, query_view const& queries, std::uint32_t count,
             similarity metric, std::uint32_t k, std::uint32_t capacity, handed_view const& handed,
             results_view const& to, cudaStream_t on) {
  rescore_kernel<<<count, rescore_threads, capacity * sizeof(sparse_candidate), on>>>(
      rows, queries, handed, to, k, metric, capacity);
  check_launch();
}

}  // namespace rulerank::knn
