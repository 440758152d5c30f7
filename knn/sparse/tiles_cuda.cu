#include "core/aligned.hpp"
#include "core/error.hpp"
#include "core/for_each_device.hpp"
#include "core/parallel.hpp"
#include "core/per_device.hpp"
#include "core/shared_memory.hpp"
#include "core/stream.hpp"
#include "knn/sparse/similarity_math.hpp"
#include "knn/sparse/tile_query.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

// `tiles` on GPUs (docs/modules/knn.md, "Sparse search"). A block adds up the integer sums of one
// query and one tile of documents in shared memory, and hands on the documents that may be among
// the nearest: those whose sum is not below the k-th best of any tile so far by more than sums may
// be off. Blocks of a tile come one after the other, so that its lists stay in the L2 cache, and so
// that the later tiles know what the first ones found. Then a block a query takes those that may be
// near, all tiles considered, computes them exactly, a warp each, products added in the order of
// the terms as on the CPU, and sorts them.
//
// Where every device has room for the index, each holds it and answers its share of the queries.
// Else it is cut into parts of whole tiles: each device holds one and searches all queries in it,
// or, where that is still too much, loads one after the other. The parts' neighbours are merged.
//
// For a small collection the kernels take less than what is around them: all threads put a batch
// into memory that one copy takes to a device, and write what another brings back.
namespace rulerank::knn {

namespace {

/// Documents of a tile: their sums fill most of a multiprocessor's shared memory.
constexpr std::uint32_t largest_tile = 48 * 1024;
constexpr std::uint32_t sum_threads = 1024;
/// With so few documents, a multiprocessor has room for two blocks.
constexpr std::uint32_t small_tile = 20 * 1024;
constexpr std::uint32_t rescore_threads = 256;
/// Lists are read in runs of so many postings, a warp each.
constexpr std::uint32_t loads_a_run = 4;
constexpr std::uint32_t run_length = 32 * postings_a_lane * loads_a_run;
/// Terms of a query whose lists are looked up together.
constexpr std::uint32_t terms_together = 256;
/// Documents of a tile that may be near are listed, as long as they are no more than this.
constexpr std::uint32_t most_listed = 2048;
/// Terms of a query that are kept in shared memory while documents are computed exactly.
constexpr std::uint32_t shared_terms = 2048;
/// More neighbours than this are found on the CPU.
constexpr std::size_t most_neighbours = 4096;
/// Documents of a query computed exactly: as many as blocks with little shared memory sort, or
/// else as many as those with most of it. Where there are more, the CPU answers the query.
constexpr std::uint32_t few_rescored = 1024;
constexpr std::uint32_t most_rescored = 8192;
static_assert(most_neighbours <= most_rescored);
constexpr std::size_t most_together = 2048;                 // queries
constexpr std::size_t handed_bytes = std::size_t{1} << 28;  // of a batch
/// Marks a query that integers do not serve.
constexpr std::uint32_t not_served = ~0U;

/// A document that a tile hands on.
struct handed_document {
  std::uint32_t document;
  std::uint32_t sum;
};

static_assert(sizeof(sparse_candidate) == 16);

/// A batch of queries, on the host or on a device.
struct query_view {
  std::uint64_t* begin;  ///< [queries + 1] into the two below
  std::uint32_t* term;   ///< ascending
  double* weight;
  double* norm;          ///< [queries]
  std::uint32_t* error;  ///< [queries] of a sum, at most; or not_served
};

struct tiles_view {
  std::uint64_t const* base;  ///< [tiles] into the postings of the whole index
  std::uint32_t const* begin;
  tile_posting const* postings;
  std::uint32_t terms;
  std::uint32_t documents;
  std::uint32_t tile_size;
};

/// What is found for a batch, on the host or on a device.
struct results_view {
  double* scores;            ///< [queries][k]
  std::uint32_t* documents;  ///< [queries][k] by their place in the part, in order
  std::uint32_t* answered;   ///< [queries] 1 + how many of the k share a term; 0: not yet
  unsigned long long* rescored;
  unsigned long long* postings_read;
};

/// What the blocks of a query tell each other, on a device.
struct handed_view {
  std::uint32_t* best;        ///< [queries] the k-th best sum is at least this
  std::uint32_t* count;       ///< [queries] how many documents are handed on
  handed_document* document;  ///< [queries][capacity]
  std::uint32_t capacity;
};

/// How far below the k-th best sum a document's own may be that is as near, and not 0.
__device__ std::uint32_t not_below(std::uint32_t best, std::uint32_t error) {
  return best > 2 * error ? max(best - 2 * error, 1U) : 1U;
}

/// The k-th largest of numbers, in shared memory.
template <std::uint32_t threads>
class kth_largest {
 public:
  /// To a part in 1,024 of the largest, rounded down; the same in all threads of the block. `each`
  /// calls what it is given with this thread's share of the numbers, of which there are at least k.
  template <class Each>
  __device__ std::uint32_t operator()(std::uint32_t k, Each const& each) {
    std::uint32_t largest = 0;
    each([&](std::uint32_t value) { largest = max(largest, value); });
    for (std::uint32_t i = threadIdx.x; i < bins; i += threads) histogram_[i] = 0;
    largest = reduce(storage_.reduce).Reduce(largest, [](std::uint32_t a, std::uint32_t b) {
      return max(a, b);
    });
    if (threadIdx.x == 0) value_ = largest;
    __syncthreads();
    int const shift = max(0, 32 - __clz(static_cast<int>(value_)) - bins_log);
    each([&](std::uint32_t value) { atomicAdd(histogram_ + (value >> shift), 1U); });
    __syncthreads();
    // A thread's bins, from the highest.
    std::uint32_t const top = bins - 1 - threadIdx.x * bins_a_thread;
    std::uint32_t mine = 0;
    for (std::uint32_t i = 0; i < bins_a_thread; ++i) mine += histogram_[top - i];
    std::uint32_t above = 0;
    scan(storage_.scan).ExclusiveSum(mine, above);
    if (above < k && above + mine >= k) {
      std::uint32_t bin = top;
      while (above + histogram_[bin] < k) above += histogram_[bin--];
      value_ = bin << shift;
    }
    __syncthreads();
    return value_;
  }

 private:
  static constexpr int bins_log = 11;
  static constexpr std::uint32_t bins = 1U << bins_log;
  static constexpr std::uint32_t bins_a_thread = bins / threads;
  using reduce = cub::BlockReduce<std::uint32_t, threads>;
  using scan = cub::BlockScan<std::uint32_t, threads>;
  union {
    typename reduce::TempStorage reduce;
    typename scan::TempStorage scan;
  } storage_;
  std::uint32_t histogram_[bins];
  std::uint32_t value_;
};

/// Adds a posting's weight, the upper half of it, to the sum of its place.
__device__ void add(std::uint32_t* sums, std::uint32_t posting, std::uint32_t weight) {
  static_assert(sizeof(tile_posting) == 4 && offsetof(tile_posting, place) == 0);
  atomicAdd(sums + (posting & 0xffff), (posting >> 16) * weight);
}

/// A term of a query in a tile.
struct posting_list_view {
  std::uint32_t begin;
  std::uint32_t size;
  std::uint32_t weight;
};

/// Block (query, tile), queries first. `blocks`: of a multiprocessor, at least.
template <int blocks>
__global__ __launch_bounds__(sum_threads, blocks) void sum_kernel(
    tiles_view const tiles, query_view const queries, double scale, handed_view const handed,
    unsigned long long* all_postings_read, std::uint32_t k) {
  extern __shared__ __align__(16) std::uint32_t sums[];  // [tile_size]
  using block_scan = cub::BlockScan<std::uint32_t, sum_threads>;
  __shared__ typename block_scan::TempStorage storage;
  __shared__ kth_largest<sum_threads> kth;
  __shared__ std::uint32_t places[most_listed];
  __shared__ posting_list_view lists[terms_together];
  __shared__ std::uint32_t run_begin[terms_together];
  __shared__ std::uint32_t shared_best, postings_read, listed;
  std::uint32_t const q = blockIdx.x;
  std::uint32_t const tile = blockIdx.y;
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const first = tile * tiles.tile_size;
  std::uint32_t const n = min(tiles.tile_size, tiles.documents - first);
  std::uint32_t const error = queries.error[q];
  if (error == not_served) return;
  // The last of them are documents that there are not, with sums of 0.
  std::uint32_t const fours = (n + 3) / 4;
  auto* const four_sums = reinterpret_cast<uint4*>(sums);
  for (std::uint32_t i = threadIdx.x; i < fours; i += sum_threads) four_sums[i] = uint4{0, 0, 0, 0};
  if (threadIdx.x == 0) {
    postings_read = 0;
    listed = 0;
  }
  __syncthreads();

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
      lists[threadIdx.x] = {from, size,
                            integer_weight(queries.weight[t0 + threadIdx.x], norm, scale)};
      runs = (size + run_length - 1) / run_length;
      atomicAdd(&postings_read, size);
    }
    std::uint32_t before = 0;
    std::uint32_t all = 0;
    block_scan(storage).ExclusiveSum(runs, before, all);
    if (threadIdx.x < terms) run_begin[threadIdx.x] = before;
    __syncthreads();
    std::uint32_t of = 0;  // the last list that begins at or before the run
    for (std::uint32_t run = threadIdx.x / 32; run < all; run += sum_threads / 32) {
      for (std::uint32_t ahead = 32; ahead == 32; of += ahead) {
        std::uint32_t const next = of + 1 + lane;
        ahead = static_cast<std::uint32_t>(
            __popc(__ballot_sync(~0U, next < terms && run_begin[next] <= run)));
      }
      posting_list_view const list = lists[of];
      std::uint32_t const from = (run - run_begin[of]) * run_length;
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

  // Those that may be among the nearest, as far as this tile and the others tell by now.
  if (threadIdx.x == 0) {
    atomicAdd(all_postings_read, postings_read);
    shared_best = *static_cast<std::uint32_t volatile*>(handed.best + q);
  }
  __syncthreads();
  std::uint32_t least = not_below(shared_best, error);
  for (std::uint32_t i = threadIdx.x; i < fours; i += sum_threads) {
    uint4 const four = four_sums[i];
    if (max(max(four.x, four.y), max(four.z, four.w)) < least) continue;
    for (std::uint32_t j = i * 4; j < i * 4 + 4; ++j)
      if (sums[j] >= least) {
        std::uint32_t const at = atomicAdd(&listed, 1U);
        if (at < most_listed) places[at] = j;
      }
  }
  __syncthreads();
  std::uint32_t const near = listed;
  auto const each_near = [&](auto const& work) {
    if (near <= most_listed)
      for (std::uint32_t i = threadIdx.x; i < near; i += sum_threads) work(places[i]);
    else
      for (std::uint32_t i = threadIdx.x; i < n; i += sum_threads)
        if (sums[i] >= least) work(i);
  };
  if (near >= k) {
    std::uint32_t const best = kth(
        k, [&](auto const& work) { each_near([&](std::uint32_t place) { work(sums[place]); }); });
    if (threadIdx.x == 0) atomicMax(handed.best + q, best);
    least = max(least, not_below(best, error));
  }
  handed_document* const out = handed.document + std::size_t{q} * handed.capacity;
  each_near([&](std::uint32_t place) {
    if (sums[place] < least) return;
    std::uint32_t const at = atomicAdd(handed.count + q, 1U);
    if (at < handed.capacity) out[at] = {first + place, sums[place]};
  });
}

/// The documents of a part: `begin` counts from the first of the whole index.
struct rows_view {
  std::uint64_t const* begin;
  std::uint32_t const* term;
  double const* weight;
  double const* norms;
};

/// Terms of a row, ascending, and their weights.
struct term_weights {
  std::uint32_t const* term;
  double const* weight;
  std::uint32_t size;
};

/// The products of two rows' common terms, added in the order of the terms, by a warp: it looks for
/// the terms of one in the other. The same in all lanes.
__device__ double sum_of_common(term_weights const& of, term_weights const& in) {
  constexpr std::uint32_t together = 4;  // terms of a lane that are fetched at a time
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
    // The other's first term that is not below each of them, looked for side by side.
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

/// A block a query: exact similarities, the k nearest in order. Queries that are answered are
/// passed over, as are those with more documents to compute than `room`.
__global__ __launch_bounds__(rescore_threads) void rescore_kernel(
    rows_view const rows, query_view const queries, handed_view const handed, results_view const to,
    std::uint32_t k, bool inner_product, bool l2, std::uint32_t room) {
  extern __shared__ uint4 shared[];
  auto* const kept = reinterpret_cast<sparse_candidate*>(shared);  // [room]
  __shared__ kth_largest<rescore_threads> kth;
  __shared__ std::uint32_t query_term[shared_terms];
  __shared__ std::uint32_t kept_count, taken;
  std::uint32_t const q = blockIdx.x;
  std::uint32_t const handed_on = handed.count[q];
  std::uint32_t const error = queries.error[q];
  if (to.answered[q] != 0 || handed_on > handed.capacity || error == not_served) return;
  handed_document const* const near = handed.document + std::size_t{q} * handed.capacity;
  // What the tiles together know of the k-th best.
  std::uint32_t cut = not_below(handed.best[q], error);
  if (handed_on >= k)
    cut = max(cut, not_below(kth(k,
                                 [&](auto const& work) {
                                   for (std::uint32_t i = threadIdx.x; i < handed_on;
                                        i += rescore_threads)
                                     work(near[i].sum);
                                 }),
                             error));
  if (threadIdx.x == 0) {
    kept_count = 0;
    taken = 0;
  }
  auto const terms = static_cast<std::uint32_t>(queries.begin[q + 1] - queries.begin[q]);
  std::uint64_t const at = queries.begin[q];
  std::uint32_t const* term = queries.term + at;
  if (terms <= shared_terms) {
    for (std::uint32_t i = threadIdx.x; i < terms; i += rescore_threads) query_term[i] = term[i];
    term = query_term;
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < handed_on; i += rescore_threads) {
    if (near[i].sum < cut) continue;
    std::uint32_t const place = atomicAdd(&kept_count, 1U);
    if (place < room) kept[place] = {0, near[i].document};
  }
  __syncthreads();
  if (kept_count > room) return;
  std::uint32_t const lane = threadIdx.x % 32;
  double const norm = queries.norm[q];
  term_weights const query{term, queries.weight + at, terms};
  for (std::uint32_t c = threadIdx.x / 32; c < kept_count;) {
    std::uint32_t const document = kept[c].id;
    std::uint64_t const row_begin = rows.begin[document] - rows.begin[0];
    term_weights const row{
        rows.term + row_begin, rows.weight + row_begin,
        static_cast<std::uint32_t>(rows.begin[document + 1] - rows.begin[document])};
    // A document's terms come side by side, those of a query are at hand; unless they are far
    // fewer.
    double const sum = row.size / 8 > terms ? sum_of_common(query, row) : sum_of_common(row, query);
    if (lane == 0) {
      kept[c].value = inner_product ? sum : cosine_of(sum, norm, rows.norms[document], l2);
      c = rescore_threads / 32 + atomicAdd(&taken, 1U);
    }
    c = __shfl_sync(~0U, c, 0);
  }
  __syncthreads();
  std::uint32_t const count = kept_count;
  std::uint32_t size = 2;
  while (size < count) size *= 2;
  for (std::uint32_t i = count + threadIdx.x; i < size; i += rescore_threads) kept[i] = {-1, ~0U};
  __syncthreads();
  nearer_document const is_nearer;
  // A bitonic sort (Batcher 1968).
  for (std::uint32_t width = 2; width <= size; width *= 2)
    for (std::uint32_t step = width / 2; step > 0; step /= 2) {
      for (std::uint32_t i = threadIdx.x; i < size; i += rescore_threads) {
        std::uint32_t const other = i ^ step;
        if (other <= i) continue;
        bool const ascending = (i & width) == 0;
        sparse_candidate const a = kept[i];
        sparse_candidate const b = kept[other];
        if (is_nearer(b, a) == ascending && (is_nearer(a, b) || is_nearer(b, a))) {
          kept[i] = b;
          kept[other] = a;
        }
      }
      __syncthreads();
    }
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

/// Where the arrays of a batch are in one piece of memory. The host's has what a device begins with
/// or what it has found, which one call copies each.
class batch_layout {
 public:
  batch_layout() = default;
  batch_layout(std::size_t queries, std::size_t entries, std::size_t k)
      : begin_(add<std::uint64_t>(queries + 1)),
        norm_(add<double>(queries)),
        error_(add<std::uint32_t>(queries)),
        weight_(add<double>(entries)),
        term_(add<std::uint32_t>(entries)),
        best_(add<std::uint32_t>(queries)),
        handed_on_(add<std::uint32_t>(queries)),
        counts_(add<unsigned long long>(2)),
        answered_(add<std::uint32_t>(queries)),
        documents_(add<std::uint32_t>(queries * k)),
        scores_(add<double>(queries * k)) {}

  query_view queries(std::byte* piece) const {
    return {at<std::uint64_t>(piece, begin_), at<std::uint32_t>(piece, term_),
            at<double>(piece, weight_), at<double>(piece, norm_), at<std::uint32_t>(piece, error_)};
  }
  handed_view handed(std::byte* piece, handed_document* documents, std::uint32_t capacity) const {
    return {at<std::uint32_t>(piece, best_), at<std::uint32_t>(piece, handed_on_), documents,
            capacity};
  }
  results_view results(std::byte* piece) const {
    auto* const counts = at<unsigned long long>(piece, counts_);
    return {at<double>(piece, scores_), at<std::uint32_t>(piece, documents_),
            at<std::uint32_t>(piece, answered_), counts, counts + 1};
  }

  std::size_t bytes() const noexcept { return bytes_; }
  /// A batch begins with the queries and then zeros,
  share zeros() const noexcept { return {best_, documents_}; }
  share start() const noexcept { return {0, documents_}; }
  /// and these are found.
  share found() const noexcept { return {counts_, bytes_}; }

 private:
  template <class T>
  std::size_t add(std::size_t n) {
    return std::exchange(bytes_, round_up(bytes_ + n * sizeof(T), alignment));
  }
  template <class T>
  static T* at(std::byte* piece, std::size_t offset) {
    return reinterpret_cast<T*>(piece + offset);
  }
  std::size_t bytes_ = 0;
  std::size_t begin_ = 0, norm_ = 0, error_ = 0, weight_ = 0, term_ = 0;
  std::size_t best_ = 0, handed_on_ = 0, counts_ = 0, answered_ = 0, documents_ = 0, scores_ = 0;
};

/// A batch of queries in host memory that devices copy at full speed.
class staged_batch {
 public:
  /// Makes room for some of the rows; then each of them is put, by any thread.
  void stage(sparse_rows const& rows, share const& of, std::size_t k) {
    of_ = of;
    first_entry_ = rows.begin[of.begin];
    layout_ = {of.size(), rows.begin[of.end] - first_entry_, k};
    piece_.reserve(std::bit_ceil(layout_.start().size()));
    std::memset(piece_.data() + layout_.zeros().begin, 0, layout_.zeros().size());
    view_ = layout_.queries(piece_.data());
    view_.begin[0] = 0;
  }
  void put(sparse_rows const& rows, std::size_t q, double norm, std::uint32_t error) {
    std::size_t const i = q - of_.begin;
    sparse_row const row = rows[q];
    std::uint64_t const begin = rows.begin[q] - first_entry_;
    view_.begin[i + 1] = begin + row.size();
    view_.norm[i] = norm;
    view_.error[i] = error;
    std::copy(row.term.begin(), row.term.end(), view_.term + begin);
    std::copy(row.weight.begin(), row.weight.end(), view_.weight + begin);
  }
  share const& of() const noexcept { return of_; }
  batch_layout const& layout() const noexcept { return layout_; }
  std::byte const* piece() const noexcept { return piece_.data(); }

 private:
  share of_;
  std::uint64_t first_entry_ = 0;
  batch_layout layout_;
  query_view view_{};
  pinned_buffer<std::byte> piece_;
};

/// A batch on a device, and what is found for it, there and on the host.
class query_batch {
 public:
  query_batch(std::size_t queries, std::size_t k, std::size_t capacity)
      : capacity_(static_cast<std::uint32_t>(capacity)), handed_(queries * capacity) {
    make_room(batch_layout(queries, 0, k));
  }

  void start(staged_batch const& from, cudaStream_t on) {
    layout_ = from.layout();
    make_room(layout_);
    check_cuda(cudaMemcpyAsync(piece_.data(), from.piece(), layout_.start().size(),
                               cudaMemcpyHostToDevice, on));
  }
  query_view queries() { return layout_.queries(piece_.data()); }
  handed_view handed() { return layout_.handed(piece_.data(), handed_.data(), capacity_); }
  results_view results() { return layout_.results(piece_.data()); }

  /// Waits for what was found; it holds until the next batch.
  void fetch(cudaStream_t on) {
    share const found = layout_.found();
    check_cuda(cudaMemcpyAsync(on_host_.data() + found.begin, piece_.data() + found.begin,
                               found.size(), cudaMemcpyDeviceToHost, on));
    check_cuda(cudaStreamSynchronize(on));
  }
  results_view found() { return layout_.results(on_host_.data()); }

 private:
  void make_room(batch_layout const& layout) {
    if (layout.bytes() <= std::min(piece_.size(), on_host_.size())) return;
    std::size_t const room = std::bit_ceil(layout.bytes());
    piece_.reserve(room);
    on_host_.reserve(room);
    // What is found is copied whole, also where a query has found fewer documents.
    piece_.fill_bytes(0);
    check_cuda(cudaStreamSynchronize(nullptr));
  }
  std::uint32_t capacity_;
  batch_layout layout_;
  device_buffer<std::byte> piece_;
  device_buffer<handed_document> handed_;
  pinned_buffer<std::byte> on_host_;
};

/// Whole tiles of the index.
struct index_part {
  share tiles;
  share documents;
};

/// A part of the index in a device's memory.
class part_on_device {
 public:
  part_on_device(sparse_index const& index, tile_index const& tiles, index_part const& part)
      : part_(part), terms_(index.terms()) {
    sparse_rows const rows = index.documents();
    std::uint64_t const row_begin = rows.begin[part.documents.begin];
    std::uint64_t const row_size = rows.begin[part.documents.end] - row_begin;
    tile_base_ = copied(tiles.base().subspan(part.tiles.begin, part.tiles.size()));
    tile_begin_ = copied(tiles.begin().subspan(part.tiles.begin * (std::size_t{terms_} + 1),
                                               part.tiles.size() * (std::size_t{terms_} + 1)));
    postings_ = copied(tiles.postings_of(part.tiles.begin, part.tiles.end));
    row_begin_ = copied(rows.begin.subspan(part.documents.begin, part.documents.size() + 1));
    row_term_ = copied(rows.term.subspan(row_begin, row_size));
    row_weight_ = copied(rows.weight.subspan(row_begin, row_size));
    norms_ = copied(index.norms().subspan(part.documents.begin, part.documents.size()));
  }
  static std::size_t bytes(sparse_index const& index, tile_index const& tiles,
                           index_part const& part) {
    sparse_rows const rows = index.documents();
    std::uint64_t const row_size =
        rows.begin[part.documents.end] - rows.begin[part.documents.begin];
    return part.tiles.size() * (8 + 4 * (std::size_t{index.terms()} + 1)) +
           tiles.postings_of(part.tiles.begin, part.tiles.end).size_bytes() +
           part.documents.size() * 16 + 8 + row_size * 12;
  }

  std::uint32_t first_document() const { return static_cast<std::uint32_t>(part_.documents.begin); }
  std::uint32_t tiles() const { return static_cast<std::uint32_t>(part_.tiles.size()); }
  tiles_view view(std::uint32_t tile_size) const {
    return {tile_base_.data(),
            tile_begin_.data(),
            postings_.data(),
            terms_,
            static_cast<std::uint32_t>(part_.documents.size()),
            tile_size};
  }
  rows_view rows() const {
    return {row_begin_.data(), row_term_.data(), row_weight_.data(), norms_.data()};
  }

 private:
  template <class T>
  static device_buffer<T> copied(std::span<T const> from) {
    return device_buffer<T>(from);
  }
  index_part part_;
  std::uint32_t terms_;
  device_buffer<std::uint64_t> tile_base_, row_begin_;
  device_buffer<std::uint32_t> tile_begin_, row_term_;
  device_buffer<tile_posting> postings_;
  device_buffer<double> row_weight_, norms_;
};

class tiles_on_gpus final : public sparse_search_engine {
 public:
  tiles_on_gpus(context const& ctx, sparse_index const& index, sparse_search_options const& options,
                std::size_t device_bytes)
      : index_(index), options_(options), devices_(ctx.devices), on_device_(devices_) {
    // What blocks of every device have room for.
    std::size_t sums = largest_tile;
    std::size_t kept = most_rescored;
    std::mutex least;
    threads_.run([&](std::size_t) {
      std::size_t const sums_here =
          std::min(allow_all_shared_memory(sum_kernel<1>), allow_all_shared_memory(sum_kernel<2>)) /
          sizeof(std::uint32_t);
      std::size_t const kept_here =
          allow_all_shared_memory(rescore_kernel) / sizeof(sparse_candidate);
      std::lock_guard const guard(least);
      sums = std::min(sums, sums_here);
      kept = std::min(kept, kept_here);
    });
    tile_size_ =
        static_cast<std::uint32_t>(std::min(sums / 1024 * 1024, round_up(index.size(), 1024)));
    if (kept < most_rescored) rooms_ = {few_rescored};
    if (index.size() == 0 || options.k > std::min<std::size_t>(most_neighbours, rooms_.back()) ||
        !std::ranges::all_of(index.documents().weight, serves)) {
      on_cpu_ = make_tiles_on_cpu(ctx, index, options);
      return;
    }
    zero_documents_ = zero_documents(index, options.metric);
    tiles_ = std::make_unique<tile_index>(ctx, index, options.metric, tile_size_,
                                          tile_lists::over_banks);
    k_ = std::min(options.k, index.size());
    // Each of several tiles that are added up side by side may hand on k documents and some more.
    capacity_ = std::min<std::size_t>(
        index.size(), std::max<std::size_t>(most_rescored, 2 * k_ * tiles_->tiles()));
    together_ = std::clamp<std::size_t>(handed_bytes / (capacity_ * sizeof(handed_document)), 1,
                                        most_together);
    std::size_t room = device_bytes > 0 ? device_bytes : ~std::size_t{0};
    threads_.run([&](std::size_t i) {
      on_device_.make(i, together_, k_, capacity_);
      std::size_t const free = memory_budget();
      std::lock_guard const guard(least);
      room = std::min(room, free);
    });
    cut(room);
    if (parts_.size() <= devices_.size())
      threads_.run([&](std::size_t i) {
        if (std::size_t const p = part_of(i, 0); p < parts_.size())
          on_device_[i].load(index_, *tiles_, parts_[p], p);
      });
  }

  void search(context const& ctx, sparse_rows const& queries, std::span<double const> query_norms,
              neighbours& found, sparse_search_work& done) const override {
    if (on_cpu_) return on_cpu_->search(ctx, queries, query_norms, found, done);
    std::lock_guard const one_at_a_time(devices_in_use_);
    current_device const guard(devices_[0]);
    work_on_queries work{queries, query_norms, found,
                         done,    {},          std::vector<char>(queries.size(), 0)};
    if (parts_.size() > devices_.size()) work.so_far.resize(queries.size());
    std::size_t const at_once = replicated() ? together_ * devices_.size() : together_;
    for (std::size_t first = 0; first < parts_.size(); first += devices_.size())
      for (std::size_t begin = 0; begin < queries.size(); begin += at_once) {
        ctx.check_stop();
        share const batch{begin, std::min(queries.size(), begin + at_once)};
        stage(ctx, work, batch);
        threads_.run([&](std::size_t i) { search_part(i, first); });
        take(ctx, work, batch, first);
      }
    search_open(ctx, work);
  }

 private:
  /// One device: its part of the index, and room for a batch.
  struct on_one_device {
    on_one_device(std::size_t together, std::size_t k, std::size_t capacity)
        : batch(together, k, capacity) {}
    void load(sparse_index const& index, tile_index const& tiles, index_part const& part,
              std::size_t number) {
      if (held && held_number == number) return;
      held.reset();
      held.emplace(index, tiles, part);
      held_number = number;
    }
    staged_batch staged;
    query_batch batch;
    std::optional<part_on_device> held;
    std::size_t held_number = 0;
    stream work;
  };

  /// A call's queries, and what the parts have found for them so far.
  struct work_on_queries {
    sparse_rows const& queries;
    std::span<double const> norms;
    neighbours& found;
    sparse_search_work& done;
    std::vector<std::vector<sparse_candidate>> so_far;  // [queries], where parts are loaded in turn
    std::vector<char> open;                             // [queries] left to the CPU
  };

  /// The most that a query's sums may be off, or not_served.
  static std::uint32_t error_of(tile_index const& tiles, sparse_row const& query, double norm) {
    query_integers const integers = integers_of(tiles, query, norm);
    return integers.serve ? static_cast<std::uint32_t>(std::ceil(integers.error)) : not_served;
  }

  bool replicated() const { return parts_.size() == 1; }
  /// The part that a device searches when the round begins with part `first`; none: parts_.size().
  std::size_t part_of(std::size_t device, std::size_t first) const {
    return replicated() ? 0 : std::min(first + device, parts_.size());
  }

  /// As few parts as fit into `room` bytes each: one, or a multiple of the devices.
  void cut(std::size_t room) {
    for (std::size_t rounds = 0;; ++rounds) {
      std::size_t const count =
          std::min(std::max<std::size_t>(rounds * devices_.size(), 1), tiles_->tiles());
      parts_.clear();
      std::size_t largest = 0;
      for (std::size_t p = 0; p < count; ++p) {
        share const tiles = share_of(tiles_->tiles(), count, p);
        parts_.push_back(
            {tiles, {tiles.begin * tile_size_, std::min(tiles.end * tile_size_, index_.size())}});
        largest = std::max(largest, part_on_device::bytes(index_, *tiles_, parts_.back()));
      }
      if (largest <= room) return;
      if (count == tiles_->tiles())
        throw device_error("a tile of the index wants " + std::to_string(largest) +
                           " bytes of a GPU, and there are " + std::to_string(room));
    }
  }

  /// The queries that a device searches: its share of a batch where it holds the whole index.
  staged_batch& staged_for(std::size_t device) const {
    return on_device_[replicated() ? device : 0].staged;
  }

  /// Puts a batch where devices copy it.
  void stage(context const& ctx, work_on_queries const& work, share const& batch) const {
    std::size_t const shares = replicated() ? devices_.size() : 1;
    for (std::size_t i = 0; i < shares; ++i) {
      share const mine = share_of(batch.size(), shares, i);
      staged_for(i).stage(work.queries, {batch.begin + mine.begin, batch.begin + mine.end}, k_);
    }
    parallel_for(ctx, batch.size(), queries_a_thread(ctx, batch.size()),
                 [&](std::size_t begin, std::size_t end, int) {
                   std::size_t i = 0;
                   for (std::size_t q = batch.begin + begin; q < batch.begin + end; ++q) {
                     while (q >= staged_for(i).of().end) ++i;
                     staged_for(i).put(work.queries, q, work.norms[q],
                                       error_of(*tiles_, work.queries[q], work.norms[q]));
                   }
                 });
  }

  /// The staged queries of a device in its part, which it loads where it does not hold it.
  void search_part(std::size_t device, std::size_t first) const {
    staged_batch const& staged = staged_for(device);
    std::size_t const p = part_of(device, first);
    if (p >= parts_.size() || staged.of().size() == 0) return;
    on_one_device& here = on_device_[device];
    here.load(index_, *tiles_, parts_[p], p);
    part_on_device const& part = *here.held;
    cudaStream_t const on = here.work.get();
    auto const n = static_cast<unsigned>(staged.of().size());
    auto const k = static_cast<std::uint32_t>(k_);
    here.batch.start(staged, on);
    query_view const queries = here.batch.queries();
    results_view const results = here.batch.results();
    handed_view const handed = here.batch.handed();
    auto* const sum = tile_size_ <= small_tile ? sum_kernel<2> : sum_kernel<1>;
    sum<<<dim3(n, part.tiles()), sum_threads, tile_size_ * sizeof(std::uint32_t), on>>>(
        part.view(tile_size_), queries, query_scale(*tiles_), handed, results.postings_read, k);
    check_launch();
    // Nearly always the first leaves nothing to the second, but queries that wait for the CPU.
    for (std::uint32_t const room : rooms_) {
      if (room < k) continue;
      rescore_kernel<<<n, rescore_threads, room * sizeof(sparse_candidate), on>>>(
          part.rows(), queries, handed, results, k, options_.metric == similarity::inner_product,
          options_.metric == similarity::normalized_l2, room);
      check_launch();
      here.batch.fetch(on);
      std::uint32_t const* const answered = here.batch.found().answered;
      if (std::all_of(answered, answered + n, [](std::uint32_t of) { return of != 0; })) return;
    }
  }

  /// Takes what devices have found for a batch in the parts from `first` on; after the last ones
  /// these are the neighbours.
  void take(context const& ctx, work_on_queries& work, share const& batch,
            std::size_t first) const {
    bool const last = first + devices_.size() >= parts_.size();
    struct finding {
      share queries;
      results_view results;
      std::uint32_t first_document;
    };
    std::vector<finding> findings;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      share const& of = staged_for(i).of();
      if (of.size() == 0 || part_of(i, first) == parts_.size()) continue;
      findings.push_back({of, on_device_[i].batch.found(), on_device_[i].held->first_document()});
      work.done.rescored += *findings.back().results.rescored;
      work.done.postings_read += *findings.back().results.postings_read;
    }
    parallel_for(ctx, batch.size(), queries_a_thread(ctx, batch.size()),
                 [&](std::size_t begin, std::size_t end, int) {
                   std::vector<sparse_candidate> nearest;
                   for (std::size_t q = batch.begin + begin; q < batch.begin + end; ++q) {
                     nearest.clear();
                     if (first > 0) nearest.swap(work.so_far[q]);
                     for (finding const& one : findings) {
                       if (q < one.queries.begin || q >= one.queries.end) continue;
                       std::size_t const i = q - one.queries.begin;
                       if (one.results.answered[i] == 0)
                         work.open[q] = 1;
                       else
                         merge(nearest, one.results, i, one.first_document);
                     }
                     if (!last)
                       work.so_far[q].swap(nearest);
                     else if (work.open[q] == 0)
                       write(work, q, completed(nearest));
                   }
                 });
  }

  /// What a part has found for the i-th query of its batch among the nearest so far.
  void merge(std::vector<sparse_candidate>& nearest, results_view const& results, std::size_t i,
             std::uint32_t first_document) const {
    auto const before = static_cast<std::ptrdiff_t>(nearest.size());
    for (std::size_t j = i * k_; j < i * k_ + results.answered[i] - 1; ++j)
      nearest.push_back({results.scores[j], first_document + results.documents[j]});
    std::inplace_merge(nearest.begin(), nearest.begin() + before, nearest.end(), nearer_document{});
    if (nearest.size() > k_) nearest.resize(k_);
  }

  /// The nearest of those that share a term with a query, and the others that fill up the k.
  std::vector<sparse_candidate> const& completed(std::vector<sparse_candidate>& nearest) const {
    for (std::uint32_t const d : zero_documents_) nearest.push_back({0.5, d});
    if (!zero_documents_.empty()) std::sort(nearest.begin(), nearest.end(), nearer_document{});
    if (nearest.size() > k_) nearest.resize(k_);
    fill_up(nearest, k_);
    return nearest;
  }
  void write(work_on_queries const& work, std::size_t q,
             std::vector<sparse_candidate> const& nearest) const {
    for (std::size_t i = 0; i < k_; ++i) {
      work.found.id[q * k_ + i] = nearest[i].id;
      work.found.value[q * k_ + i] = nearest[i].value;
    }
  }

  /// What is left for the CPU.
  void search_open(context const& ctx, work_on_queries& work) const {
    std::vector<std::size_t> open;
    for (std::size_t q = 0; q < work.queries.size(); ++q)
      if (work.open[q] != 0) open.push_back(q);
    std::vector<std::vector<double>> sums(
        open.empty() ? 0 : static_cast<std::size_t>(ctx.thread_count()));
    parallel_for(ctx, open.size(), 1, [&](std::size_t i, std::size_t, int thread) {
      std::size_t const q = open[i];
      std::vector<sparse_candidate> nearest;
      search_all(index_, options_.metric, work.queries[q], work.norms[q], k_,
                 sums[static_cast<std::size_t>(thread)], nearest);
      write(work, q, nearest);
    });
    work.done.rescored += open.size() * index_.size();
  }

  sparse_index const& index_;
  sparse_search_options options_;
  std::vector<int> devices_;
  mutable device_threads threads_{devices_};
  std::unique_ptr<tile_index> tiles_;
  std::vector<std::uint32_t> zero_documents_;
  std::uint32_t tile_size_ = 0;
  std::vector<std::uint32_t> rooms_{few_rescored, most_rescored};  // that blocks have
  std::size_t k_ = 0;
  std::size_t capacity_ = 0;  // documents that the tiles of a query may hand on
  std::size_t together_ = 1;  // queries of a batch
  std::vector<index_part> parts_;
  mutable per_device<on_one_device> on_device_;
  mutable std::mutex devices_in_use_;
  std::unique_ptr<sparse_search_engine> on_cpu_;  // where the device's kernels do not serve
};

}  // namespace

std::unique_ptr<sparse_search_engine> make_tiles_on_gpus(context const& ctx,
                                                         sparse_index const& index,
                                                         sparse_search_options const& options,
                                                         std::size_t device_bytes) {
  return std::make_unique<tiles_on_gpus>(ctx, index, options, device_bytes);
}

}  // namespace rulerank::knn
