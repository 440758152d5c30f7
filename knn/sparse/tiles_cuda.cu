#include "core/aligned.hpp"
#include "core/error.hpp"
#include "core/for_each_device.hpp"
#include "core/parallel.hpp"
#include "core/shared_memory.hpp"
#include "core/stream.hpp"
#include "knn/sparse/device_index.cuh"
#include "knn/sparse/similarity_math.hpp"
#include "knn/sparse/tile_query.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

// `tiles` on GPUs (docs/modules/knn.md, "Sparse search"). A block adds up the integer sums of one
// query and one tile of documents in shared memory, and hands on the documents that may be among
// the nearest: those whose sum is not below the k-th best of any tile so far by more than sums may
// be off. Blocks of a tile come one after the other, so that its lists stay in the L2 cache, and so
// that the later tiles know what the first ones found. Then a block a query computes these
// documents exactly, a warp each, products added in the order of the terms as on the CPU, and sorts
// them.
namespace rulerank::knn {

namespace {

/// Documents of a tile: their sums fill most of a multiprocessor's shared memory.
constexpr std::uint32_t gpu_tile_size = 48 * 1024;
constexpr std::uint32_t sum_threads = 1024;
constexpr std::uint32_t rescore_threads = 256;
/// Lists are read in runs of so many postings, a warp each.
constexpr std::uint32_t run_length = 256;
/// Terms of a query whose lists are looked up together.
constexpr std::uint32_t terms_together = 256;
/// Sums are counted by their first bits, two bins a thread.
constexpr std::uint32_t bins_log = 11;
constexpr std::uint32_t bins = 1U << bins_log;
static_assert(bins == 2 * sum_threads);
/// More neighbours than this are found on the CPU.
constexpr std::size_t most_neighbours = 1024;
/// Documents handed on of a query, at most; where there are more, the CPU answers it.
constexpr std::uint32_t most_candidates = 8192;
constexpr std::size_t queries_a_batch = 2048;

struct device_candidate {
  double score;
  std::uint32_t document;
  std::uint32_t sum;
};
static_assert(sizeof(device_candidate) == 16);

/// A batch of queries on the device.
struct query_view {
  std::uint64_t const* begin;  ///< [queries + 1] into the four below
  std::uint32_t const* term;   ///< by rising document frequency
  std::uint32_t const* weight;
  std::uint32_t const* exact_term;  ///< ascending
  double const* exact_weight;
  double const* norm;          ///< [queries]
  std::uint32_t const* error;  ///< [queries] of a sum, at most
};

struct tiles_view {
  std::uint64_t const* base;
  std::uint32_t const* begin;
  tile_posting const* postings;
  std::uint32_t terms;
  std::uint32_t documents;
};

struct results_view {
  std::uint32_t* best;           ///< [queries] the k-th best sum is at least this
  std::uint32_t* handed_on;      ///< [queries] how many documents
  device_candidate* candidates;  ///< [queries][most_candidates]
};

/// Block (query, tile), queries first.
__global__ __launch_bounds__(sum_threads,
                             1) void sum_kernel(tiles_view const tiles, query_view const queries,
                                                results_view const to, std::uint32_t k) {
  extern __shared__ __align__(16) std::uint32_t sums[];  // [gpu_tile_size]
  using block_reduce = cub::BlockReduce<std::uint32_t, sum_threads>;
  using block_scan = cub::BlockScan<std::uint32_t, sum_threads>;
  __shared__ union {
    typename block_reduce::TempStorage reduce;
    typename block_scan::TempStorage scan;
  } storage;
  __shared__ std::uint32_t histogram[bins];
  __shared__ std::uint32_t list_begin[terms_together], list_size[terms_together];
  __shared__ std::uint32_t list_weight[terms_together], run_begin[terms_together + 1];
  __shared__ std::uint32_t shared_value;
  std::uint32_t const q = blockIdx.x;
  std::uint32_t const tile = blockIdx.y;
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const first = tile * gpu_tile_size;
  std::uint32_t const n = min(gpu_tile_size, tiles.documents - first);
  for (std::uint32_t i = threadIdx.x; i < (n + 3) / 4; i += sum_threads)
    reinterpret_cast<uint4*>(sums)[i] = uint4{0, 0, 0, 0};
  for (std::uint32_t i = threadIdx.x; i < bins; i += sum_threads) histogram[i] = 0;

  tile_posting const* const postings = tiles.postings + tiles.base[tile];
  std::uint32_t const* const begin = tiles.begin + tile * (std::size_t{tiles.terms} + 1);
  for (std::uint64_t t0 = queries.begin[q]; t0 < queries.begin[q + 1]; t0 += terms_together) {
    auto const terms =
        static_cast<std::uint32_t>(min(std::uint64_t{terms_together}, queries.begin[q + 1] - t0));
    std::uint32_t runs = 0;
    if (threadIdx.x < terms) {
      std::uint32_t const term = queries.term[t0 + threadIdx.x];
      std::uint32_t const from = begin[term];
      list_begin[threadIdx.x] = from;
      list_size[threadIdx.x] = begin[term + 1] - from;
      list_weight[threadIdx.x] = queries.weight[t0 + threadIdx.x];
      runs = (list_size[threadIdx.x] + run_length - 1) / run_length;
    }
    std::uint32_t before = 0;
    std::uint32_t all = 0;
    block_scan(storage.scan).ExclusiveSum(runs, before, all);
    if (threadIdx.x < terms) run_begin[threadIdx.x] = before;
    if (threadIdx.x == 0) run_begin[terms] = all;
    __syncthreads();
    for (std::uint32_t run = threadIdx.x / 32; run < all; run += sum_threads / 32) {
      std::uint32_t low = 0;  // the last list that begins at or before the run
      for (std::uint32_t high = terms; high - low > 1;) {
        std::uint32_t const middle = (low + high) / 2;
        if (run_begin[middle] <= run)
          low = middle;
        else
          high = middle;
      }
      std::uint32_t const from = (run - run_begin[low]) * run_length;
      std::uint32_t const left = list_size[low] - from;
      tile_posting const* const list = postings + list_begin[low] + from;
      std::uint32_t const weight = list_weight[low];
      tile_posting read[run_length / 32];
#pragma unroll
      for (std::uint32_t i = 0; i < run_length / 32; ++i) {
        std::uint32_t const at = i * 32 + lane;
        if (at < left) read[i] = list[at];
      }
#pragma unroll
      for (std::uint32_t i = 0; i < run_length / 32; ++i)
        if (i * 32 + lane < left) atomicAdd(sums + read[i].place, read[i].weight * weight);
    }
    __syncthreads();
  }

  // Those that may be among the nearest, as far as the tiles before tell.
  std::uint32_t const error = queries.error[q];
  auto const not_below = [&](std::uint32_t best) {
    return best > 2 * error ? max(best - 2 * error, 1U) : 1U;
  };
  if (threadIdx.x == 0) shared_value = *static_cast<std::uint32_t volatile*>(to.best + q);
  __syncthreads();
  std::uint32_t cut = not_below(shared_value);
  std::uint32_t count = 0;
  std::uint32_t largest = 0;
  for (std::uint32_t i = threadIdx.x; i < n; i += sum_threads) {
    count += sums[i] >= cut ? 1 : 0;
    largest = max(largest, sums[i]);
  }
  __syncthreads();
  count = block_reduce(storage.reduce).Sum(count);
  __syncthreads();
  largest = block_reduce(storage.reduce).Reduce(largest, [](std::uint32_t a, std::uint32_t b) {
    return max(a, b);
  });
  __shared__ std::uint32_t shared_count, shared_largest;
  if (threadIdx.x == 0) {
    shared_count = count;
    shared_largest = largest;
  }
  __syncthreads();
  if (shared_count == 0) return;
  if (shared_count >= k) {
    // The k-th best sum of this tile, to a part in 1,024 of the largest.
    int const shift =
        max(0, 32 - __clz(static_cast<int>(shared_largest)) - static_cast<int>(bins_log));
    for (std::uint32_t i = threadIdx.x; i < n; i += sum_threads)
      if (sums[i] >= cut) atomicAdd(histogram + (sums[i] >> shift), 1U);
    __syncthreads();
    // Two bins a thread, from the highest.
    std::uint32_t const high = bins - 1 - 2 * threadIdx.x;
    std::uint32_t const two = histogram[high] + histogram[high - 1];
    std::uint32_t above = 0;
    block_scan(storage.scan).ExclusiveSum(two, above);
    if (above < k && above + two >= k) {
      std::uint32_t const bin = above + histogram[high] >= k ? high : high - 1;
      shared_value = bin << shift;
    }
    __syncthreads();
    std::uint32_t const kth = max(shared_value, cut);
    if (threadIdx.x == 0) atomicMax(to.best + q, shared_value);
    cut = max(cut, not_below(kth));
  }
  device_candidate* const out = to.candidates + std::size_t{q} * most_candidates;
  for (std::uint32_t i = threadIdx.x; i < n; i += sum_threads) {
    if (sums[i] < cut) continue;
    std::uint32_t const at = atomicAdd(to.handed_on + q, 1U);
    if (at < most_candidates) out[at] = {0, first + i, sums[i]};
  }
}

struct rows_view {
  std::uint64_t const* begin;
  std::uint32_t const* term;
  double const* weight;
  double const* norms;
};

/// The smaller, the nearer; equal scores in id order.
__device__ bool nearer(device_candidate const& a, device_candidate const& b) {
  return a.score != b.score ? a.score > b.score : a.document < b.document;
}

/// A block a query: exact similarities, the k nearest in order. `found`: how many of them share a
/// term; 0xffffffff where the query is for the CPU.
__global__ __launch_bounds__(rescore_threads) void rescore_kernel(
    rows_view const rows, query_view const queries, results_view const from, std::uint32_t k,
    bool inner_product, bool l2, std::uint32_t* documents, double* scores, std::uint32_t* found,
    unsigned long long* rescored) {
  extern __shared__ uint4 shared[];
  auto* const kept = reinterpret_cast<device_candidate*>(shared);  // [most_candidates]
  __shared__ std::uint32_t kept_count;
  std::uint32_t const q = blockIdx.x;
  std::uint32_t const handed_on = from.handed_on[q];
  if (handed_on > most_candidates) {
    if (threadIdx.x == 0) found[q] = ~0U;
    return;
  }
  std::uint32_t const error = queries.error[q];
  std::uint32_t const best = from.best[q];
  std::uint32_t const cut = best > 2 * error ? best - 2 * error : 1;
  if (threadIdx.x == 0) kept_count = 0;
  __syncthreads();
  std::uint32_t const lane = threadIdx.x % 32;
  auto const terms = static_cast<std::uint32_t>(queries.begin[q + 1] - queries.begin[q]);
  std::uint32_t const* const term = queries.exact_term + queries.begin[q];
  double const* const weight = queries.exact_weight + queries.begin[q];
  double const norm = queries.norm[q];
  device_candidate const* const candidates = from.candidates + std::size_t{q} * most_candidates;
  for (std::uint32_t c = threadIdx.x / 32; c < handed_on; c += rescore_threads / 32) {
    device_candidate candidate = candidates[c];
    if (candidate.sum < cut) continue;
    double sum = 0;  // the same in all lanes
    std::uint64_t const end = rows.begin[candidate.document + 1];
    for (std::uint64_t i0 = rows.begin[candidate.document]; i0 < end; i0 += 32) {
      std::uint64_t const i = i0 + lane;
      bool common = false;
      double product = 0;
      if (i < end) {
        std::uint32_t const t = rows.term[i];
        std::uint32_t low = 0;
        for (std::uint32_t high = terms; low < high;) {
          std::uint32_t const middle = (low + high) / 2;
          if (term[middle] < t)
            low = middle + 1;
          else
            high = middle;
        }
        common = low < terms && term[low] == t;
        if (common) product = __dmul_rn(weight[low], rows.weight[i]);
      }
      for (std::uint32_t left = __ballot_sync(~0U, common); left != 0; left &= left - 1)
        sum = __dadd_rn(sum, __shfl_sync(~0U, product, __ffs(static_cast<int>(left)) - 1));
    }
    candidate.score =
        inner_product ? sum : cosine_of(sum, norm, rows.norms[candidate.document], l2);
    if (lane == 0) kept[atomicAdd(&kept_count, 1U)] = candidate;
  }
  __syncthreads();
  std::uint32_t const count = kept_count;
  std::uint32_t size = 2;
  while (size < count) size *= 2;
  for (std::uint32_t i = count + threadIdx.x; i < size; i += rescore_threads)
    kept[i] = {-1, ~0U, 0};
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
    documents[std::size_t{q} * k + i] = kept[i].document;
    scores[std::size_t{q} * k + i] = kept[i].score;
  }
  if (threadIdx.x == 0) {
    found[q] = here;
    atomicAdd(rescored, static_cast<unsigned long long>(count));
  }
}

/// A batch of queries as arrays, on the host and on a device.
struct query_batch {
  std::vector<std::uint64_t> begin{0};
  std::vector<std::uint32_t> term, weight, exact_term, error;
  std::vector<double> exact_weight, norm;
  std::vector<std::size_t> query;  // of the call's

  void add(std::size_t q, tile_query const& integers, sparse_row const& exact, double of_norm) {
    query.push_back(q);
    term.insert(term.end(), integers.term.begin(), integers.term.end());
    weight.insert(weight.end(), integers.weight.begin(), integers.weight.end());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      if (exact.weight[i] == 0) continue;  // as in `integers`
      exact_term.push_back(exact.term[i]);
      exact_weight.push_back(exact.weight[i]);
    }
    begin.push_back(term.size());
    error.push_back(static_cast<std::uint32_t>(std::ceil(integers.error)));
    norm.push_back(of_norm);
  }
};

struct device_place {
  device_buffer<std::uint64_t> tile_base, row_begin;
  device_buffer<std::uint32_t> tile_begin, row_term;
  device_buffer<tile_posting> postings;
  device_buffer<double> row_weight, norms;
  stream work;
};

template <class T>
device_buffer<T> copied(std::span<T const> from) {
  return device_buffer<T>(from);
}

class tiles_on_gpus final : public sparse_search_engine {
 public:
  tiles_on_gpus(context const& ctx, sparse_index const& index, sparse_search_options const& options)
      : index_(index), options_(options), devices_(ctx.devices), places_(ctx.devices.size()) {
    sparse_rows const rows = index.documents();
    if (index.size() == 0 || options.k > most_neighbours ||
        !std::all_of(rows.weight.begin(), rows.weight.end(), serves)) {
      on_cpu_ = make_tiles_on_cpu(ctx, index, options);
      return;
    }
    zero_documents_ = zero_documents(index, options.metric);
    tiles_ = std::make_unique<tile_index>(ctx, index, options.metric, gpu_tile_size);
    for_each_device(devices_, [&](std::size_t i) {
      check_fits(tiles_->base().size_bytes() + tiles_->begin().size_bytes() +
                     tiles_->postings().size_bytes() + rows.begin.size_bytes() +
                     rows.term.size_bytes() + rows.weight.size_bytes() +
                     index.norms().size_bytes() + queries_a_batch * most_candidates * 16,
                 "the index and a batch of queries");
      places_[i] = std::make_unique<device_place>();
      device_place& here = *places_[i];
      here.tile_base = copied(tiles_->base());
      here.tile_begin = copied(tiles_->begin());
      here.postings = copied(tiles_->postings());
      here.row_begin = copied(rows.begin);
      here.row_term = copied(rows.term);
      here.row_weight = copied(rows.weight);
      here.norms = copied(index.norms());
      allow_all_shared_memory(sum_kernel);
      allow_all_shared_memory(rescore_kernel);
    });
  }
  ~tiles_on_gpus() override {
    for (std::size_t i = 0; i < places_.size(); ++i)
      release_on_device(devices_[i], [&] { places_[i].reset(); });
  }

  void search(context const& ctx, sparse_rows const& queries, std::span<double const> query_norms,
              neighbours& found) const override {
    if (on_cpu_) return on_cpu_->search(ctx, queries, query_norms, found);
    std::atomic<std::uint64_t> rescored{0};
    for_each_device(devices_, [&](std::size_t i) {
      share const mine = share_of(queries.size(), devices_.size(), i);
      std::vector<double> sums;
      for (std::size_t begin = mine.begin; begin < mine.end; begin += queries_a_batch) {
        ctx.check_stop();
        rescored += search_batch(*places_[i], queries, query_norms,
                                 {begin, std::min(mine.end, begin + queries_a_batch)}, sums, found);
      }
    });
    found.rescored = rescored;
  }

 private:
  /// One batch on the current device; how many documents were computed exactly.
  std::uint64_t search_batch(device_place& here, sparse_rows const& queries,
                             std::span<double const> query_norms, share const& of,
                             std::vector<double>& sums, neighbours& found) const {
    std::uint64_t rescored = 0;
    query_batch batch;
    std::vector<candidate> nearest;
    for (std::size_t q = of.begin; q < of.end; ++q) {
      tile_query const integers =
          make_tile_query(index_, *tiles_, options_.metric, queries[q], query_norms[q]);
      if (integers.units == 0)
        rescored += by_all(queries[q], query_norms[q], q, sums, nearest, found);
      else
        batch.add(q, integers, queries[q], query_norms[q]);
    }
    std::size_t const n = batch.query.size();
    if (n == 0) return rescored;
    auto const k = static_cast<std::uint32_t>(found.k);
    auto const begin = copied(std::span<std::uint64_t const>(batch.begin));
    auto const term = copied(std::span<std::uint32_t const>(batch.term));
    auto const weight = copied(std::span<std::uint32_t const>(batch.weight));
    auto const exact_term = copied(std::span<std::uint32_t const>(batch.exact_term));
    auto const exact_weight = copied(std::span<double const>(batch.exact_weight));
    auto const norm = copied(std::span<double const>(batch.norm));
    auto const error = copied(std::span<std::uint32_t const>(batch.error));
    device_buffer<std::uint32_t> best(n), handed_on(n), documents(n * k), counts(n);
    device_buffer<device_candidate> candidates(n * most_candidates);
    device_buffer<double> scores(n * k);
    device_buffer<unsigned long long> computed(1);
    best.fill_bytes(0, here.work.get());
    handed_on.fill_bytes(0, here.work.get());
    computed.fill_bytes(0, here.work.get());
    query_view const view{begin.data(),        term.data(), weight.data(), exact_term.data(),
                          exact_weight.data(), norm.data(), error.data()};
    results_view const to{best.data(), handed_on.data(), candidates.data()};
    sum_kernel<<<dim3(static_cast<unsigned>(n), static_cast<unsigned>(tiles_->tiles())),
                 sum_threads, gpu_tile_size * sizeof(std::uint32_t), here.work.get()>>>(
        {here.tile_base.data(), here.tile_begin.data(), here.postings.data(), index_.terms(),
         static_cast<std::uint32_t>(index_.size())},
        view, to, k);
    check_launch();
    rescore_kernel<<<static_cast<unsigned>(n), rescore_threads,
                     most_candidates * sizeof(device_candidate), here.work.get()>>>(
        {here.row_begin.data(), here.row_term.data(), here.row_weight.data(), here.norms.data()},
        view, to, k, options_.metric == similarity::inner_product,
        options_.metric == similarity::l2, documents.data(), scores.data(), counts.data(),
        computed.data());
    check_launch();
    auto const host_counts = counts.to_host(n, here.work.get());
    auto const host_documents = documents.to_host(n * k, here.work.get());
    auto const host_scores = scores.to_host(n * k, here.work.get());
    rescored += computed.to_host(1, here.work.get()).front();
    for (std::size_t b = 0; b < n; ++b) {
      std::size_t const q = batch.query[b];
      if (host_counts[b] == ~0U) {
        rescored += by_all(queries[q], query_norms[q], q, sums, nearest, found);
        continue;
      }
      nearest.clear();
      for (std::size_t i = 0; i < host_counts[b]; ++i)
        nearest.push_back({host_scores[b * k + i], host_documents[b * k + i]});
      if (!zero_documents_.empty()) {
        for (std::uint32_t const d : zero_documents_) nearest.push_back({0.5, d});
        std::sort(nearest.begin(), nearest.end());
        if (nearest.size() > k) nearest.resize(k);
      }
      fill_up(nearest, k);
      write(nearest, q, found);
    }
    return rescored;
  }

  std::uint64_t by_all(sparse_row const& query, double norm, std::size_t q,
                       std::vector<double>& sums, std::vector<candidate>& nearest,
                       neighbours& found) const {
    search_all(index_, options_.metric, query, norm, found.k, sums, nearest);
    write(nearest, q, found);
    return index_.size();
  }

  static void write(std::vector<candidate> const& nearest, std::size_t q, neighbours& found) {
    for (std::size_t i = 0; i < found.k; ++i) {
      found.document[q * found.k + i] = nearest[i].document;
      found.score[q * found.k + i] = nearest[i].score;
    }
  }

  sparse_index const& index_;
  sparse_search_options options_;
  std::vector<int> devices_;
  std::unique_ptr<tile_index> tiles_;
  std::vector<std::uint32_t> zero_documents_;
  std::vector<std::unique_ptr<device_place>> places_;
  std::unique_ptr<sparse_search_engine> on_cpu_;  // where the device's kernels do not serve
};

}  // namespace

std::unique_ptr<sparse_search_engine> make_tiles_on_gpus(context const& ctx,
                                                         sparse_index const& index,
                                                         sparse_search_options const& options) {
  return std::make_unique<tiles_on_gpus>(ctx, index, options);
}

}  // namespace rulerank::knn
