#include "core/shared_memory.hpp"
#include "l2r/published/document_threads.cuh"
#include "l2r/published/itemset_cache.cuh"
#include "l2r/published/lookups.hpp"
#include "l2r/rules/cuda_engine.cuh"
#include "rules/combinadic.hpp"
#include "rules/combinadic_math.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

// PROFL as published (Freitas 2017, section 4.3): LRAR's rules with bitmaps ANDed 128 bits at a
// time, and a cache of itemsets shared by all threads of a device. `profl` (Algorithm 16) uses a
// block per test document and assigns its itemsets to threads by combinadic numbers; `profl-t`
// (section 4.3.6) uses a thread per document. Several GPUs (Algorithm 17) split the documents; each
// has its own cache.
namespace rulerank::inline v0::l2r {

namespace {

using bitmaps::product_words;
using number = unsigned long long;

constexpr std::uint32_t block_threads = 256;

/// Look-ups of itemsets of one size, as in cache_lookups.
struct counters {
  number hits = 0;
  number misses = 0;
  number prefix_hits = 0;
  number prefix_misses = 0;
};

template <class Sum>
struct arguments {
  document_view documents;
  row_view rows;
  score_view<Sum> table;
  itemset_cache_view cache;
  score_sums<Sum> const* singles;  ///< [items] the contribution of each itemset of one item
  double mean_label;
  std::uint32_t max_items;
  counters* counts;  ///< [max_items + 1] counts of a call on a device, by itemset size
  double* scores;
  std::uint64_t const* binomials;  ///< profl: [features + 1][max_items + 1]
  std::uint32_t* lists;            ///< profl-t: [features][documents] rows of the documents' items
};

/// A thread's totals.
template <class Sum>
struct total {
  score_sums<Sum> sums;
  /// Look-ups of itemsets of the current size, and of prefixes with one item less.
  counters lookups;
};

/// The start of a new itemset: the bitmap of its first `items` items.
struct prefix {
  chunked_bits bits;
  std::uint32_t items;
};

/// Algorithm 16, lines 10 to 15: the longest cached prefix; if none, the first item's row.
template <class Sum>
__device__ prefix longest_prefix(arguments<Sum> const& a, std::uint32_t const* x,
                                 std::uint32_t size, counters& lookups) {
  if (a.cache.enabled())
    for (std::uint32_t s = size - 1; s > 1; --s) {
      auto const known = a.cache.find(x, s);
      bool const found = known.what == itemset_cache_view::answer::found;
      if (s == size - 1) {
        lookups.prefix_hits += found ? 1 : 0;
        lookups.prefix_misses += found ? 0 : 1;
      } else {  // rare
        atomicAdd(found ? &a.counts[s].prefix_hits : &a.counts[s].prefix_misses, number{1});
      }
      if (!found) continue;
      __threadfence();  // orders the bitmap's write before the slot's ready state
      return {a.cache.bits(known.slot), s};
    }
  return {row_bits(a.rows, x[0]), 1};
}

/// Algorithm 16, lines 5 to 19, for one itemset of at least two items.
template <class Sum>
__device__ void add_itemset(arguments<Sum> const& a, std::uint32_t const* x, std::uint32_t size,
                            total<Sum>& all) {
  using answer = itemset_cache_view::answer;
  std::uint32_t kept[kept_classes];
  itemset_cache_view::lookup known;
  if (a.cache.enabled()) known = a.cache.find(x, size);
  std::uint32_t n = 0;
  if (known.what == answer::found && a.cache.counts_of(known, kept, n)) {
    ++all.lookups.hits;
    all.sums += sums_of_counts(a.table, n, kept, [&](auto const& each) {
      for (std::uint32_t k = 0; k < a.rows.classes; ++k) each(k, a.cache.count(known.slot, k));
    });
    return;
  }
  ++all.lookups.misses;
  prefix const begin = longest_prefix(a, x, size, all.lookups);
  bool const insert = known.what == answer::absent && a.cache.claim(known.slot);
  // Itemsets of the largest size are never prefixes.
  auto* const bitmap =
      insert && size < a.max_items
          ? reinterpret_cast<uint4*>(a.cache.bitmaps + known.slot * a.cache.shape.bitmap_words)
          : nullptr;
  auto count = [&](auto const& keep, auto const& each) {
    return count_classes<uint4>(a.rows, begin.bits, x + begin.items, size - begin.items, keep,
                                each);
  };
  n = count(
      [&](std::uint32_t i, uint4 word) {
        if (bitmap != nullptr) bitmap[i] = word;
      },
      [&](std::uint32_t k, std::uint32_t sigma) {
        keep_count(kept, k, sigma);
        if (insert) a.cache.set_count(known.slot, k, sigma);
      });
  if (insert) a.cache.publish(known.slot, x, size);
  all.sums +=
      sums_of_counts(a.table, n, kept, [&](auto const& each) { count(keep_nothing{}, each); });
}

/// A block's counts, in shared memory.
class block_counts {
 public:
  /// Call from all threads of the block, before any other member.
  __device__ void clear() {
    for (std::uint32_t i = threadIdx.x; i < sizes * kinds; i += blockDim.x) of_[i] = 0;
    __syncthreads();
  }
  /// Adds each thread's counts for itemsets of `size` items and resets them. Call from all threads
  /// of a warp; warps may be at different sizes.
  __device__ void add(counters& mine, std::uint32_t size) {
    add(mine.hits, size * kinds);
    add(mine.misses, size * kinds + 1);
    add(mine.prefix_hits, (size - 1) * kinds + 2);
    add(mine.prefix_misses, (size - 1) * kinds + 3);
    mine = {};
  }
  /// Adds all counts to the device's. Call from all threads of the block, after a barrier.
  __device__ void add_to(counters* to, std::uint32_t max_items) const {
    static_assert(sizeof(counters) == kinds * sizeof(number));
    for (std::uint32_t i = threadIdx.x; i < (max_items + 1) * kinds; i += blockDim.x)
      if (of_[i] != 0) atomicAdd(reinterpret_cast<number*>(to) + i, of_[i]);
  }

 private:
  static constexpr std::uint32_t kinds = 4;
  static constexpr std::uint32_t sizes = most_items + 1;

  __device__ void add(number count, std::uint32_t at) {
    for (std::uint32_t apart = 16; apart > 0; apart /= 2)
      count += __shfl_down_sync(0xFFFFFFFFU, count, apart);
    if (threadIdx.x % 32 == 0 && count != 0) atomicAdd(&of_[at], count);
  }

  number of_[sizes * kinds];
};

template <class Sum>
__global__ __launch_bounds__(block_threads) void profl_kernel(arguments<Sum> const a) {
  using reduce = cub::BlockReduce<Sum, block_threads>;
  using scan = cub::BlockScan<std::uint32_t, block_threads>;
  extern __shared__ std::uint32_t row_of[];  // [features] rows of the document's items
  __shared__ union {
    typename reduce::TempStorage reduce;
    typename scan::TempStorage scan;
  } storage;
  __shared__ block_counts counts;
  counts.clear();
  std::uint32_t const d = blockIdx.x;
  total<Sum> all;
  std::uint32_t used = 0;
  for (std::uint32_t begin = 0; begin < a.documents.features; begin += block_threads) {
    std::uint32_t const f = begin + threadIdx.x;
    std::uint32_t const row = f < a.documents.features ? a.documents.row_of(f, d) : no_row;
    std::uint32_t at = 0;
    std::uint32_t more = 0;
    scan(storage.scan).ExclusiveSum(row == no_row ? 0U : 1U, at, more);
    if (row != no_row) {
      row_of[used + at] = row;
      all.sums += a.singles[row];  // itemsets of one item are precomputed
    }
    used += more;
    __syncthreads();
  }

  for (std::uint32_t size = 2; size <= a.max_items && size <= used; ++size) {
    std::uint32_t const stride = a.max_items + 1;
    std::uint64_t const itemsets = a.binomials[std::size_t{used} * stride + size];
    std::uint64_t const share = (itemsets + block_threads - 1) / block_threads;
    std::uint64_t const begin = threadIdx.x * share;
    if (begin < itemsets) {
      std::uint64_t const end = itemsets - begin < share ? itemsets : begin + share;
      std::uint32_t c[most_items];
      std::uint32_t x[most_items];
      rules::combination_at(begin, used, size, a.binomials, stride, c);
      std::uint32_t changed = 0;
      for (std::uint64_t z = begin;;) {
        for (; changed < size; ++changed) x[changed] = row_of[c[changed]];
        add_itemset(a, x, size, all);
        if (++z == end) break;
        changed = rules::next_combination(c, size);
      }
    }
    counts.add(all.lookups, size);
  }

  __syncthreads();
  Sum const num = reduce(storage.reduce).Sum(all.sums.num);
  __syncthreads();
  Sum const den = reduce(storage.reduce).Sum(all.sums.den);
  if (threadIdx.x == 0) a.scores[d] = score_of(score_sums<Sum>{num, den}, a.mean_label);
  counts.add_to(a.counts, a.max_items);
}

template <class Sum>
__global__ __launch_bounds__(document_threads) void profl_t_kernel(arguments<Sum> const a) {
  __shared__ block_counts counts;
  counts.clear();
  std::uint32_t const d = blockIdx.x * document_threads + threadIdx.x;
  total<Sum> all;
  bool const has_document = d < a.documents.documents;
  document_rows const list{a.lists + d, a.documents.documents};
  std::uint32_t used = 0;
  if (has_document) {
    used = gather_rows(a.documents, d, a.lists + d, a.documents.documents);
    for (std::uint32_t i = 0; i < used; ++i) all.sums += a.singles[list[i]];
  }
  for (std::uint32_t size = 2; size <= a.max_items; ++size) {
    if (size <= used)
      for_each_itemset(list, used, size,
                       [&](std::uint32_t const* x) { add_itemset(a, x, size, all); });
    counts.add(all.lookups, size);
  }
  if (has_document) a.scores[d] = score_of(all.sums, a.mean_label);
  __syncthreads();
  counts.add_to(a.counts, a.max_items);
}

/// The contribution of each itemset of one item, [items].
template <class Sum>
std::vector<score_sums<Sum>> sums_of_items(prepared_training const& training) {
  score_view<Sum> const table = training.table.view<Sum>();
  rules::vertical_index const& index = training.index;
  std::vector<score_sums<Sum>> singles(index.items());
  for (std::uint32_t x = 0; x < index.items(); ++x)
    singles[x] = table.classwise(index.item_support(x), index.item_supports(x).data(), 1);
  return singles;
}

/// C(y, k) for y <= features, k <= max_items.
std::vector<std::uint64_t> binomials_of(std::size_t features, std::size_t max_items) {
  std::vector<std::uint64_t> all;
  for (std::size_t y = 0; y <= features; ++y)
    for (std::size_t k = 0; k <= max_items; ++k) all.push_back(rules::binomial(y, k));
  return all;
}

template <class Sum>
class profl final : public device_scorer {
 public:
  profl(prepared_training const& training, device_training const& on_device, bool by_thread)
      : by_thread_(by_thread),
        features_(training.features.size()),
        table_(training.table.view<Sum>()),
        singles_(std::span<score_sums<Sum> const>(sums_of_items<Sum>(training))),
        counts_(training.table.max_itemset_size() + 1) {
    check_itemset_size(by_thread ? "profl-t" : "profl", training);
    arguments_.rows = on_device.rows();
    arguments_.table = table_.view();
    arguments_.singles = singles_.data();
    arguments_.mean_label = training.table.mean_label();
    arguments_.max_items = static_cast<std::uint32_t>(training.table.max_itemset_size());
    arguments_.counts = counts_.data();
    if (!by_thread_) {
      binomials_ = device_buffer<std::uint64_t>(
          std::span<std::uint64_t const>(binomials_of(features_, arguments_.max_items)));
      arguments_.binomials = binomials_.data();
      allow_all_shared_memory(profl_kernel<Sum>);
    }
    cache_.emplace(training, on_device.rows());
    arguments_.cache = cache_->view();
  }

  std::size_t bytes_per_document() const override {
    return by_thread_ ? features_ * sizeof(std::uint32_t) : 0;
  }
  void reserve(std::size_t documents) override {
    if (by_thread_) lists_.reserve(features_ * documents);
    first_of_call_ = true;
  }

  void score(document_view const& documents, double* scores, stream const& on) override {
    if (first_of_call_) counts_.fill_bytes(0, on.get());
    first_of_call_ = false;
    arguments<Sum> a = arguments_;
    a.documents = documents;
    a.scores = scores;
    a.lists = lists_.data();
    if (by_thread_)
      profl_t_kernel<<<document_blocks(documents.documents), document_threads, 0, on.get()>>>(a);
    else
      profl_kernel<<<documents.documents, block_threads, shared(), on.get()>>>(a);
    check_launch();
  }

  void add_counts(scored& result) override {
    std::vector<counters> const counted = counts_.to_host();
    std::uint64_t& prefix_lookups = result.counts["prefix_lookups"];
    for (std::size_t k = 2; k < counted.size(); ++k) {
      counters const& of = counted[k];
      add_lookups(result.counts, k, {of.hits, of.misses, of.prefix_hits, of.prefix_misses});
      prefix_lookups += of.prefix_hits + of.prefix_misses;
    }
    if (counted.size() > 2) {
      result.counts["cache_hits"] += counted.back().hits;
      result.counts["cache_misses"] += counted.back().misses;
    }
    result.counts["cache_slots"] = cache_->view().shape.slots;
  }

 private:
  std::size_t shared() const { return std::max<std::size_t>(features_, 1) * 4; }

  bool by_thread_;
  std::size_t features_;
  device_score_table<Sum> table_;
  device_buffer<score_sums<Sum>> singles_;
  device_buffer<std::uint64_t> binomials_;
  device_buffer<std::uint32_t> lists_;
  device_buffer<counters> counts_;
  std::optional<itemset_cache_on_device> cache_;
  arguments<Sum> arguments_{};
  bool first_of_call_ = true;
};

std::unique_ptr<scoring_engine> make(context const& ctx, prepared_training const& training,
                                     bool by_thread) {
  return on_devices(
      ctx.devices, training,
      [by_thread](prepared_training const& prepared,
                  device_training const& on_device) -> std::unique_ptr<device_scorer> {
        if (prepared.table.is_wide())
          return std::make_unique<profl<wide_sum>>(prepared, on_device, by_thread);
        return std::make_unique<profl<std::uint64_t>>(prepared, on_device, by_thread);
      });
}

}  // namespace

std::unique_ptr<scoring_engine> make_profl(context const& ctx, prepared_training const& training) {
  return make(ctx, training, false);
}

std::unique_ptr<scoring_engine> make_profl_t(context const& ctx,
                                             prepared_training const& training) {
  return make(ctx, training, true);
}

}  // namespace rulerank::l2r
