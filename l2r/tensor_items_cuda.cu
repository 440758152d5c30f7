#include "core/aligned.hpp"
#include "core/shared_memory.hpp"
#include "l2r/tensor.cuh"

#include <algorithm>
#include <vector>

#include <cub/block/block_scan.cuh>

// `tensor` for many documents (docs/modules/l2r.md, "tensor").
//
// Documents that hold the same items x and y need the same numbers: what {x, y, z} adds to a score,
// for every item z. So a block takes an item x of feature f and a piece of the documents that hold
// it. For each later feature g it multiplies the rows x AND y, for all y of g, with the rows of
// some later features on the tensor cores; turns the counts into what they add, a table in shared
// memory; and then each document adds its entries of the table. An entry is found by the document's
// bins: [y][feature][bin]. While one table is read, the next is made. The bins lie in the order of
// the feature's items, so that a warp's documents are side by side. What {x, y} adds is in a table
// of all pairs.
//
// While all labels of an itemset are valid it adds factor[n] w to num and the same unit to den, and
// 32 such entries fit a sum of 64 bits: the lower bits for num, the upper ones count for den. Where
// a label may fail, for {x, y} held by more documents than `folded_up_to`, and with weights or
// smoothing, an entry is the two numbers.
namespace rulerank::l2r {

namespace {

using bitmaps::add_bit_product;
using bitmaps::product_rows_a;
using bitmaps::product_rows_b;
using bitmaps::product_word;
using bitmaps::product_words;
using sums = score_sums<std::uint64_t>;

/// Places for the items of a feature; the last one is "no item", and adds nothing.
constexpr std::uint32_t slots = 16;
constexpr std::uint32_t no_slot = slots - 1;
/// Later features whose table is in shared memory at a time: packed entries, and pairs of sums.
constexpr std::uint32_t packed_group = 32;
constexpr std::uint32_t full_group = 16;
/// Bits of a packed entry for num; above them is the count.
constexpr int num_bits = 58;
/// Documents of a thread, whose sums it keeps: the more, the seldomer a table is made. Where items
/// have many documents, so has a block.
constexpr std::uint32_t per_thread = 8;
constexpr std::uint32_t few_threads = 512;
constexpr std::uint32_t many_threads = 1024;
constexpr std::uint32_t most_chunks = 32;
/// Items of which all pairs are kept: 4 GiB.
constexpr std::uint32_t most_items = 1 << 14;
/// A document's slots are read so many at a time, and a table begins at such a step.
struct alignas(8) slot_words {
  static constexpr std::uint32_t words = 2;  // of eight slots, 4 bits each
  static constexpr std::uint32_t count = 8 * words;
  std::uint32_t word[words];
};
static_assert(full_group % slot_words::count == 0 && packed_group % slot_words::count == 0);

/// What a block works on: an item x of a feature, and a run of the documents that hold it.
struct alignas(16) piece {
  std::uint32_t item;
  std::uint32_t feature;
  std::uint32_t begin;  ///< in the feature's order
  std::uint32_t size;   ///< of the run; 0: nothing to do
};

struct arguments {
  row_view rows;
  score_view<std::uint64_t> table;
  sums const* singles;              ///< [items] what an itemset of one item adds
  sums const* pairs;                ///< [items][items] and of two
  std::uint8_t const* deep;         ///< [items][features] whether a label may fail, see above
  std::uint32_t const* item_begin;  ///< [features + 1]
  std::uint32_t features;
  std::uint32_t max_items;  ///< 1, 2 or 3
  std::uint32_t documents;
  slot_words const* slots_of;  ///< [features][loads][documents] in `order`, see gather_kernel
  std::uint32_t loads;         ///< of a document's slots
  bool packs;                  ///< entries may be packed
  std::uint32_t const* order;  ///< [features][documents] by slot
  std::uint32_t most_bins;     ///< items of a feature
  unsigned long long* totals;  ///< [documents][2] num, den
  piece const* pieces;         ///< [blocks / parts]
  std::uint32_t parts;         ///< of the later features g, that blocks share out
};

/// Writes each document's slots, features together, from codes that lie feature by feature: eight
/// slots a word, `stride` words a document. A block takes 32 features of 32 documents.
__global__ void transpose_kernel(document_view const from, std::uint32_t const* item_begin,
                                 std::uint32_t* slots_of, std::uint32_t stride) {
  __shared__ std::uint8_t tile[32][33];
  std::uint32_t const d0 = blockIdx.x * 32;
  std::uint32_t const f0 = blockIdx.y * 32;
  for (std::uint32_t r = threadIdx.y; r < 32; r += blockDim.y) {
    std::uint32_t const f = f0 + r;
    std::uint32_t const d = d0 + threadIdx.x;
    std::uint32_t slot = no_slot;
    if (f < from.features && d < from.documents) {
      std::uint32_t const code = from.codes[f * from.stride + d];
      if (code < item_begin[f + 1] - item_begin[f]) slot = code;
    }
    tile[r][threadIdx.x] = static_cast<std::uint8_t>(slot);
  }
  __syncthreads();
  std::uint32_t const at = threadIdx.y * blockDim.x + threadIdx.x;
  if (at >= 32 * 4) return;
  std::uint32_t const d = d0 + at / 4;
  std::uint32_t const w = at % 4;
  if (d >= from.documents) return;
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < 8; ++i) word |= std::uint32_t{tile[w * 8 + i][at / 4]} << (4 * i);
  slots_of[std::size_t{d} * stride + f0 / 8 + w] = word;
}

/// The rank of this lane's slot among the equal ones before it, counted in `counts`; all lanes of
/// the warp take part.
__device__ std::uint32_t take_rank(std::uint32_t slot, std::uint32_t* counts) {
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t const peers = __match_any_sync(~0U, slot);
  std::uint32_t const leader = static_cast<std::uint32_t>(__ffs(static_cast<int>(peers))) - 1;
  std::uint32_t base = 0;
  if (lane == leader) base = atomicAdd(counts + slot, static_cast<std::uint32_t>(__popc(peers)));
  base = __shfl_sync(~0U, base, static_cast<int>(leader));
  return base + static_cast<std::uint32_t>(__popc(peers & ((1U << lane) - 1)));
}

/// counts[0 .. slots - 1] become the sums before them, by one warp.
__device__ void scan_slots(std::uint32_t const* counts, std::uint32_t* begin) {
  std::uint32_t const lane = threadIdx.x;
  if (lane >= 32) return;
  std::uint32_t sum = lane < slots ? counts[lane] : 0;
  for (std::uint32_t step = 1; step < slots; step *= 2) {
    std::uint32_t const before = __shfl_up_sync(~0U, sum, step);
    if (lane >= step) sum += before;
  }
  if (lane < slots) begin[lane + 1] = sum;
  if (lane == 0) begin[0] = 0;
}

/// Documents by slot, one block a feature of the part.
__global__ __launch_bounds__(1024) void order_kernel(document_view const from,
                                                     std::uint32_t const* item_begin,
                                                     feature_part const part, std::uint32_t* order,
                                                     std::uint32_t* slot_begin) {
  __shared__ std::uint32_t counts[slots];
  __shared__ std::uint32_t begin[slots + 1];
  std::uint32_t const f = blockIdx.x;
  if (!part.has(f)) return;
  std::uint32_t const bins = item_begin[f + 1] - item_begin[f];
  std::uint32_t const rounds = (from.documents + blockDim.x - 1) / blockDim.x;
  auto slot_of = [&](std::uint32_t d) {
    std::uint32_t const code = d < from.documents ? from.codes[f * from.stride + d] : 255U;
    return code < bins ? code : no_slot;
  };
  if (threadIdx.x < slots) counts[threadIdx.x] = 0;
  __syncthreads();
  for (std::uint32_t r = 0; r < rounds; ++r)
    take_rank(slot_of(r * blockDim.x + threadIdx.x), counts);
  __syncthreads();
  scan_slots(counts, begin);
  __syncthreads();
  if (threadIdx.x < slots) counts[threadIdx.x] = begin[threadIdx.x];
  if (threadIdx.x < slots) slot_begin[f * (slots + 1) + threadIdx.x] = begin[threadIdx.x];
  __syncthreads();
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t const d = r * blockDim.x + threadIdx.x;
    std::uint32_t const slot = slot_of(d);
    std::uint32_t const at = take_rank(slot, counts);
    if (slot != no_slot) order[std::size_t{f} * from.documents + at] = d;
  }
}

/// For each feature of the part, the slots of the documents in its order: what blocks read again
/// and again lies side by side. `from`: [documents][stride]. The slots before the feature are not
/// read, nor written.
__global__ void gather_kernel(std::uint32_t const* order, std::uint32_t const* slot_begin,
                              feature_part const part, std::uint32_t const* from,
                              std::uint32_t stride, std::uint32_t documents, std::uint32_t loads,
                              slot_words* to) {
  std::uint32_t const f = blockIdx.y;
  if (!part.has(f)) return;
  std::uint32_t const p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= slot_begin[f * (slots + 1) + no_slot]) return;
  auto const* const mine = reinterpret_cast<slot_words const*>(
      from + std::size_t{order[std::size_t{f} * documents + p]} * stride);
  for (std::uint32_t i = f / slot_words::count; i < loads; ++i)
    to[(std::size_t{f} * loads + i) * documents + p] = mine[i];
}

/// Cuts the documents of each item of the part into even pieces of at most `largest`; the rest of
/// the `count` pieces are empty. One block.
__global__ __launch_bounds__(1024) void pieces_kernel(
    std::uint32_t const* item_begin, std::uint32_t const* slot_begin, std::uint32_t features,
    feature_part const part, std::uint32_t largest, std::uint32_t count, piece* pieces) {
  using scan = cub::BlockScan<std::uint32_t, 1024>;
  __shared__ scan::TempStorage storage;
  std::uint32_t used = 0;
  for (std::uint32_t at = threadIdx.x; at - threadIdx.x < features * slots; at += 1024) {
    std::uint32_t const f = at / slots;
    std::uint32_t const bin = at % slots;
    std::uint32_t holders = 0;
    std::uint32_t begin = 0;
    if (f < features && part.has(f) && bin < item_begin[f + 1] - item_begin[f]) {
      begin = slot_begin[f * (slots + 1) + bin];
      holders = slot_begin[f * (slots + 1) + bin + 1] - begin;
    }
    std::uint32_t const mine = (holders + largest - 1) / largest;
    std::uint32_t first = 0;
    std::uint32_t more = 0;
    scan(storage).ExclusiveSum(mine, first, more);
    for (std::uint32_t i = 0; i < mine; ++i) {
      auto const cut = [&](std::uint32_t n) {
        return static_cast<std::uint32_t>(std::uint64_t{holders} * n / mine);
      };
      pieces[used + first + i] = {item_begin[f] + bin, f, begin + cut(i), cut(i + 1) - cut(i)};
    }
    used += more;
    __syncthreads();
  }
  for (std::uint32_t i = used + threadIdx.x; i < count; i += 1024) pieces[i] = {};
}

static_assert(packed_group * sizeof(std::uint64_t) == full_group * sizeof(sums));
constexpr std::uint32_t bytes_of_y = packed_group * slots * sizeof(std::uint64_t);

/// What all pairs of items of different features add; a block an item x, a warp an item y.
__global__ void pairs_kernel(row_view const rows, score_view<std::uint64_t> const table,
                             std::uint32_t const* item_begin, std::uint32_t features, sums* pairs,
                             std::uint8_t* deep) {
  std::uint32_t const x = blockIdx.x;
  std::uint32_t const lane = threadIdx.x % 32;
  for (std::uint32_t g = 0; g < features; ++g)
    for (std::uint32_t y = item_begin[g] + threadIdx.x / 32; y < item_begin[g + 1];
         y += blockDim.x / 32) {
      auto const count = [&](std::uint32_t from, std::uint32_t to) {
        std::uint32_t n = 0;
        for (std::uint32_t w = from * product_words + lane; w < to * product_words; w += 32)
          n += static_cast<std::uint32_t>(__popc(rows.word(x, w) & rows.word(y, w)));
        return __reduce_add_sync(~0U, n);
      };
      std::uint32_t const n = count(0, rows.chunks);
      sums add;
      if (n != 0) {
        class_sums<std::uint64_t> pair(table, n);
        std::uint32_t begin = 0;
        for (std::uint32_t k = 0; k < rows.classes; ++k) {
          std::uint32_t const end = rows.class_end[k];
          pair.add(table, k, count(begin, end));
          begin = end;
        }
        add = pair.sums(table);
      }
      if (lane == 0) pairs[std::size_t{x} * rows.items + y] = add;
      if (lane == 0 && n > table.folded_up_to) deep[std::size_t{x} * features + g] = 1;
    }
}

/// A block's shared memory: two tables, one read while the other is made, and the rows of two
/// features g.
struct layout {
  unsigned char* tables;  ///< [2][bins of g][bytes_of_y]
  std::uint32_t* rows;    ///< [2][chunks][16][8] x AND y
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

/// A table: of the later features v .. of a feature g.
struct step {
  std::uint32_t g;
  std::uint32_t v;
  std::uint32_t ordinal;  ///< of g among the block's
  bool deep;
};

__device__ step first_of(arguments const& a, std::uint32_t x, std::uint32_t g,
                         std::uint32_t ordinal) {
  bool const deep = !a.packs || (g < a.features && a.deep[std::size_t{x} * a.features + g] != 0);
  return {g, (g + 1) / slot_words::count * slot_words::count, ordinal, deep};
}

/// The step after; g + 1 >= features when there is none.
__device__ step after(arguments const& a, std::uint32_t x, step const& now) {
  std::uint32_t const v = now.v + (now.deep ? full_group : packed_group);
  if (v < a.features) return {now.g, v, now.ordinal, now.deep};
  return first_of(a, x, now.g + a.parts, now.ordinal + 1);
}

/// The rows x AND y of feature g's items.
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

/// The rows {x, y} times a feature's slots: its 16 slots are two tiles of columns.
struct product {
  std::uint32_t const* rows_a;     ///< this lane's words of the first piece
  std::uint32_t const* rows_b[2];  ///< the same of the feature's items, or of the empty row
  std::size_t stride_b;

  __device__ product(arguments const& a, std::uint32_t const* rows, std::uint32_t h) {
    std::uint32_t const column = threadIdx.x % 32 / 4;
    std::uint32_t const first = a.item_begin[h];
    std::uint32_t const bins = a.item_begin[h + 1] - first;
    rows_a = rows + column * product_words + product_word();
    for (std::uint32_t half = 0; half < 2; ++half) {
      std::uint32_t const slot = half * product_rows_b + column;
      rows_b[half] =
          a.rows.piece(slot < bins ? first + slot : a.rows.items + 1, 0) + product_word();
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

/// This lane's entries of a table, of feature k: slots 8 half + 2 t + (e & 1) of items
/// y = g + 8 (e >> 1). The slots of y are turned by y, so that documents of one bin z and different
/// y do not meet in one bank.
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
  /// A feature that is not there adds nothing.
  __device__ void clear() const {
    for (int half = 0; half < 2; ++half)
      for (int e = 0; e < 4; ++e)
        if (has(e)) (*this)(half, e) = Entry{};
  }
};

/// What {x, y, z} adds, for the items y of a feature and z of the features v .. after g, packed.
template <std::uint32_t threads>
__device__ void make_packed_table(arguments const& a, layout const& s, step const& at,
                                  void* table) {
  for (std::uint32_t k = threadIdx.x / 32; k < packed_group; k += threads / 32) {
    std::uint32_t const h = at.v + k;
    entries<std::uint64_t, packed_group> const to{static_cast<std::uint64_t*>(table), k,
                                                  a.item_begin[at.g + 1] - a.item_begin[at.g]};
    if (h >= a.loads * slot_words::count) break;  // nobody reads it
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
      std::uint32_t const step = __ldg(a.rows.step + chunk);
      if (step != 0) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int e = 0; e < 4; ++e) w[half][e] += step * n[half][e];
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

/// The same as pairs of sums, each label held against the thresholds.
template <std::uint32_t threads>
__device__ __noinline__ void make_full_table(arguments const& a, layout const s, step const at,
                                             void* table) {
  for (std::uint32_t k = threadIdx.x / 32; k < full_group; k += threads / 32) {
    std::uint32_t const h = at.v + k;
    entries<sums, full_group> const to{static_cast<sums*>(table), k,
                                       a.item_begin[at.g + 1] - a.item_begin[at.g]};
    if (h >= a.loads * slot_words::count) break;  // nobody reads it
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

/// Eight slots, each turned by y.
__device__ inline std::uint32_t turned(std::uint32_t eight, std::uint32_t y) {
  std::uint32_t const by = y * 0x11111111U;
  return ((eight & 0x77777777U) + (by & 0x77777777U)) ^ ((eight ^ by) & 0x88888888U);
}

/// A document's slots, the i-th that are read together; nothing behind the last.
__device__ inline slot_words load_slots(arguments const& a, slot_words const* slots_of,
                                        std::uint32_t i) {
  if (i >= a.loads) return {};
  uint2 const two = __ldg(reinterpret_cast<uint2 const*>(slots_of + std::size_t{i} * a.documents));
  return {{two.x, two.y}};
}

/// A document adds its entries of a table: y is its item of g, `slots_of` where its slots begin.
__device__ void add_packed(arguments const& a, slot_words const* slots_of, step const& at,
                           std::uint32_t y, void const* made, sums& total) {
  auto const* const table = static_cast<std::uint64_t const*>(made) + y * (packed_group * slots);
  slot_words read[packed_group / slot_words::count];
#pragma unroll
  for (std::uint32_t i = 0; i < packed_group / slot_words::count; ++i)
    read[i] = load_slots(a, slots_of, at.v / slot_words::count + i);
  std::uint64_t sum = 0;
#pragma unroll
  for (std::uint32_t w = 0; w < packed_group / 8; ++w) {
    if (at.v + 8 * w >= a.features) break;
    std::uint32_t const eight = turned(read[w / slot_words::words].word[w % slot_words::words], y);
#pragma unroll
    for (std::uint32_t k = 0; k < 8; ++k)
      sum += table[(w * 8 + k) * slots + (eight >> (k * 4) & 15U)];
  }
  total.num += sum & ((std::uint64_t{1} << num_bits) - 1);
  total.den += (sum >> num_bits) * a.table.unit[1];
}

__device__ void add_full(arguments const& a, slot_words const* slots_of, step const& at,
                         std::uint32_t y, void const* made, sums& total) {
  static_assert(full_group == slot_words::count);
  auto const* const table = static_cast<ulonglong2 const*>(made) + y * (full_group * slots);
  slot_words const read = load_slots(a, slots_of, at.v / slot_words::count);
#pragma unroll
  for (std::uint32_t w = 0; w < slot_words::words; ++w) {
    if (at.v + 8 * w >= a.features) break;
    std::uint32_t const eight = turned(read.word[w], y);
#pragma unroll
    for (std::uint32_t k = 0; k < 8; ++k) {
      ulonglong2 const add = table[(w * 8 + k) * slots + (eight >> (k * 4) & 15U)];
      total.num += add.x;
      total.den += add.y;
    }
  }
}

/// A block does a part of the later features for a piece. The parts of a piece run side by side,
/// since they read the same slots.
template <std::uint32_t threads>
__global__ __launch_bounds__(threads, 1) void items_kernel(__grid_constant__ arguments const a) {
  extern __shared__ uint4 shared[];
  piece const own = a.pieces[blockIdx.x / a.parts];
  std::uint32_t const part = blockIdx.x % a.parts;
  if (own.size == 0) return;
  std::uint32_t const x = own.item;
  std::uint32_t const f = own.feature;
  // A thread has the documents threadIdx.x, threadIdx.x + threads, ... of its block's.
  std::uint32_t const first = own.begin + threadIdx.x;  // in f's order
  slot_words const* const slots_of = a.slots_of + std::size_t{f} * a.loads * a.documents + first;
  sums total[per_thread];
  auto const has = [&](std::uint32_t r) { return r * threads + threadIdx.x < own.size; };
  auto const slot = [&](std::uint32_t r, std::uint32_t g) {
    slot_words const* const read =
        slots_of + std::size_t{g / slot_words::count} * a.documents + r * threads;
    return __ldg(read->word + g / 8 % slot_words::words) >> (g % 8 * 4) & 15U;
  };
#pragma unroll
  for (std::uint32_t r = 0; r < per_thread; ++r) {
    if (part == 0) total[r] = a.singles[x];
    if (!has(r) || a.max_items < 2) continue;
    for (std::uint32_t g = f + 1 + part; g < a.features; g += a.parts) {
      std::uint32_t const y = slot(r, g);
      if (y != no_slot) total[r] += a.pairs[std::size_t{x} * a.rows.items + a.item_begin[g] + y];
    }
  }
  layout const s(shared, a.most_bins, a.rows.chunks);
  step now = first_of(a, x, f + 1 + part, 0);
  auto const is_there = [&](step const& which) { return which.g + 1 < a.features; };
  if (a.max_items > 2 && is_there(now)) {
    auto const make = [&](step const& at, std::uint32_t which) {
      if (at.deep)
        make_full_table<threads>(a, s, at, s.table(which));
      else
        make_packed_table<threads>(a, s, at, s.table(which));
    };
    auto const make_rows_before = [&](step const& at, step const& before) {
      if (is_there(at) && at.ordinal != before.ordinal)
        make_rows<threads>(a, s.rows_of(at.ordinal), x, at.g);
    };
    make_rows<threads>(a, s.rows_of(now.ordinal), x, now.g);
    step next = after(a, x, now);
    __syncthreads();
    make(now, 0);
    make_rows_before(next, now);
    __syncthreads();
    for (std::uint32_t t = 0; is_there(now); ++t) {
      step const later = is_there(next) ? after(a, x, next) : next;
      if (is_there(next)) {
        make(next, t + 1);
        make_rows_before(later, next);
      }
#pragma unroll
      for (std::uint32_t r = 0; r < per_thread; ++r) {
        if (!has(r)) continue;
        std::uint32_t const y = slot(r, now.g);
        if (y == no_slot) continue;
        if (now.deep)
          add_full(a, slots_of + r * threads, now, y, s.table(t), total[r]);
        else
          add_packed(a, slots_of + r * threads, now, y, s.table(t), total[r]);
      }
      __syncthreads();
      now = next;
      next = later;
    }
  }
#pragma unroll
  for (std::uint32_t r = 0; r < per_thread; ++r) {
    if (!has(r)) continue;
    std::uint32_t const document = a.order[std::size_t{f} * a.documents + first + r * threads];
    unsigned long long* const to = a.totals + 2 * std::size_t{document};
    atomicAdd(to, static_cast<unsigned long long>(total[r].num));
    atomicAdd(to + 1, static_cast<unsigned long long>(total[r].den));
  }
}

__global__ void finish_kernel(sums const* totals, std::uint32_t documents, double mean_label,
                              double* scores) {
  std::uint32_t const d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d < documents) scores[d] = score_of(totals[d], mean_label);
}

class tensor_by_item final : public device_scorer {
 public:
  tensor_by_item(prepared_training const& training, device_training const& on_device)
      : table_(training.table.narrow()), mean_label_(training.table.mean_label()) {
    score_view<std::uint64_t> const host = training.table.narrow();
    rules::vertical_index const& index = training.index;
    singles_ = copy_to_device(sums_of_single_items<std::uint64_t>(training));
    item_begin_ = copy_to_device(training.item_begin);
    for (std::size_t f = 0; f < training.features.size(); ++f)
      bins_.push_back(training.item_begin[f + 1] - training.item_begin[f]);
    most_bins_ = *std::max_element(bins_.begin(), bins_.end());
    arguments_.rows = on_device.rows();
    arguments_.table = table_.view();
    arguments_.singles = singles_.data();
    arguments_.item_begin = item_begin_.data();
    arguments_.features = static_cast<std::uint32_t>(training.features.size());
    arguments_.max_items = static_cast<std::uint32_t>(training.table.max_itemset_size());
    std::size_t const features = training.features.size();
    stride_ = static_cast<std::uint32_t>(round_up(features, 32) / 8);
    arguments_.loads =
        static_cast<std::uint32_t>(round_up(features, slot_words::count) / slot_words::count);
    // The largest entry is that of a single document with the largest label.
    std::uint64_t const largest =
        host.factor[1] * static_cast<std::uint64_t>(std::max(host.labels[0], 1));
    arguments_.packs = training.options.support_weight == 0 && training.options.smoothing == 0 &&
                       largest < (std::uint64_t{1} << num_bits) / packed_group;
    arguments_.most_bins = most_bins_;
    std::size_t const items = index.items();
    pairs_ = device_buffer<sums>(items * items);
    deep_ = device_buffer<std::uint8_t>(items * arguments_.features);
    deep_.fill_bytes(0);
    pairs_kernel<<<static_cast<unsigned>(items), 256>>>(arguments_.rows, arguments_.table,
                                                        item_begin_.data(), arguments_.features,
                                                        pairs_.data(), deep_.data());
    check_launch();
    check_cuda(cudaDeviceSynchronize());
    arguments_.pairs = pairs_.data();
    arguments_.deep = deep_.data();
    shared_ = layout::bytes(most_bins_, arguments_.rows.chunks);
  }

  std::size_t bytes_per_document() const override {
    std::size_t const features = arguments_.features;
    return 4 * (stride_ + features) + features * arguments_.loads * sizeof(slot_words) + 16;
  }
  void reserve(std::size_t documents) override {
    slots_.reserve(documents * stride_);
    ordered_slots_.reserve(documents * arguments_.loads * arguments_.features);
    order_.reserve(documents * arguments_.features);
    slot_begin_.reserve(arguments_.features * (slots + std::size_t{1}));
    totals_.reserve(documents);
    pieces_.reserve(
        most_pieces(static_cast<std::uint32_t>(documents), {}, per_thread * few_threads));
  }

  void score(document_view const& documents, double* scores, stream const& on) override {
    score_part(documents, {}, totals_.data(), on);
    finish_kernel<<<(documents.documents + 255) / 256, 256, 0, on.get()>>>(
        totals_.data(), documents.documents, mean_label_, scores);
    check_launch();
  }

  void score_part(document_view const& documents, feature_part const& part, sums* to,
                  stream const& on) override {
    arguments a = arguments_;
    a.documents = documents.documents;
    a.slots_of = ordered_slots_.data();
    a.order = order_.data();
    a.totals = reinterpret_cast<unsigned long long*>(to);
    auto const n = documents.documents;
    check_cuda(cudaMemsetAsync(to, 0, n * sizeof(sums), on.get()));
    std::size_t const holders =
        std::size_t{n} * a.features / a.rows.items;  // of an item, on average
    std::uint32_t const threads =
        holders > 2 * per_thread * few_threads ? many_threads : few_threads;
    std::uint32_t const largest = per_thread * threads;
    std::uint32_t const pieces = most_pieces(n, part, largest);
    if (pieces == 0) return;
    a.pieces = pieces_.data();
    transpose_kernel<<<dim3((n + 31) / 32, stride_ / 4), dim3(32, 8), 0, on.get()>>>(
        documents, a.item_begin, slots_.data(), stride_);
    order_kernel<<<a.features, 1024, 0, on.get()>>>(documents, a.item_begin, part, order_.data(),
                                                    slot_begin_.data());
    pieces_kernel<<<1, 1024, 0, on.get()>>>(a.item_begin, slot_begin_.data(), a.features, part,
                                            largest, pieces, pieces_.data());
    gather_kernel<<<dim3((n + 255) / 256, a.features), 256, 0, on.get()>>>(
        order_.data(), slot_begin_.data(), part, slots_.data(), stride_, n, a.loads,
        ordered_slots_.data());
    a.parts = std::clamp(enough_blocks / pieces, threads == many_threads ? 4U : 2U, most_parts);
    auto const kernel =
        threads == many_threads ? items_kernel<many_threads> : items_kernel<few_threads>;
    kernel<<<pieces * a.parts, threads, shared_, on.get()>>>(a);
    check_launch();
  }

 private:
  /// Few pieces are cut into more parts of the later features.
  static constexpr std::uint32_t enough_blocks = 2048;
  static constexpr std::uint32_t most_parts = 8;

  /// Pieces of the part, at most: of every item one that is not full, and the full ones.
  std::uint32_t most_pieces(std::uint32_t documents, feature_part const& part,
                            std::uint32_t largest) const {
    std::uint32_t pieces = 0;
    for (std::uint32_t f = 0; f < arguments_.features; ++f)
      if (part.has(f)) pieces += bins_[f] + documents / largest;
    return pieces;
  }

  device_score_table<std::uint64_t> table_;
  device_buffer<sums> singles_, pairs_;
  device_buffer<std::uint8_t> deep_;
  device_buffer<std::uint32_t> item_begin_;
  double mean_label_;
  std::vector<std::uint32_t> bins_;  // of each feature
  std::uint32_t most_bins_ = 0;
  std::size_t shared_ = 0;
  arguments arguments_{};
  std::uint32_t stride_ = 0;  // words of a document in slots_
  device_buffer<std::uint32_t> slots_, order_, slot_begin_;
  device_buffer<slot_words> ordered_slots_;
  device_buffer<piece> pieces_;
  device_buffer<sums> totals_;
};

}  // namespace

std::unique_ptr<device_scorer> make_tensor_by_item(prepared_training const& training,
                                                   device_training const& on_device) {
  std::uint32_t most_bins = 0;
  for (std::size_t f = 0; f < training.features.size(); ++f)
    most_bins = std::max(most_bins, training.item_begin[f + 1] - training.item_begin[f]);
  if (training.features.empty() || training.table.is_wide() || most_bins > no_slot ||
      training.table.max_itemset_size() > 3 || on_device.rows().chunks > most_chunks ||
      on_device.rows().items > most_items)
    return nullptr;
  // A small device goes without: documents one by one need less.
  std::size_t shared = layout::bytes(most_bins, on_device.rows().chunks);
  for (auto const kernel : {items_kernel<few_threads>, items_kernel<many_threads>})
    if (shared > allow_all_shared_memory(kernel)) return nullptr;
  std::size_t const items = on_device.rows().items;
  if (items * (items * sizeof(sums) + training.features.size()) > memory_budget() / 4)
    return nullptr;
  return std::make_unique<tensor_by_item>(training, on_device);
}

}  // namespace rulerank::l2r
