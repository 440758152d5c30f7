#include "core/error.hpp"
#include "core/for_each_device.hpp"
#include "core/parallel.hpp"
#include "core/shared_memory.hpp"
#include "core/stream.hpp"
#include "knn/sparse/similarity_math.hpp"
#include "knn/sparse/tile_query.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

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
namespace rulerank::knn {

namespace {

/// Documents of a tile: their sums fill most of a multiprocessor's shared memory.
constexpr std::uint32_t largest_tile = 48 * 1024;
constexpr std::uint32_t sum_threads = 1024;
constexpr std::uint32_t rescore_threads = 256;
/// Lists are read in runs of so many postings, a warp each.
constexpr std::uint32_t loads_a_run = 4;
constexpr std::uint32_t run_length = 32 * postings_a_lane * loads_a_run;
/// Terms of a query whose lists are looked up together.
constexpr std::uint32_t terms_together = 256;
/// Documents of a tile that may be near are listed, as long as they are no more than this.
constexpr std::uint32_t most_listed = 2048;
/// Terms of a query that are kept in shared memory while documents are computed exactly.
constexpr std::uint32_t shared_terms = 512;
/// More neighbours than this are found on the CPU.
constexpr std::size_t most_neighbours = 4096;
/// Documents of a query computed exactly: as many as blocks with little shared memory sort, or
/// else as many as those with most of it. Where there are more, the CPU answers the query.
constexpr std::uint32_t few_rescored = 1024;
constexpr std::uint32_t most_rescored = 8192;
static_assert(most_neighbours <= most_rescored);
constexpr std::size_t most_together = 2048;                 // queries
constexpr std::size_t handed_bytes = std::size_t{1} << 28;  // of a batch
/// Marks a query that integers do not serve, and one whose neighbours have not been found.
constexpr std::uint32_t not_served = ~0U;
constexpr std::uint32_t not_found = ~0U;

/// A document that a tile hands on.
struct handed_document {
  std::uint32_t document;
  std::uint32_t sum;
};

struct device_candidate {
  double score;
  std::uint32_t document;
};
static_assert(sizeof(device_candidate) == 16);

/// A batch of queries on the device.
struct query_view {
  std::uint64_t const* begin;  ///< [queries + 1] into the two below, from begin[0]
  std::uint32_t const* term;   ///< ascending
  double const* weight;
  double const* norm;          ///< [queries]
  std::uint32_t const* error;  ///< [queries] of a sum, at most; or not_served
  double scale;                ///< the integer of a weight of 1 over the norm
};

struct tiles_view {
  std::uint64_t const* base;  ///< [tiles] into the postings of the whole index
  std::uint32_t const* begin;
  tile_posting const* postings;
  std::uint32_t terms;
  std::uint32_t documents;
  std::uint32_t tile_size;
};

struct results_view {
  std::uint32_t* best;       ///< [queries] the k-th best sum is at least this
  std::uint32_t* handed_on;  ///< [queries] how many documents
  handed_document* handed;   ///< [queries][capacity]
  std::uint32_t capacity;
  unsigned long long* postings_read;
  unsigned long long* rescored;
  std::uint32_t* found;      ///< [queries] how many of the k share a term; or not_found
  std::uint32_t* documents;  ///< [queries][k] by their place in the part, in order
  double* scores;            ///< [queries][k]
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

/// Block (query, tile), queries first.
__global__ __launch_bounds__(sum_threads,
                             1) void sum_kernel(tiles_view const tiles, query_view const queries,
                                                results_view const to, std::uint32_t k) {
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
  std::uint64_t const terms_end = queries.begin[q + 1] - queries.begin[0];
  double const norm = queries.norm[q];
  for (std::uint64_t t0 = queries.begin[q] - queries.begin[0]; t0 < terms_end;
       t0 += terms_together) {
    auto const terms =
        static_cast<std::uint32_t>(min(std::uint64_t{terms_together}, terms_end - t0));
    std::uint32_t runs = 0;
    if (threadIdx.x < terms) {
      std::uint32_t const term = queries.term[t0 + threadIdx.x];
      std::uint32_t const from = begin[term];
      std::uint32_t const size = begin[term + 1] - from;
      lists[threadIdx.x] = {from, size,
                            integer_weight(queries.weight[t0 + threadIdx.x], norm, queries.scale)};
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
    atomicAdd(to.postings_read, postings_read);
    shared_best = *static_cast<std::uint32_t volatile*>(to.best + q);
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
    if (threadIdx.x == 0) atomicMax(to.best + q, best);
    least = max(least, not_below(best, error));
  }
  handed_document* const out = to.handed + std::size_t{q} * to.capacity;
  each_near([&](std::uint32_t place) {
    if (sums[place] < least) return;
    std::uint32_t const at = atomicAdd(to.handed_on + q, 1U);
    if (at < to.capacity) out[at] = {first + place, sums[place]};
  });
}

/// The documents of a part: `begin` counts from the first of the whole index.
struct rows_view {
  std::uint64_t const* begin;
  std::uint32_t const* term;
  double const* weight;
  double const* norms;
};

/// Larger scores first, equal ones in id order.
__device__ bool nearer(device_candidate const& a, device_candidate const& b) {
  return a.score != b.score ? a.score > b.score : a.document < b.document;
}

/// A block a query: exact similarities, the k nearest in order. Queries whose neighbours are found
/// are passed over, as are those with more documents to compute than `room`.
__global__ __launch_bounds__(rescore_threads) void rescore_kernel(
    rows_view const rows, query_view const queries, results_view const to, std::uint32_t k,
    bool inner_product, bool l2, std::uint32_t room) {
  extern __shared__ uint4 shared[];
  auto* const kept = reinterpret_cast<device_candidate*>(shared);  // [room]
  __shared__ kth_largest<rescore_threads> kth;
  __shared__ std::uint32_t query_term[shared_terms];
  __shared__ double query_weight[shared_terms];
  __shared__ std::uint32_t kept_count;
  std::uint32_t const q = blockIdx.x;
  std::uint32_t const handed_on = to.handed_on[q];
  std::uint32_t const error = queries.error[q];
  if (to.found[q] != not_found || handed_on > to.capacity || error == not_served) return;
  handed_document const* const handed = to.handed + std::size_t{q} * to.capacity;
  // What the tiles together know of the k-th best.
  std::uint32_t cut = not_below(to.best[q], error);
  if (handed_on >= k)
    cut = max(cut, not_below(kth(k,
                                 [&](auto const& work) {
                                   for (std::uint32_t i = threadIdx.x; i < handed_on;
                                        i += rescore_threads)
                                     work(handed[i].sum);
                                 }),
                             error));
  if (threadIdx.x == 0) kept_count = 0;
  auto const terms = static_cast<std::uint32_t>(queries.begin[q + 1] - queries.begin[q]);
  std::uint64_t const at = queries.begin[q] - queries.begin[0];
  std::uint32_t const* term = queries.term + at;
  double const* weight = queries.weight + at;
  if (terms <= shared_terms) {
    for (std::uint32_t i = threadIdx.x; i < terms; i += rescore_threads) {
      query_term[i] = term[i];
      query_weight[i] = weight[i];
    }
    term = query_term;
    weight = query_weight;
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < handed_on; i += rescore_threads) {
    if (handed[i].sum < cut) continue;
    std::uint32_t const place = atomicAdd(&kept_count, 1U);
    if (place < room) kept[place] = {0, handed[i].document};
  }
  __syncthreads();
  if (kept_count > room) return;
  std::uint32_t const lane = threadIdx.x % 32;
  double const norm = queries.norm[q];
  constexpr std::uint32_t together = 4;  // terms of a lane that are fetched at a time
  for (std::uint32_t c = threadIdx.x / 32; c < kept_count; c += rescore_threads / 32) {
    std::uint32_t const document = kept[c].document;
    double sum = 0;  // the same in all lanes
    std::uint64_t const end = rows.begin[document + 1] - rows.begin[0];
    for (std::uint64_t i0 = rows.begin[document] - rows.begin[0]; i0 < end; i0 += 32 * together) {
      std::uint32_t row_term[together];
      double product[together];
#pragma unroll
      for (std::uint32_t j = 0; j < together; ++j) {
        std::uint64_t const i = i0 + j * 32 + lane;
        row_term[j] = i < end ? rows.term[i] : ~0U;
        product[j] = i < end ? rows.weight[i] : 0;
      }
#pragma unroll
      for (std::uint32_t j = 0; j < together; ++j) {
        std::uint32_t low = 0;
        for (std::uint32_t high = terms; low < high;) {
          std::uint32_t const middle = (low + high) / 2;
          if (term[middle] < row_term[j])
            low = middle + 1;
          else
            high = middle;
        }
        bool const common = low < terms && term[low] == row_term[j];
        if (common) product[j] = __dmul_rn(weight[low], product[j]);
        for (std::uint32_t left = __ballot_sync(~0U, common); left != 0; left &= left - 1)
          sum = __dadd_rn(sum, __shfl_sync(~0U, product[j], __ffs(static_cast<int>(left)) - 1));
      }
    }
    if (lane == 0)
      kept[c].score = inner_product ? sum : cosine_of(sum, norm, rows.norms[document], l2);
  }
  __syncthreads();
  std::uint32_t const count = kept_count;
  std::uint32_t size = 2;
  while (size < count) size *= 2;
  for (std::uint32_t i = count + threadIdx.x; i < size; i += rescore_threads) kept[i] = {-1, ~0U};
  __syncthreads();
  // A bitonic sort (Batcher 1968).
  for (std::uint32_t width = 2; width <= size; width *= 2)
    for (std::uint32_t step = width / 2; step > 0; step /= 2) {
      for (std::uint32_t i = threadIdx.x; i < size; i += rescore_threads) {
        std::uint32_t const other = i ^ step;
        if (other <= i) continue;
        bool const ascending = (i & width) == 0;
        device_candidate const a = kept[i];
        device_candidate const b = kept[other];
        if (nearer(b, a) == ascending && (nearer(a, b) || nearer(b, a))) {
          kept[i] = b;
          kept[other] = a;
        }
      }
      __syncthreads();
    }
  std::uint32_t const here = min(count, k);
  for (std::uint32_t i = threadIdx.x; i < here; i += rescore_threads) {
    to.documents[std::size_t{q} * k + i] = kept[i].document;
    to.scores[std::size_t{q} * k + i] = kept[i].score;
  }
  if (threadIdx.x == 0) {
    to.found[q] = here;
    atomicAdd(to.rescored, static_cast<unsigned long long>(count));
  }
}

/// A batch of queries on the device, and what is found for them, there and on the host.
class query_batch {
 public:
  query_batch(std::size_t queries, std::size_t k, std::size_t capacity)
      : capacity_(static_cast<std::uint32_t>(capacity)),
        best_(queries),
        handed_on_(queries),
        found_(queries),
        documents_(queries * k),
        scores_(queries * k),
        counts_(2),
        handed_(queries * capacity),
        found_on_host_(queries),
        documents_on_host_(queries * k),
        scores_on_host_(queries * k),
        counts_on_host_(2) {
    // They are copied whole, also where a query has found fewer documents.
    documents_.fill_bytes(0);
    scores_.fill_bytes(0);
    check_cuda(cudaStreamSynchronize(nullptr));
  }

  query_view put(sparse_rows const& rows, std::span<double const> norms,
                 std::span<std::uint32_t const> errors, double scale, share const& of,
                 cudaStream_t on) {
    share const terms{rows.begin[of.begin], rows.begin[of.end]};
    return {put(begin_, rows.begin, {of.begin, of.end + 1}, on),
            put(term_, rows.term, terms, on),
            put(weight_, rows.weight, terms, on),
            put(norm_, norms, of, on),
            put(error_, errors, of, on),
            scale};
  }
  results_view start(cudaStream_t on) {
    best_.fill_bytes(0, on);
    handed_on_.fill_bytes(0, on);
    counts_.fill_bytes(0, on);
    found_.fill_bytes(0xff, on);
    return {best_.data(),   handed_on_.data(), handed_.data(),    capacity_,     counts_.data() + 1,
            counts_.data(), found_.data(),     documents_.data(), scores_.data()};
  }
  /// Waits for what was found for n queries; the pointers hold until the next batch.
  struct found_on_host {
    std::uint32_t const* found;  ///< [n] how many documents, or not_found
    std::uint32_t const* documents;
    double const* scores;
    std::uint64_t rescored, postings_read;
  };
  found_on_host finish(std::size_t n, std::size_t k, cudaStream_t on) {
    get(found_on_host_, found_, n, on);
    get(documents_on_host_, documents_, n * k, on);
    get(scores_on_host_, scores_, n * k, on);
    get(counts_on_host_, counts_, 2, on);
    check_cuda(cudaStreamSynchronize(on));
    return {found_on_host_.data(), documents_on_host_.data(), scores_on_host_.data(),
            counts_on_host_[0], counts_on_host_[1]};
  }

 private:
  template <class T>
  static T const* put(device_buffer<T>& to, std::span<T const> from, share const& of,
                      cudaStream_t on) {
    to.reserve(of.size());
    if (of.size() > 0)
      check_cuda(cudaMemcpyAsync(to.data(), from.data() + of.begin, of.size() * sizeof(T),
                                 cudaMemcpyHostToDevice, on));
    return to.data();
  }
  template <class T>
  static void get(pinned_buffer<T>& to, device_buffer<T> const& from, std::size_t n,
                  cudaStream_t on) {
    check_cuda(cudaMemcpyAsync(to.data(), from.data(), n * sizeof(T), cudaMemcpyDeviceToHost, on));
  }
  std::uint32_t capacity_;
  device_buffer<std::uint64_t> begin_;
  device_buffer<std::uint32_t> term_, error_;
  device_buffer<double> weight_, norm_;
  device_buffer<std::uint32_t> best_, handed_on_, found_, documents_;
  device_buffer<double> scores_;
  device_buffer<unsigned long long> counts_;  // rescored, postings read
  device_buffer<handed_document> handed_;
  pinned_buffer<std::uint32_t> found_on_host_, documents_on_host_;
  pinned_buffer<double> scores_on_host_;
  pinned_buffer<unsigned long long> counts_on_host_;
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

/// The nearest of each query, as parts find them, and what that took.
class merged_lists {
 public:
  merged_lists(std::size_t queries, std::size_t k)
      : k_(k), lists_(queries * k), size_(queries, 0), open_(queries, 0) {}

  /// Adds what a part has for a batch of queries; from any thread.
  void merge(share const& queries, std::uint32_t first_document,
             query_batch::found_on_host const& more) {
    std::lock_guard const guard(mutex_);
    rescored += more.rescored;
    postings_read += more.postings_read;
    std::vector<candidate> merged;
    for (std::size_t q = queries.begin; q < queries.end; ++q) {
      std::size_t const b = q - queries.begin;
      if (more.found[b] == not_found) {
        open_[q] = 1;
        continue;
      }
      candidate const* had = lists_.data() + q * k_;
      candidate const* const end = had + size_[q];
      merged.clear();
      for (std::size_t i = b * k_; i < b * k_ + more.found[b];) {
        candidate const next{more.scores[i], first_document + more.documents[i]};
        if (had != end && *had < next) {
          merged.push_back(*had++);
        } else {
          merged.push_back(next);
          ++i;
        }
      }
      merged.insert(merged.end(), had, end);
      size_[q] = static_cast<std::uint32_t>(std::min(merged.size(), k_));
      std::copy_n(merged.begin(), size_[q], lists_.data() + q * k_);
    }
  }
  /// Whether a query is left to the CPU.
  bool is_open(std::size_t q) const { return open_[q] != 0; }
  std::span<candidate const> operator[](std::size_t q) const {
    return {lists_.data() + q * k_, size_[q]};
  }
  std::uint64_t rescored = 0;
  std::uint64_t postings_read = 0;

 private:
  std::size_t k_;
  std::vector<candidate> lists_;  // [queries][k]
  std::vector<std::uint32_t> size_;
  std::vector<char> open_;
  std::mutex mutex_;
};

class tiles_on_gpus final : public sparse_search_engine {
 public:
  tiles_on_gpus(context const& ctx, sparse_index const& index, sparse_search_options const& options)
      : index_(index), options_(options), devices_(ctx.devices), places_(ctx.devices.size()) {
    if (index.size() == 0 || options.k > most_neighbours ||
        !std::ranges::all_of(index.documents().weight, serves)) {
      on_cpu_ = make_tiles_on_cpu(ctx, index, options);
      return;
    }
    zero_documents_ = zero_documents(index, options.metric);
    std::mutex least;
    threads_.run([&](std::size_t) {
      std::size_t const sums = allow_all_shared_memory(sum_kernel) / sizeof(std::uint32_t);
      std::size_t const kept = allow_all_shared_memory(rescore_kernel) / sizeof(device_candidate);
      std::lock_guard const guard(least);
      tile_size_ = std::min(tile_size_, static_cast<std::uint32_t>(sums / 1024 * 1024));
      kept_ = std::min(kept_, kept);
    });
    tiles_ = std::make_unique<tile_index>(ctx, index, options.metric, tile_size_,
                                          tile_lists::over_banks);
    k_ = std::min(options.k, index.size());
    // Each of several tiles that are added up side by side may hand on k documents and some more.
    capacity_ = std::min<std::size_t>(
        index.size(), std::max<std::size_t>(most_rescored, 2 * k_ * tiles_->tiles()));
    together_ = std::clamp<std::size_t>(handed_bytes / (capacity_ * sizeof(handed_document)), 1,
                                        most_together);
    std::size_t room = options.device_bytes > 0 ? options.device_bytes : ~std::size_t{0};
    threads_.run([&](std::size_t i) {
      places_[i] = std::make_unique<device_place>(together_, k_, capacity_);
      std::size_t const free = memory_budget();
      std::lock_guard const guard(least);
      room = std::min(room, free);
    });
    cut(room);
    if (parts_.size() <= devices_.size())
      threads_.run([&](std::size_t i) {
        if (replicated())
          places_[i]->load(index_, *tiles_, parts_[0], 0);
        else if (i < parts_.size())
          places_[i]->load(index_, *tiles_, parts_[i], i);
      });
  }
  ~tiles_on_gpus() override {
    for (std::size_t i = 0; i < places_.size(); ++i)
      release_on_device(devices_[i], [&] { places_[i].reset(); });
  }

  void search(context const& ctx, sparse_rows const& queries, std::span<double const> query_norms,
              neighbours& found) const override {
    if (on_cpu_) return on_cpu_->search(ctx, queries, query_norms, found);
    std::vector<std::uint32_t> errors(queries.size());
    parallel_for(ctx, queries.size(), piece_of(ctx, queries.size()),
                 [&](std::size_t begin, std::size_t end, int) {
                   for (std::size_t q = begin; q < end; ++q)
                     errors[q] = error_of(*tiles_, queries[q], query_norms[q]);
                 });
    merged_lists lists(queries.size(), k_);
    {
      std::lock_guard const one_at_a_time(devices_in_use_);
      threads_.run([&](std::size_t i) {
        share const mine =
            replicated() ? share_of(queries.size(), devices_.size(), i) : share{0, queries.size()};
        if (mine.size() == 0) return;
        device_place& here = *places_[i];
        for (std::size_t p = replicated() ? 0 : i; p < parts_.size(); p += devices_.size()) {
          here.load(index_, *tiles_, parts_[p], p);
          for (std::size_t begin = mine.begin; begin < mine.end; begin += together_) {
            ctx.check_stop();
            share const batch{begin, std::min(mine.end, begin + together_)};
            search_batch(here, queries, query_norms, errors, batch, lists);
          }
        }
      });
    }
    finish(ctx, queries, query_norms, lists, found);
  }

 private:
  /// One device: its part of the index, and room for a batch.
  struct device_place {
    device_place(std::size_t together, std::size_t k, std::size_t capacity)
        : batch(together, k, capacity) {}
    void load(sparse_index const& index, tile_index const& tiles, index_part const& part,
              std::size_t number) {
      if (held && held_number == number) return;
      held.reset();
      held.emplace(index, tiles, part);
      held_number = number;
    }
    query_batch batch;
    std::optional<part_on_device> held;
    std::size_t held_number = 0;
    stream work;
  };

  /// The most that a query's sums may be off, or not_served.
  static std::uint32_t error_of(tile_index const& tiles, sparse_row const& query, double norm) {
    query_integers const integers = integers_of(tiles, query, norm);
    return integers.serve ? static_cast<std::uint32_t>(std::ceil(integers.error)) : not_served;
  }

  bool replicated() const { return parts_.size() == 1; }

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

  /// One batch in the part that the current device holds.
  void search_batch(device_place& here, sparse_rows const& queries,
                    std::span<double const> query_norms, std::span<std::uint32_t const> errors,
                    share const& of, merged_lists& lists) const {
    part_on_device const& part = *here.held;
    cudaStream_t const on = here.work.get();
    auto const n = static_cast<unsigned>(of.size());
    auto const k = static_cast<std::uint32_t>(k_);
    query_view const batch =
        here.batch.put(queries, query_norms, errors, query_scale(*tiles_), of, on);
    results_view const to = here.batch.start(on);
    sum_kernel<<<dim3(n, part.tiles()), sum_threads, tile_size_ * sizeof(std::uint32_t), on>>>(
        part.view(tile_size_), batch, to, k);
    check_launch();
    for (std::uint32_t const room : {few_rescored, most_rescored}) {
      if (room < k || room > kept_) continue;
      rescore_kernel<<<n, rescore_threads, room * sizeof(device_candidate), on>>>(
          part.rows(), batch, to, k, options_.metric == similarity::inner_product,
          options_.metric == similarity::l2, room);
      check_launch();
    }
    lists.merge(of, part.first_document(), here.batch.finish(n, k, on));
  }

  /// What is left for the CPU, and documents that share no term with a query.
  void finish(context const& ctx, sparse_rows const& queries, std::span<double const> query_norms,
              merged_lists const& lists, neighbours& found) const {
    auto const write = [&](std::size_t q, std::vector<candidate> const& nearest) {
      for (std::size_t i = 0; i < k_; ++i) {
        found.document[q * k_ + i] = nearest[i].document;
        found.score[q * k_ + i] = nearest[i].score;
      }
    };
    parallel_for(ctx, queries.size(), piece_of(ctx, queries.size()),
                 [&](std::size_t begin, std::size_t end, int) {
                   std::vector<candidate> nearest;
                   for (std::size_t q = begin; q < end; ++q) {
                     if (lists.is_open(q)) continue;
                     nearest.assign(lists[q].begin(), lists[q].end());
                     for (std::uint32_t const d : zero_documents_) nearest.push_back({0.5, d});
                     if (!zero_documents_.empty()) std::sort(nearest.begin(), nearest.end());
                     if (nearest.size() > k_) nearest.resize(k_);
                     fill_up(nearest, k_);
                     write(q, nearest);
                   }
                 });
    std::vector<std::size_t> open;
    for (std::size_t q = 0; q < queries.size(); ++q)
      if (lists.is_open(q)) open.push_back(q);
    std::vector<std::vector<double>> sums(
        open.empty() ? 0 : static_cast<std::size_t>(ctx.thread_count()));
    parallel_for(ctx, open.size(), 1, [&](std::size_t i, std::size_t, int thread) {
      std::size_t const q = open[i];
      std::vector<candidate> nearest;
      search_all(index_, options_.metric, queries[q], query_norms[q], k_,
                 sums[static_cast<std::size_t>(thread)], nearest);
      write(q, nearest);
    });
    found.rescored = lists.rescored + open.size() * index_.size();
    found.postings_read = lists.postings_read;
  }

  sparse_index const& index_;
  sparse_search_options options_;
  std::vector<int> devices_;
  mutable device_threads threads_{devices_};
  std::unique_ptr<tile_index> tiles_;
  std::vector<std::uint32_t> zero_documents_;
  std::uint32_t tile_size_ = largest_tile;  // or less, as shared memory allows
  std::size_t kept_ = most_rescored;        // candidates that a block's shared memory holds
  std::size_t k_ = 0;
  std::size_t capacity_ = 0;  // documents that the tiles of a query may hand on
  std::size_t together_ = 1;  // queries of a batch
  std::vector<index_part> parts_;
  std::vector<std::unique_ptr<device_place>> places_;
  mutable std::mutex devices_in_use_;
  std::unique_ptr<sparse_search_engine> on_cpu_;  // where the device's kernels do not serve
};

}  // namespace

std::unique_ptr<sparse_search_engine> make_tiles_on_gpus(context const& ctx,
                                                         sparse_index const& index,
                                                         sparse_search_options const& options) {
  return std::make_unique<tiles_on_gpus>(ctx, index, options);
}

}  // namespace rulerank::knn
