#pragma once

#include "core/stream.hpp"
#include "l2r/published/itemset_cache_math.hpp"
#include "l2r/rules/itemset_rows.cuh"
#include "rules/fingerprint.hpp"

#include <cstdint>
#include <vector>

// The published cache of itemsets (Freitas 2017, section 4.3.3): a hash table in global memory with
// open addressing and linear probing. The first slot is the 64-bit fingerprint modulo the table's
// size. A slot holds the itemset, its class-wise supports and its bitmap. A look-up compares the
// items, so a fingerprint collision costs time but never gives a wrong count.
//
// Threads look up and insert concurrently without waiting for each other. A slot goes from empty to
// claimed to ready and then never changes. Items and counts are stored plus one: a word that reads
// 0 is not yet visible, and the look-up is a miss.
namespace rulerank::inline v0::l2r {

/// Reads and writes that bypass the caches of one multiprocessor.
__device__ inline std::uint32_t load_shared_word(std::uint32_t const* from) {
  std::uint32_t word;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
               : "=r"(word)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return word;
}
__device__ inline uint4 load_four_shared_words(std::uint32_t const* from) {
  uint4 words;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return words;
}
__device__ inline void store_shared_word(std::uint32_t* to, std::uint32_t word) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(word)
               : "memory");
}

/// A kernel's view of a cache. Itemsets have 2 to max_size items.
struct itemset_cache_view {
  itemset_cache_shape shape;
  std::uint32_t* heads = nullptr;    ///< [slots][head_words]
  std::uint32_t* bitmaps = nullptr;  ///< [slots][bitmap_words]
  double const* terms = nullptr;     ///< [max_size][items] summands of the fingerprint
  std::uint32_t items = 0;

  enum class answer { found, absent, unknown };
  /// found: the itemset's slot; absent: the empty slot for it; unknown: neither.
  struct lookup {
    answer what = answer::unknown;
    std::uint64_t slot = 0;
    uint4 words[2] = {};  ///< found: the first eight words of the head, or all if it has fewer
  };
  static constexpr std::uint32_t empty = 0;
  static constexpr std::uint32_t claimed = 1;
  static constexpr std::uint32_t most_probes = 8;

  __device__ bool enabled() const { return shape.slots > 0; }
  __device__ std::uint32_t* head(std::uint64_t slot) const {
    return heads + slot * shape.head_words;
  }
  __device__ chunked_bits bits(std::uint64_t slot) const {
    return {bitmaps + slot * shape.bitmap_words, bitmaps::product_words};
  }

  /// Looks up an itemset of at least two items, always given in the same order. Reads counts
  /// together with the items, which saves a second wait for memory.
  __device__ lookup find(std::uint32_t const* x, std::uint32_t size) const {
    double fingerprint = 0;
    for (std::uint32_t i = 0; i < size; ++i)
      fingerprint += __ldg(terms + std::size_t{i} * items + x[i]);
    std::uint64_t slot =
        slot_of(static_cast<std::uint64_t>(__double_as_longlong(fingerprint)), shape);
    for (std::uint32_t probe = 0; probe < most_probes; ++probe) {
      std::uint32_t const* const h = head(slot);
      uint4 const start = load_four_shared_words(h);
      uint4 const more = shape.head_words > 4 ? load_four_shared_words(h + 4) : uint4{};
      if (start.x == empty) return {answer::absent, slot};
      if (start.x == claimed) return {};
      if (start.x == ready(size) && start.y == x[0] + 1 && start.z == x[1] + 1) {
        bool same = size == 2 || start.w == x[2] + 1;
        for (std::uint32_t i = 3; i < size && same; ++i)
          same = load_shared_word(h + 1 + i) == x[i] + 1;
        if (same) return {answer::found, slot, {start, more}};
      }
      if (++slot == shape.slots) slot = 0;
    }
    return {};
  }

  /// The counts of an itemset that find() found: `kept` gets the first classes, n the sum over all.
  /// False if a count is not yet visible.
  __device__ bool counts_of(lookup const& found, std::uint32_t (&kept)[kept_classes],
                            std::uint32_t& n) const {
    switch (shape.max_size) {  // uniform over threads
      case 2:
        return counts_from<3>(found, kept, n);
      case 3:
        return counts_from<4>(found, kept, n);
      case 4:
        return counts_from<5>(found, kept, n);
      default:
        return counts_from<8>(found, kept, n);
    }
  }
  /// The support of class k in a slot whose counts are visible.
  __device__ std::uint32_t count(std::uint64_t slot, std::uint32_t k) const {
    return load_shared_word(head(slot) + first_count() + k) - 1;
  }

  /// Claims an empty slot for this thread; false if another thread was faster.
  __device__ bool claim(std::uint64_t slot) const {
    return atomicCAS(head(slot), empty, claimed) == empty;
  }
  /// Fills a claimed slot before publish(): each class's count, and the bitmap.
  __device__ void set_count(std::uint64_t slot, std::uint32_t k, std::uint32_t sigma) const {
    store_shared_word(head(slot) + first_count() + k, sigma + 1);
  }
  __device__ void publish(std::uint64_t slot, std::uint32_t const* x, std::uint32_t size) const {
    std::uint32_t* const h = head(slot);
    for (std::uint32_t i = 0; i < size; ++i) store_shared_word(h + 1 + i, x[i] + 1);
    __threadfence();
    store_shared_word(h, ready(size));
  }

 private:
  __device__ static std::uint32_t ready(std::uint32_t size) { return claimed + size; }
  /// Index of the head's word with the count of class 0.
  __device__ std::uint32_t first_count() const { return 1 + shape.max_size; }

  /// counts_of() for a First equal to first_count(), or to 8 if that is larger: find() has read the
  /// head's words before the eighth.
  template <std::uint32_t First>
  __device__ bool counts_from(lookup const& found, std::uint32_t (&kept)[kept_classes],
                              std::uint32_t& n) const {
    uint4 const a = found.words[0];
    uint4 const b = found.words[1];
    std::uint32_t const known[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    std::uint32_t const* const counts = head(found.slot) + first_count();
    bool arrived = true;
    n = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kept_classes; ++k) {
      if (k >= shape.classes) continue;
      std::uint32_t const plus_one =
          First + k < 8 ? known[First + k < 8 ? First + k : 0] : load_shared_word(counts + k);
      arrived = arrived && plus_one != 0;
      kept[k] = plus_one - 1;
      n += kept[k];
    }
    for (std::uint32_t k = kept_classes; k < shape.classes; ++k) {
      std::uint32_t const plus_one = load_shared_word(counts + k);
      arrived = arrived && plus_one != 0;
      n += plus_one - 1;
    }
    return arrived;
  }
};

/// A cache in the memory of the current device; lives as long as the ranker.
class itemset_cache_on_device {
 public:
  /// Uses at most `training.cache_bytes` and at most seven eighths of the free memory.
  itemset_cache_on_device(prepared_training const& training, row_view const& rows) {
    std::vector<std::uint32_t> bins(training.features.size());
    for (std::size_t f = 0; f < bins.size(); ++f)
      bins[f] = training.item_begin[f + 1] - training.item_begin[f];
    auto const max_size = static_cast<std::uint32_t>(training.table.max_itemset_size());
    view_.shape = shape_of_cache(bins, max_size, rows.classes,
                                 std::size_t{rows.chunks} * bitmaps::product_words,
                                 std::min(training.cache_bytes, memory_budget() / 8 * 7));
    if (view_.shape.slots == 0) return;
    rules::fingerprint const fingerprint(rows.items, max_size);
    terms_ = device_buffer<double>(fingerprint.terms());
    heads_ = device_buffer<std::uint32_t>(view_.shape.slots * view_.shape.head_words);
    bitmaps_ = device_buffer<std::uint32_t>(view_.shape.slots * view_.shape.bitmap_words);
    heads_.fill_bytes(0);
    check_cuda(cudaStreamSynchronize(nullptr));
    view_.heads = heads_.data();
    view_.bitmaps = bitmaps_.data();
    view_.terms = terms_.data();
    view_.items = rows.items;
  }
  itemset_cache_view const& view() const noexcept { return view_; }

 private:
  device_buffer<std::uint32_t> heads_, bitmaps_;
  device_buffer<double> terms_;
  itemset_cache_view view_;
};

}  // namespace rulerank::l2r
