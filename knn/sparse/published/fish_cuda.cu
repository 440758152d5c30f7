#include "core/error.hpp"
#include "core/for_each_device.hpp"
#include "core/per_device.hpp"
#include "core/stream.hpp"
#include "knn/block_sort.hpp"
#include "knn/full_sort.cuh"
#include "knn/merge_lists.hpp"
#include "knn/selection.cuh"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/published/device_index.cuh"
#include "knn/sparse/published/fish.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cub/block/block_scan.cuh>

// GT-kNN (Freitas 2017, Algorithms 8 and 9, after Canuto et al.) and FiSH-kNN (Algorithms 20 to 23)
// as published. A query's postings are added to the sums of all documents, atomically, in single
// precision. Each block of threads then selects its k nearest by a truncated bitonic sort, and a
// heap on the CPU merges the blocks' lists. `gt` allocates memory before each query and frees it
// afterwards; `fish` processes a group of queries per launch in memory that is allocated once. With
// several GPUs, each has the index, and the queries are divided.
namespace rulerank::inline v0::knn {

namespace {

// Section 5.4: both have 3 blocks of 512 threads per multiprocessor.
constexpr std::uint32_t threads = 512;
constexpr std::uint32_t blocks_a_multiprocessor = 3;

/// With more neighbours, all documents are sorted.
constexpr std::size_t largest_truncated = 1024;
/// Keys in one sort of a block.
constexpr std::uint32_t least_sorted = 1024;

/// A query's term or, before its terms, their number and its norm.
using query_cell = term_weight;

/// The view of a group of queries for kernels.
struct group_ref {
  query_cell const* cells;     ///< [queries][1 + longest]
  std::uint32_t* frequency;    ///< [queries][longest] df_q
  std::uint32_t* begin;        ///< [queries][longest] start_q
  std::uint32_t* end_in_turn;  ///< [queries][longest] index_q, cumulative sum of df_q
  float* sums;                 ///< [queries][documents]
  near_key* busiest;           ///< [queries] most postings added by one block
  std::uint32_t queries;
  std::uint32_t longest;

  __device__ query_cell head(std::uint32_t q) const {
    return cells[std::size_t{q} * (1 + longest)];
  }
  __device__ query_cell const* terms(std::uint32_t q) const {
    return cells + std::size_t{q} * (1 + longest) + 1;
  }
};

/// Algorithm 8, lines 4 to 7, with one query per block. Algorithm 20 omits the prefix sum.
__global__ __launch_bounds__(threads) void gather_lists(device_index_ref const index,
                                                        group_ref const group, bool const sum_up) {
  using scan = cub::BlockScan<std::uint32_t, threads>;
  __shared__ typename scan::TempStorage storage;
  std::uint32_t const q = blockIdx.x;
  if (threadIdx.x == 0) group.busiest[q] = 0;
  std::uint32_t const terms = group.head(q).term;
  std::size_t const row = std::size_t{q} * group.longest;
  std::uint32_t before = 0;
  for (std::uint32_t first = 0; first < terms; first += threads) {
    std::uint32_t const i = first + threadIdx.x;
    std::uint32_t frequency = 0;
    if (i < terms) {
      std::uint32_t const t = group.terms(q)[i].term;
      frequency = index.frequency[t];
      group.frequency[row + i] = frequency;
      group.begin[row + i] = index.begin[t];
    }
    if (!sum_up) continue;
    std::uint32_t so_far = 0;
    std::uint32_t all = 0;
    scan(storage).InclusiveSum(frequency, so_far, all);
    if (i < terms) group.end_in_turn[row + i] = before + so_far;
    before += all;
    __syncthreads();
  }
}

/// Postings that a thread reads before it adds the first one, so that their latencies overlap.
constexpr std::uint32_t at_once = 8;

/// Adds the postings x, x + threads, x + 2 threads, ... below `end`; at(i) returns the place of the
/// i-th one and its factor.
template <class At>
__device__ void add_postings_from(device_index_ref const& index, std::uint32_t x, std::uint32_t end,
                                  float* sums, At const& at) {
  for (; x < end; x += at_once * threads) {
    posting read[at_once];
    float weight[at_once];
#pragma unroll
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (std::uint32_t const next = x + i * threads; next < end)
        read[i] = index.postings[at(next, weight[i])];
#pragma unroll
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (x + i * threads < end) atomicAdd(&sums[read[i].document], weight[i] * read[i].weight);
  }
}

/// Records the postings that a block adds for query q; its first thread calls it.
__device__ void note_block(group_ref const& group, std::uint32_t q, std::uint32_t postings) {
  atomicMax(reinterpret_cast<unsigned long long*>(group.busiest) + q, postings);
}

/// Algorithm 8, lines 8 to 17: all threads evenly divide the postings of all terms. Neighbouring
/// threads have neighbouring positions, so their reads coalesce. Algorithm 21: one query after the
/// other, without a barrier between them.
__global__ __launch_bounds__(threads) void add_postings_evenly(device_index_ref const index,
                                                               group_ref const group) {
  for (std::uint32_t q = 0; q < group.queries; ++q) {
    std::uint32_t const terms = group.head(q).term;
    if (terms == 0) continue;
    query_cell const* const query = group.terms(q);
    std::uint32_t const* const ends = group.end_in_turn + std::size_t{q} * group.longest;
    std::uint32_t const* const begins = group.begin + std::size_t{q} * group.longest;
    float* const sums = group.sums + std::size_t{q} * index.documents;
    std::uint32_t const all = ends[terms - 1];
    std::uint32_t const each = (all + gridDim.x - 1) / gridDim.x;
    std::uint32_t const end = min(all, (blockIdx.x + 1) * each);
    std::uint32_t const x = blockIdx.x * each + threadIdx.x;
    if (x >= end) continue;
    if (threadIdx.x == 0) note_block(group, q, end - x);
    std::uint32_t pos = 0;  // the first term whose lists end after x
    for (std::uint32_t n = terms; n > 0;) {
      std::uint32_t const half = n / 2;
      if (ends[pos + half] > x) {
        n = half;
      } else {
        pos += half + 1;
        n -= half + 1;
      }
    }
    add_postings_from(index, x, end, sums, [&](std::uint32_t next, float& weight) {
      while (ends[pos] <= next) ++pos;
      weight = query[pos].weight;
      return begins[pos] + next - (pos == 0 ? 0 : ends[pos - 1]);
    });
  }
}

/// Algorithm 20, lines 6 to 11: one term per block; if there are more terms than blocks, each block
/// processes several.
__global__ __launch_bounds__(threads) void add_postings_by_term(device_index_ref const index,
                                                                group_ref const group) {
  for (std::uint32_t q = 0; q < group.queries; ++q) {
    std::uint32_t const terms = group.head(q).term;
    query_cell const* const query = group.terms(q);
    std::size_t const row = std::size_t{q} * group.longest;
    float* const sums = group.sums + std::size_t{q} * index.documents;
    std::uint32_t added = 0;
    for (std::uint32_t j = blockIdx.x; j < terms; j += gridDim.x) {
      std::uint32_t const begin = group.begin[row + j];
      std::uint32_t const end = begin + group.frequency[row + j];
      added += end - begin;
      add_postings_from(index, begin + threadIdx.x, end, sums,
                        [&](std::uint32_t next, float& weight) {
                          weight = query[j].weight;
                          return next;
                        });
    }
    if (threadIdx.x == 0 && added > 0) note_block(group, q, added);
  }
}

struct sort_shape {
  std::uint32_t k;         ///< keys that a block selects for each query
  std::uint32_t kept_log;  ///< the sort keeps the next power of two
  std::uint32_t size;      ///< number of keys to sort
  std::uint32_t blocks;
  std::size_t shared_bytes() const { return size * sizeof(near_key); }
};

/// Algorithm 8, line 18: writes the k nearest of a block's documents, ascending; lists
/// [queries][blocks][k]. The nearest so far precede the next documents and are sorted with them.
__global__ __launch_bounds__(threads) void leave_nearest(device_index_ref const index,
                                                         group_ref const group,
                                                         similarity const metric,
                                                         sort_shape const shape, near_key* lists) {
  extern __shared__ near_key keys[];  // [shape.size]
  std::uint32_t const kept = 1U << shape.kept_log;
  std::uint64_t const n = index.documents;
  auto const begin = static_cast<std::uint32_t>(n * blockIdx.x / gridDim.x);
  auto const end = static_cast<std::uint32_t>(n * (blockIdx.x + 1) / gridDim.x);
  for (std::uint32_t q = 0; q < group.queries; ++q) {
    float const norm = group.head(q).weight;
    float const* const sums = group.sums + std::size_t{q} * index.documents;
    for (std::uint32_t i = threadIdx.x; i < kept; i += threads) keys[i] = no_near_key;
    for (std::uint32_t next = begin; next < end;) {
      for (std::uint32_t i = kept + threadIdx.x; i < shape.size; i += threads) {
        std::uint32_t const d = i - kept < end - next ? next + (i - kept) : end;
        keys[i] = d == end ? no_near_key
                           : near_key_of(similarity_of(metric, sums[d], norm, index.norms[d]), d);
      }
      next += min(end - next, shape.size - kept);
      __syncthreads();
      sort_truncated(keys, shape.size, shape.kept_log, block_threads<threads>{});
    }
    // Each thread reads and, for the next query, writes the same leading keys.
    near_key* const list = lists + (std::size_t{q} * gridDim.x + blockIdx.x) * shape.k;
    for (std::uint32_t i = threadIdx.x; i < shape.k; i += threads) list[i] = keys[i];
  }
}

/// Computes the key of every document of a query, for a full sort.
__global__ __launch_bounds__(threads) void make_keys(device_index_ref const index,
                                                     group_ref const group, std::uint32_t q,
                                                     similarity const metric, near_key* keys) {
  float const* const sums = group.sums + std::size_t{q} * index.documents;
  for (std::size_t d = std::size_t{blockIdx.x} * threads + threadIdx.x; d < index.documents;
       d += std::size_t{gridDim.x} * threads)
    keys[d] = near_key_of(similarity_of(metric, sums[d], group.head(q).weight, index.norms[d]),
                          static_cast<std::uint32_t>(d));
}

/// The memory of a group's search on the current device.
struct group_memory {
  std::size_t queries;
  std::size_t longest;
  std::uint32_t documents;
  std::size_t list_keys;  ///< for all queries; 0: all documents are sorted

  std::size_t bytes() const {
    return queries * ((1 + longest) * sizeof(query_cell) + 3 * longest * sizeof(std::uint32_t) +
                      documents * sizeof(float)) +
           (queries + list_keys) * sizeof(near_key) +
           (list_keys > 0 ? 0 : full_sort::bytes(documents));
  }
};

/// Algorithm 9, line 4, and Algorithm 22, line 2.
class group_buffers {
 public:
  explicit group_buffers(group_memory const& m)
      : cells_(m.queries * (1 + m.longest)),
        frequency_(m.queries * m.longest),
        begin_(m.queries * m.longest),
        end_in_turn_(m.queries * m.longest),
        sums_(m.queries * m.documents),
        lists_(m.queries + m.list_keys),
        queries_(m.queries),
        longest_(static_cast<std::uint32_t>(m.longest)) {
    if (m.list_keys == 0) sorter_.emplace(m.documents);
  }

  query_cell* cells() { return cells_.data(); }
  near_key* lists() { return lists_.data() + queries_; }
  /// The data of the first copy to the host: busiest [queries], then the lists.
  near_key const* results() const { return lists_.data(); }
  full_sort& sorter() { return *sorter_; }
  group_ref ref(std::size_t queries) {
    return {cells_.data(),
            frequency_.data(),
            begin_.data(),
            end_in_turn_.data(),
            sums_.data(),
            lists_.data(),
            static_cast<std::uint32_t>(queries),
            longest_};
  }

 private:
  device_buffer<query_cell> cells_;
  device_buffer<std::uint32_t> frequency_, begin_, end_in_turn_;
  device_buffer<float> sums_;
  device_buffer<near_key> lists_;  // busiest [queries], then the lists
  std::optional<full_sort> sorter_;
  std::size_t queries_;
  std::uint32_t longest_;
};

/// The index on the current device, and the number of blocks that search it.
struct index_on_device {
  index_on_device(std::span<term_document const> pairs, std::uint32_t documents,
                  std::uint32_t terms)
      : index(pairs, documents, terms) {
    int device = 0;
    int multiprocessors = 0;
    check_cuda(cudaGetDevice(&device));
    check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    blocks = static_cast<std::uint32_t>(multiprocessors) * blocks_a_multiprocessor;
  }
  device_index index;
  std::uint32_t blocks = 0;
};

/// When device memory for queries is allocated: before each query, or once per call.
enum class memory_of { each_query, a_call };

class fish final : public sparse_search_engine {
 public:
  /// `allocation` and `options`: those of `gt`, or of `fish`.
  fish(context const& ctx, sparse_index const& index, similarity metric, memory_of allocation,
       fish_options const& options)
      : index_(index),
        metric_(metric),
        allocation_(allocation),
        fish_(options),
        devices_(ctx.devices),
        indexes_(devices_) {
    if (fish_.group == 0) throw usage_error("group: found 0, expected at least 1");
    check_single_precision(index.norms(), "documents");
    std::vector<term_document> const pairs = term_documents(ctx, index);
    for_each_device(devices_, [&](std::size_t i) {
      indexes_.make(i, pairs, static_cast<std::uint32_t>(index.size()), index.terms());
    });
  }

  void search(context const& ctx, sparse_rows const& queries, std::span<double const> query_norms,
              neighbours& found, sparse_search_work& work) const override {
    check_single_precision(query_norms, "queries");
    std::mutex adding;
    for_each_device(devices_, [&](std::size_t i) {
      index_range const mine = even_range(queries.size(), devices_.size(), i);
      if (mine.size() == 0) return;
      sparse_search_work const done =
          search_share(ctx, indexes_[i], queries, query_norms, mine, found);
      std::lock_guard const lock(adding);
      work += done;
    });
  }

 private:
  bool allocates_each_query() const { return allocation_ == memory_of::each_query; }

  /// Reduces the number of blocks if some would have too few documents for a sort.
  sort_shape shape_for(index_on_device const& here, std::size_t k) const {
    sort_shape shape{static_cast<std::uint32_t>(k), 0, least_sorted, 0};
    while ((std::size_t{1} << shape.kept_log) < k) ++shape.kept_log;
    std::uint32_t const kept = 1U << shape.kept_log;
    shape.size = std::max(least_sorted, 4 * kept);
    std::size_t const a_sort = shape.size - kept;
    shape.blocks = static_cast<std::uint32_t>(
        std::min<std::size_t>(here.blocks, (index_.size() + a_sort - 1) / a_sort));
    return shape;
  }

  sparse_search_work search_share(context const& ctx, index_on_device const& here,
                                  sparse_rows const& queries, std::span<double const> query_norms,
                                  index_range const& mine, neighbours& found) const {
    std::size_t const group = std::min(fish_.group, mine.size());
    bool const truncated = found.k <= largest_truncated;
    sort_shape const shape = truncated ? shape_for(here, found.k) : sort_shape{};
    std::size_t const list_keys = truncated ? std::size_t{shape.blocks} * found.k : 0;
    std::size_t const taken_keys = truncated ? list_keys : found.k;  // per query
    std::size_t longest = 1;
    for (std::size_t q = mine.begin; q < mine.end; ++q)
      longest = std::max(longest, queries[q].size());
    auto const documents = static_cast<std::uint32_t>(index_.size());
    group_memory const memory{group, longest, documents, group * list_keys};
    check_fits(memory.bytes(), "a group of " + std::to_string(group) + " queries");

    pinned_buffer<query_cell> cells(group * (1 + longest));
    pinned_buffer<near_key> taken(group + group * taken_keys);  // as group_buffers::results
    near_key const* const lists = taken.data() + group;
    stream const on;
    sparse_search_work work;
    std::optional<group_buffers> buffers;
    auto const allocate = [&](group_memory const& m) {
      buffers.emplace(m);
      ++work.counts["allocations"];
    };
    if (!allocates_each_query()) allocate(memory);
    for (std::size_t begin = mine.begin; begin < mine.end; begin += group) {
      ctx.check_stop();
      std::size_t const count = std::min(group, mine.end - begin);
      if (allocates_each_query()) {
        longest = std::max<std::size_t>(queries[begin].size(), 1);
        allocate({1, longest, documents, list_keys});
      }
      for (std::size_t g = 0; g < count; ++g)
        pack(queries[begin + g], query_norms[begin + g], cells.data() + g * (1 + longest));
      check_cuda(cudaMemcpyAsync(buffers->cells(), cells.data(),
                                 count * (1 + longest) * sizeof(query_cell), cudaMemcpyHostToDevice,
                                 on.get()));
      add_postings(here, buffers->ref(count), on);
      if (truncated) {
        leave_nearest<<<shape.blocks, threads, shape.shared_bytes(), on.get()>>>(
            here.index.ref(), buffers->ref(count), metric_, shape, buffers->lists());
        check_launch();
      }
      check_cuda(cudaMemcpyAsync(taken.data(), buffers->results(),
                                 (group + (truncated ? count * taken_keys : 0)) * sizeof(near_key),
                                 cudaMemcpyDeviceToHost, on.get()));
      if (!truncated) sort_all(here, *buffers, count, taken.data() + group, taken_keys, on);
      on.synchronize();
      ++work.counts["groups"];
      for (std::size_t g = 0; g < count; ++g) {
        work.counts["busiest_block"] += taken[g];
        merge_lists({lists + g * taken_keys, taken_keys}, found.k, begin + g, found);
      }
      if (allocates_each_query()) buffers.reset();
    }
    return work;
  }

  /// Returns the first `keys` of all sorted documents of each query.
  void sort_all(index_on_device const& here, group_buffers& buffers, std::size_t count,
                near_key* to, std::size_t keys, stream const& on) const {
    for (std::size_t g = 0; g < count; ++g) {
      make_keys<<<here.blocks, threads, 0, on.get()>>>(here.index.ref(), buffers.ref(count),
                                                       static_cast<std::uint32_t>(g), metric_,
                                                       buffers.sorter().keys());
      check_launch();
      buffers.sorter().sort(on.get());
      check_cuda(cudaMemcpyAsync(to + g * keys, buffers.sorter().sorted(), keys * sizeof(near_key),
                                 cudaMemcpyDeviceToHost, on.get()));
    }
  }

  static void pack(sparse_row const& query, double norm, query_cell* to) {
    *to++ = {static_cast<std::uint32_t>(query.size()), static_cast<float>(norm)};
    for (std::size_t i = 0; i < query.size(); ++i)
      *to++ = {query.term[i], static_cast<float>(query.weight[i])};
  }

  void add_postings(index_on_device const& here, group_ref const& group, stream const& on) const {
    device_index_ref const index = here.index.ref();
    check_cuda(cudaMemsetAsync(
        group.sums, 0, std::size_t{group.queries} * index.documents * sizeof(float), on.get()));
    bool const evenly = fish_.balance == load_balance::inter;
    gather_lists<<<group.queries, threads, 0, on.get()>>>(index, group, evenly);
    check_launch();
    if (evenly)
      add_postings_evenly<<<here.blocks, threads, 0, on.get()>>>(index, group);
    else
      add_postings_by_term<<<here.blocks, threads, 0, on.get()>>>(index, group);
    check_launch();
  }

  sparse_index const& index_;
  similarity metric_;
  memory_of allocation_;
  fish_options fish_;
  std::vector<int> devices_;
  per_device<index_on_device> indexes_;
};

}  // namespace

std::unique_ptr<sparse_search_engine> make_gt(context const& ctx, sparse_index const& index,
                                              sparse_search_options const& options) {
  return std::make_unique<fish>(ctx, index, options.metric, memory_of::each_query, fish_options{});
}

std::unique_ptr<sparse_search_engine> make_fish(context const& ctx, sparse_index const& index,
                                                similarity metric, fish_options const& options) {
  return std::make_unique<fish>(ctx, index, metric, memory_of::a_call, options);
}

}  // namespace rulerank::knn
