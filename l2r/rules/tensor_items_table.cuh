#pragma once

#include "l2r/rules/tensor_items.cuh"

#include <cstdint>

// The tables of `tensor` by item: the contribution of {x, y, z} for an item x, all items y of a
// feature g, and all items z of some later features. Computed in shared memory on the tensor cores.
//
// If all labels of an itemset are valid, it adds factor[n] w to num and the same unit to den. Then
// an entry is packed into 64 bits: the lower bits for num, the upper bits count for den. A sum of
// 32 packed entries does not overflow. If a label may be invalid (for {x, y} held by more than
// `folded_up_to` documents) and with weights or smoothing, an entry is the two numbers.
namespace rulerank::inline v0::l2r::by_item {

using bitmaps::add_bit_product;
using bitmaps::product_rows_a;
using bitmaps::product_rows_b;
using bitmaps::product_word;
using bitmaps::product_words;

/// The number of later features with tables in shared memory at a time: packed, and as pairs of
/// sums.
inline constexpr std::uint32_t packed_group = 32;
inline constexpr std::uint32_t full_group = 16;
/// Bits of a packed entry for num; the higher bits hold the count.
inline constexpr int num_bits = 58;
static_assert(full_group % slot_words::count == 0 && packed_group % slot_words::count == 0);
static_assert(packed_group * sizeof(std::uint64_t) == full_group * sizeof(sums));
inline constexpr std::uint32_t bytes_of_y = packed_group * slots * sizeof(std::uint64_t);

struct arguments {
  row_view rows;
  score_view<std::uint64_t> table;
  sums const* singles;              ///< [items] the contribution of each itemset of one item
  sums const* pairs;                ///< [items][items] and of two
  std::uint8_t const* deep;         ///< [items][features] whether a label may be invalid, see above
  std::uint32_t const* item_begin;  ///< [features + 1]
  std::uint32_t features;
  std::uint32_t max_items;  ///< 1, 2 or 3
  std::uint32_t documents;
  slot_words const* slots_of;  ///< [features][loads][documents] in `order`
  std::uint32_t loads;         ///< slot_words per document
  bool packs;                  ///< entries may be packed
  std::uint32_t const* order;  ///< [features][documents] sorted by slot
  std::uint32_t most_bins;     ///< maximum number of items of a feature
  unsigned long long* totals;  ///< [documents][2] num, den
  work_item const* work;       ///< [blocks / parts]
  std::uint32_t parts;         ///< of the later features g; each block handles one
};

/// A block's shared memory: two tables, one read while the other is computed, and the rows of two
/// features g.
struct layout {
  unsigned char* tables;  ///< [2][bins of g][bytes_of_y]
  std::uint32_t* rows;    ///< [2][chunks][16][8] the rows x AND y
  std::uint32_t most_bins;
  std::uint32_t chunks;

  __device__ layout(void* memory, std::uint32_t bins, std::uint32_t row_chunks)
      : tables(static_cast<unsigned char*>(memory)),
        rows(reinterpret_cast<std::uint32_t*>(tables + 2 * bins * bytes_of_y)),
        most_bins(bins),
        chunks(row_chunks) {}
  __device__ void* table(std::uint32_t which) const {
    return tables + (which % 2) * most_bins * bytes_of_y;
  }
  __device__ std::uint32_t* rows_of(std::uint32_t which) const {
    return rows + (which % 2) * chunks * product_rows_a * product_words;
  }
  static std::size_t bytes(std::uint32_t bins, std::uint32_t row_chunks) {
    return 2 * std::size_t{bins} * bytes_of_y +
           2 * row_chunks * product_rows_a * product_words * sizeof(std::uint32_t);
  }
};

/// One table of a block: for the items of feature g and the later features from v on.
struct table_step {
  std::uint32_t g;
  std::uint32_t v;
  std::uint32_t ordinal;  ///< of g among the block's features
  bool deep;
};

__device__ inline table_step first_of(arguments const& a, std::uint32_t x, std::uint32_t g,
                                      std::uint32_t ordinal) {
  bool const deep = !a.packs || (g < a.features && a.deep[std::size_t{x} * a.features + g] != 0);
  return {.g = g,
          .v = (g + 1) / slot_words::count * slot_words::count,
          .ordinal = ordinal,
          .deep = deep};
}

/// The next step; g + 1 >= features after the last.
__device__ inline table_step after(arguments const& a, std::uint32_t x, table_step const& now) {
  std::uint32_t const v = now.v + (now.deep ? full_group : packed_group);
  if (v < a.features) return {.g = now.g, .v = v, .ordinal = now.ordinal, .deep = now.deep};
  return first_of(a, x, now.g + a.parts, now.ordinal + 1);
}

/// Computes the rows x AND y for feature g's items y.
template <std::uint32_t threads>
__device__ void make_rows(arguments const& a, std::uint32_t* to, std::uint32_t x, std::uint32_t g) {
  std::uint32_t const first = a.item_begin[g];
  std::uint32_t const bins = a.item_begin[g + 1] - first;
  for (std::uint32_t at = threadIdx.x; at < product_rows_a * product_words * a.rows.chunks;
       at += threads) {
    std::uint32_t const y = at / product_words % product_rows_a;
    std::uint32_t const w =
        at / (product_words * product_rows_a) * product_words + at % product_words;
    to[at] = y < bins ? a.rows.word(x, w) & a.rows.word(first + y, w) : 0;
  }
}

/// The product of rows {x, y} with a feature's slots: 16 slots are two tiles of columns.
struct product {
  std::uint32_t const* rows_a;     ///< this lane's words of the first chunk
  std::uint32_t const* rows_b[2];  ///< likewise for the feature's items, or the empty row
  std::size_t stride_b;

  __device__ product(arguments const& a, std::uint32_t const* rows, std::uint32_t h) {
    std::uint32_t const column = threadIdx.x % 32 / 4;
    std::uint32_t const first = a.item_begin[h];
    std::uint32_t const bins = a.item_begin[h + 1] - first;
    rows_a = rows + column * product_words + product_word();
    for (std::uint32_t half = 0; half < 2; ++half) {
      std::uint32_t const slot = half * product_rows_b + column;
      rows_b[half] =
          a.rows.words_of(slot < bins ? first + slot : a.rows.items + 1, 0) + product_word();
    }
    stride_b = (a.rows.items + std::size_t{2}) * product_words;
  }
  __device__ void add(std::uint32_t chunk, std::uint32_t (&n)[2][4]) const {
    std::uint32_t const* const at = rows_a + chunk * product_rows_a * product_words;
    uint2 const both[2] = {*reinterpret_cast<uint2 const*>(at),
                           *reinterpret_cast<uint2 const*>(at + 8 * product_words)};
    for (int half = 0; half < 2; ++half)
      add_bit_product(n[half], both,
                      __ldg(reinterpret_cast<uint2 const*>(rows_b[half] + chunk * stride_b)));
  }
};

/// This lane's entries of a table for feature k: slots 8 half + 2 t + (e & 1) of the items y = g +
/// 8 (e >> 1). Slots are rotated by y, so that documents with equal z and different y use different
/// banks.
template <class Entry, std::uint32_t Group>
struct entries {
  Entry* table;
  std::uint32_t k;
  std::uint32_t bins;

  __device__ std::uint32_t item(int e) const { return threadIdx.x % 32 / 4 + (e >> 1) * 8U; }
  __device__ bool has(int e) const { return item(e) < bins; }
  __device__ Entry& operator()(int half, int e) const {
    std::uint32_t const slot = half * product_rows_b + threadIdx.x % 4 * 2 + (e & 1);
    return table[(item(e) * Group + k) * slots + (slot + item(e)) % slots];
  }
  /// Zeros, for a missing feature.
  __device__ void clear() const {
    for (int half = 0; half < 2; ++half)
      for (int e = 0; e < 4; ++e)
        if (has(e)) (*this)(half, e) = Entry{};
  }
};

/// Packed contributions of {x, y, z}, for the items y of feature g and z of the features v .. .
template <std::uint32_t threads>
__device__ void make_packed_table(arguments const& a, layout const& s, table_step const& at,
                                  void* table) {
  for (std::uint32_t k = threadIdx.x / 32; k < packed_group; k += threads / 32) {
    std::uint32_t const h = at.v + k;
    entries<std::uint64_t, packed_group> const to{static_cast<std::uint64_t*>(table), k,
                                                  a.item_begin[at.g + 1] - a.item_begin[at.g]};
    if (h >= a.loads * slot_words::count) break;  // never read
    if (h <= at.g || h >= a.features) {
      to.clear();
      continue;
    }
    product const of(a, s.rows_of(at.ordinal), h);
    std::uint32_t n[2][4] = {};
    std::uint32_t w[2][4] = {};
#pragma unroll 2
    for (std::uint32_t chunk = 0; chunk < a.rows.chunks; ++chunk) {
      of.add(chunk, n);
      std::uint32_t const label_step = __ldg(a.rows.step + chunk);
      if (label_step != 0) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int e = 0; e < 4; ++e) w[half][e] += label_step * n[half][e];
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (to.has(e))
          to(half, e) = a.table.factor[n[half][e]] * w[half][e] | std::uint64_t{n[half][e] != 0}
                                                                      << num_bits;
  }
}

/// As make_packed_table, but with pairs of sums, each label compared with the thresholds.
template <std::uint32_t threads>
__device__ __noinline__ void make_full_table(arguments const& a, layout const s,
                                             table_step const at, void* table) {
  for (std::uint32_t k = threadIdx.x / 32; k < full_group; k += threads / 32) {
    std::uint32_t const h = at.v + k;
    entries<sums, full_group> const to{static_cast<sums*>(table), k,
                                       a.item_begin[at.g + 1] - a.item_begin[at.g]};
    if (h >= a.loads * slot_words::count) break;  // never read
    if (h <= at.g || h >= a.features) {
      to.clear();
      continue;
    }
    product const of(a, s.rows_of(at.ordinal), h);
    std::uint32_t n[2][4] = {};
    for (std::uint32_t chunk = 0; chunk < a.rows.chunks; ++chunk) of.add(chunk, n);
    for (int half = 0; half < 2; ++half) {
      class_sums<std::uint64_t> itemsets[4] = {{a.table, n[half][0]},
                                               {a.table, n[half][1]},
                                               {a.table, n[half][2]},
                                               {a.table, n[half][3]}};
      std::uint32_t chunk = 0;
      for (std::uint32_t c = 0; c < a.rows.classes; ++c) {
        std::uint32_t sigma[2][4] = {};
        for (; chunk < a.rows.class_end[c]; ++chunk) of.add(chunk, sigma);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          std::uint32_t const here = half == 0 ? sigma[0][e] : sigma[1][e];
          if (n[half][e] != 0) itemsets[e].add(a.table, c, here);
        }
      }
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (to.has(e)) to(half, e) = n[half][e] == 0 ? sums{} : itemsets[e].sums(a.table);
    }
  }
}

}  // namespace rulerank::l2r::by_item
