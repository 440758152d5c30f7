#include "core/aligned.hpp"
#include "l2r/tensor.cuh"

#include <cub/block/block_scan.cuh>

#include <algorithm>
#include <vector>

// `tensor` for many documents (docs/modules/l2r.md, "tensor").
//
// Documents that hold the same items x and y need the same numbers: what {x, y, z} adds to a score,
// for every item z. So a block takes an item x of feature f and a piece of the documents that hold
// it. For each later feature g it sorts them by their item y of g; multiplies the rows x AND y, for
// all y of g, with the rows of some later features on the tensor cores; turns the counts into what
// they add, a table in shared memory; and then each document adds its entries of the table. An
// entry is found by the document's bins: [y][feature][bin].
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

constexpr std::uint32_t threads = 512;
/// Places for the items of a feature; the last one is "no item", and adds nothing.
constexpr std::uint32_t slots = 16;
constexpr std::uint32_t no_slot = slots - 1;
/// Later features whose table is in shared memory at a time: packed entries, and pairs of sums.
constexpr std::uint32_t packed_group = 32;
constexpr std::uint32_t full_group = 16;
static_assert(threads / 32 == slots, "a warp for each");
/// Bits of a packed entry for num; above them is the count.
constexpr int num_bits = 58;
constexpr std::uint32_t piece = 2048;  ///< documents of a block
constexpr std::uint32_t per_thread = piece / threads;
constexpr std::uint32_t most_chunks = 64;

struct arguments {
  row_view rows;
  score_view<std::uint64_t> table;
  sums const* singles;               ///< [items] what an itemset of one item adds
  std::uint32_t const* item_begin;   ///< [features + 1]
  std::uint32_t features;
  std::uint32_t max_items;           ///< 1, 2 or 3
  std::uint32_t documents;
  std::uint32_t const* slots_of;     ///< [documents][stride] eight slots a word, 4 bits each
  std::uint32_t stride;              ///< words, a multiple of 4
  bool packs;                        ///< entries may be packed
  std::uint32_t const* order;        ///< [features][documents] by slot
  std::uint32_t const* slot_begin;   ///< [features][slots + 1] into `order`
  std::uint32_t most_bins;           ///< items of a feature
  unsigned long long* totals;        ///< [documents][2] num, den
};

/// Writes each document's slots, features together, from codes that lie feature by feature. A block
/// takes 32 features of 32 documents.
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

/// Documents by slot, one block a feature.
__global__ __launch_bounds__(1024) void order_kernel(document_view const from,
                                                     std::uint32_t const* item_begin,
                                                     std::uint32_t* order,
                                                     std::uint32_t* slot_begin) {
  __shared__ std::uint32_t counts[slots];
  __shared__ std::uint32_t begin[slots + 1];
  std::uint32_t const f = blockIdx.x;
  std::uint32_t const bins = item_begin[f + 1] - item_begin[f];
  std::uint32_t const rounds = (from.documents + blockDim.x - 1) / blockDim.x;
  auto slot_of = [&](std::uint32_t d) {
    std::uint32_t const code = d < from.documents ? from.codes[f * from.stride + d] : 255U;
    return code < bins ? code : no_slot;
  };
  if (threadIdx.x < slots) counts[threadIdx.x] = 0;
  __syncthreads();
  for (std::uint32_t r = 0; r < rounds; ++r) take_rank(slot_of(r * blockDim.x + threadIdx.x), counts);
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

static_assert(packed_group * sizeof(std::uint64_t) == full_group * sizeof(sums));

/// A block's shared memory.
struct layout {
  void* table;               ///< [bins of g][packed_group][slots] or [bins of g][full_group][slots]
  sums* of_pair;             ///< [slots] what {x, y} adds
  unsigned long long* num;   ///< [piece]
  unsigned long long* den;   ///< [piece]
  std::uint32_t* rows;       ///< [chunks][16][8] x AND y
  std::uint32_t* documents;  ///< [piece]
  std::uint32_t* sorted;     ///< [piece] place in `documents`, slot << 16

  __device__ layout(void* memory, std::uint32_t most_bins, std::uint32_t chunks) {
    table = memory;
    of_pair = static_cast<sums*>(memory) + most_bins * full_group * slots;
    num = reinterpret_cast<unsigned long long*>(of_pair + slots);
    den = num + piece;
    rows = reinterpret_cast<std::uint32_t*>(den + piece);
    documents = rows + chunks * product_rows_a * product_words;
    sorted = documents + piece;
  }
  static std::size_t bytes(std::uint32_t most_bins, std::uint32_t chunks) {
    return (std::size_t{most_bins} * full_group * slots + slots) * sizeof(sums) +
           2 * piece * sizeof(unsigned long long) + chunks * product_rows_a * product_words * 4 +
           2 * piece * 4;
  }
};

/// The rows x AND y of feature g's items, and what the pairs {x, y} add.
__device__ void make_rows(arguments const& a, layout const& s, std::uint32_t x, std::uint32_t g) {
  std::uint32_t const first = a.item_begin[g];
  std::uint32_t const bins = a.item_begin[g + 1] - first;
  std::uint32_t const words = a.rows.chunks * product_words;
  for (std::uint32_t at = threadIdx.x; at < product_rows_a * words; at += threads) {
    std::uint32_t const y = at / words;
    std::uint32_t const w = at % words;
    std::uint32_t const both =
        y < bins ? a.rows.word(x, w) & a.rows.word(first + y, w) : 0;
    s.rows[(w / product_words * product_rows_a + y) * product_words + w % product_words] = both;
  }
}

/// Whether a label of an itemset with x and an item of g may fail a threshold goes to `deep`.
__device__ void make_pairs(arguments const& a, layout const& s, std::uint32_t bins, bool& deep) {
  std::uint32_t const y = threadIdx.x / 32;
  std::uint32_t const lane = threadIdx.x % 32;
  if (y >= slots) return;
  std::uint32_t const rows_y = y * product_words + lane % product_words;
  auto count = [&](std::uint32_t from, std::uint32_t to) {
    std::uint32_t n = 0;
    for (std::uint32_t chunk = from + lane / product_words; chunk < to; chunk += 32 / product_words)
      n += static_cast<std::uint32_t>(
          __popc(s.rows[chunk * product_rows_a * product_words + rows_y]));
    return __reduce_add_sync(~0U, n);
  };
  std::uint32_t const n = y < bins ? count(0, a.rows.chunks) : 0;
  sums add;
  if (n != 0) {
    class_sums<std::uint64_t> pair(a.table, n);
    std::uint32_t begin = 0;
    for (std::uint32_t k = 0; k < a.rows.classes; ++k) {
      std::uint32_t const end = a.rows.class_end[k];
      pair.add(a.table, k, count(begin, end));
      begin = end;
    }
    add = pair.sums(a.table);
  }
  if (lane == 0) s.of_pair[y] = add;
  if (lane == 0 && n > a.table.folded_up_to) deep = true;
}

/// The rows {x, y} times a feature's slots: its 16 slots are two tiles of columns.
struct product {
  std::uint32_t const* rows_a;     ///< this lane's words of the first piece
  std::uint32_t const* rows_b[2];  ///< the same of the feature's items, or of the empty row
  std::size_t stride_b;

  __device__ product(arguments const& a, layout const& s, std::uint32_t h) {
    std::uint32_t const column = threadIdx.x % 32 / 4;
    std::uint32_t const first = a.item_begin[h];
    std::uint32_t const bins = a.item_begin[h + 1] - first;
    rows_a = s.rows + column * product_words + product_word();
    for (std::uint32_t half = 0; half < 2; ++half) {
      std::uint32_t const slot = half * product_rows_b + column;
      rows_b[half] = a.rows.piece(slot < bins ? first + slot : a.rows.items + 1, 0) + product_word();
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

/// This lane's entries of the table, of feature k: slots 8 half + 2 t + (e & 1) of items
/// y = g + 8 (e >> 1).
template <class Entry, std::uint32_t Group>
struct entries {
  Entry* first;
  std::uint32_t bins;

  __device__ entries(layout const& s, std::uint32_t k, std::uint32_t items_y)
      : first(static_cast<Entry*>(s.table) + (threadIdx.x % 32 / 4 * Group + k) * slots +
              threadIdx.x % 4 * 2),
        bins(items_y) {}
  __device__ bool has(int e) const { return threadIdx.x % 32 / 4 + (e >> 1) * 8 < bins; }
  __device__ Entry& operator()(int half, int e) const {
    return first[(e >> 1) * 8 * Group * slots + half * product_rows_b + (e & 1)];
  }
};

/// What {x, y, z} adds, for the items y of a feature and z of the features v .. after g, packed.
__device__ void make_packed_table(arguments const& a, layout const& s, std::uint32_t g,
                                  std::uint32_t bins, std::uint32_t v) {
  for (std::uint32_t k = threadIdx.x / 32; k < packed_group; k += threads / 32) {
    std::uint32_t const h = v + k;
    if (h <= g || h >= a.features) continue;
    product const of(a, s, h);
    std::uint32_t n[2][4] = {};
    std::uint32_t w[2][4] = {};
#pragma unroll 4
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
    entries<std::uint64_t, packed_group> const to(s, k, bins);
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (to.has(e))
          to(half, e) = a.table.factor[n[half][e]] * w[half][e] |
                        std::uint64_t{n[half][e] != 0} << num_bits;
  }
}

/// The same as pairs of sums, each label held against the thresholds.
__device__ __noinline__ void make_full_table(arguments const& a, layout const& s, std::uint32_t g,
                                             std::uint32_t bins, std::uint32_t v) {
  std::uint32_t const k = threadIdx.x / 32;
  std::uint32_t const h = v + k;
  if (h <= g || h >= a.features) return;
  product const of(a, s, h);
  entries<sums, full_group> const to(s, k, bins);
  std::uint32_t n[2][4] = {};
  for (std::uint32_t chunk = 0; chunk < a.rows.chunks; ++chunk) of.add(chunk, n);
  for (int half = 0; half < 2; ++half) {
    class_sums<std::uint64_t> itemsets[4] = {
        {a.table, n[half][0]}, {a.table, n[half][1]}, {a.table, n[half][2]}, {a.table, n[half][3]}};
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

/// Each document adds its entries of the table, for the features v + first_k .. v + last_k - 1.
__device__ void add_packed(arguments const& a, layout const& s, std::uint32_t documents,
                           std::uint32_t v, std::uint32_t first_k, std::uint32_t last_k) {
  for (std::uint32_t p = threadIdx.x; p < documents; p += threads) {
    std::uint32_t const entry = s.sorted[p];
    std::uint32_t const here = entry & 0xFFFFU;
    uint4 const mine = __ldg(reinterpret_cast<uint4 const*>(
        a.slots_of + std::size_t{s.documents[here]} * a.stride + v / 8));
    std::uint32_t const words[4] = {mine.x, mine.y, mine.z, mine.w};
    auto const* const table =
        static_cast<std::uint64_t const*>(s.table) + (entry >> 16) * (packed_group * slots);
    std::uint64_t sum = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < packed_group; ++k) {
      if (k < first_k || k >= last_k) continue;
      sum += table[k * slots + (words[k / 8] >> (k % 8 * 4) & 15U)];
    }
    s.num[here] += sum & ((std::uint64_t{1} << num_bits) - 1);
    s.den[here] += (sum >> num_bits) * a.table.unit[1];
  }
}

__device__ void add_full(arguments const& a, layout const& s, std::uint32_t documents,
                         std::uint32_t v, std::uint32_t first_k, std::uint32_t last_k) {
  for (std::uint32_t p = threadIdx.x; p < documents; p += threads) {
    std::uint32_t const entry = s.sorted[p];
    std::uint32_t const here = entry & 0xFFFFU;
    uint2 const mine = __ldg(reinterpret_cast<uint2 const*>(
        a.slots_of + std::size_t{s.documents[here]} * a.stride + v / 8));
    std::uint32_t const words[2] = {mine.x, mine.y};
    auto const* const table =
        static_cast<ulonglong2 const*>(s.table) + (entry >> 16) * (full_group * slots);
    unsigned long long num = 0;
    unsigned long long den = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < full_group; ++k) {
      if (k < first_k || k >= last_k) continue;
      ulonglong2 const add = table[k * slots + (words[k / 8] >> (k % 8 * 4) & 15U)];
      num += add.x;
      den += add.y;
    }
    s.num[here] += num;
    s.den[here] += den;
  }
}

/// Block (item x, piece of its documents, part of the later features).
__global__ __launch_bounds__(threads, 2) void items_kernel(__grid_constant__ arguments const a) {
  extern __shared__ uint4 shared[];
  __shared__ std::uint32_t counts[slots];
  __shared__ std::uint32_t begin[slots + 1];
  __shared__ bool deep;
  std::uint32_t const x = blockIdx.x;
  // The feature of x.
  std::uint32_t f = 0;
  for (std::uint32_t low = 0, high = a.features; low < high;) {
    std::uint32_t const middle = (low + high) / 2;
    if (a.item_begin[middle + 1] <= x)
      low = middle + 1;
    else
      high = middle;
    f = low;
  }
  std::uint32_t const* const own = a.slot_begin + f * (slots + 1) + (x - a.item_begin[f]);
  std::uint32_t const holders = own[1] - own[0];
  // Even pieces.
  std::uint32_t const pieces = (holders + piece - 1) / piece;
  if (blockIdx.y >= pieces) return;
  std::uint32_t const from = static_cast<std::uint32_t>(std::uint64_t{holders} * blockIdx.y / pieces);
  std::uint32_t const documents =
      static_cast<std::uint32_t>(std::uint64_t{holders} * (blockIdx.y + 1) / pieces) - from;
  std::uint32_t const* const order = a.order + std::size_t{f} * a.documents + own[0] + from;

  layout const s(shared, a.most_bins, a.rows.chunks);
  sums const single = blockIdx.z == 0 ? a.singles[x] : sums{};
  for (std::uint32_t p = threadIdx.x; p < documents; p += threads) {
    s.documents[p] = order[p];
    s.num[p] = single.num;
    s.den[p] = single.den;
  }
  std::uint32_t const rounds = (documents + threads - 1) / threads;
  if (a.max_items > 1)
    for (std::uint32_t g = f + 1 + blockIdx.z; g < a.features; g += gridDim.z) {
      std::uint32_t const bins = a.item_begin[g + 1] - a.item_begin[g];
      if (threadIdx.x < slots) counts[threadIdx.x] = 0;
      if (threadIdx.x == 0) deep = !a.packs;
      __syncthreads();
      make_rows(a, s, x, g);
      std::uint32_t slot[per_thread];
      std::uint32_t rank[per_thread];
#pragma unroll
      for (std::uint32_t r = 0; r < per_thread; ++r) {
        if (r >= rounds) continue;
        std::uint32_t const p = r * threads + threadIdx.x;
        slot[r] = p < documents ? a.slots_of[std::size_t{s.documents[p]} * a.stride + g / 8] >>
                                          (g % 8 * 4) &
                                      15U
                                : no_slot;
        rank[r] = take_rank(slot[r], counts);
      }
      __syncthreads();
      scan_slots(counts, begin);
      make_pairs(a, s, bins, deep);
      __syncthreads();
#pragma unroll
      for (std::uint32_t r = 0; r < per_thread; ++r) {
        if (r >= rounds || slot[r] == no_slot) continue;
        std::uint32_t const p = r * threads + threadIdx.x;
        s.sorted[begin[slot[r]] + rank[r]] = p | slot[r] << 16;
        s.num[p] += s.of_pair[slot[r]].num;
        s.den[p] += s.of_pair[slot[r]].den;
      }
      if (a.max_items == 2) continue;
      std::uint32_t const sorted = begin[no_slot];
      std::uint32_t const group = deep ? full_group : packed_group;
      for (std::uint32_t v = (g + 1) / group * group; v < a.features; v += group) {
        std::uint32_t const first_k = g + 1 > v ? g + 1 - v : 0;
        std::uint32_t const last_k = min(group, a.features - v);
        if (deep)
          make_full_table(a, s, g, bins, v);
        else
          make_packed_table(a, s, g, bins, v);
        __syncthreads();
        if (deep)
          add_full(a, s, sorted, v, first_k, last_k);
        else
          add_packed(a, s, sorted, v, first_k, last_k);
        __syncthreads();
      }
    }
  __syncthreads();
  for (std::uint32_t p = threadIdx.x; p < documents; p += threads) {
    unsigned long long* const total = a.totals + 2 * std::size_t{s.documents[p]};
    atomicAdd(total, s.num[p]);
    atomicAdd(total + 1, s.den[p]);
  }
}

__global__ void finish_kernel(unsigned long long const* totals, std::uint32_t documents,
                              double mean_label, double* scores) {
  std::uint32_t const d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d < documents)
    scores[d] = score_of(sums{totals[2 * std::size_t{d}], totals[2 * std::size_t{d} + 1]}, mean_label);
}

class tensor_by_item final : public device_scorer {
 public:
  tensor_by_item(prepared_training const& training, device_training const& on_device)
      : table_(training.table.narrow()), mean_label_(training.table.mean_label()) {
    score_view<std::uint64_t> const host = training.table.narrow();
    rules::vertical_index const& index = training.index;
    std::vector<sums> singles(index.items());
    for (std::uint32_t x = 0; x < index.items(); ++x)
      singles[x] = host.classwise(index.item_support(x), index.item_supports(x).data(), 1);
    singles_ = copy_to_device(singles);
    item_begin_ = copy_to_device(training.item_begin);
    for (std::size_t f = 0; f < training.features.size(); ++f)
      most_bins_ = std::max(most_bins_, training.item_begin[f + 1] - training.item_begin[f]);
    arguments_.rows = on_device.rows();
    arguments_.table = table_.view();
    arguments_.singles = singles_.data();
    arguments_.item_begin = item_begin_.data();
    arguments_.features = static_cast<std::uint32_t>(training.features.size());
    arguments_.max_items = static_cast<std::uint32_t>(training.table.max_itemset_size());
    arguments_.stride = static_cast<std::uint32_t>(round_up(training.features.size(), 32) / 8);
    // The largest entry is that of a single document with the largest label.
    std::uint64_t const largest =
        host.factor[1] * static_cast<std::uint64_t>(std::max(host.labels[0], 1));
    arguments_.packs = training.options.support_weight == 0 && training.options.smoothing == 0 &&
                       largest < (std::uint64_t{1} << num_bits) / packed_group;
    arguments_.most_bins = most_bins_;
    shared_ = layout::bytes(most_bins_, arguments_.rows.chunks);
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<void const*>(items_kernel),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_)));
  }

  std::size_t bytes_per_document() const override {
    return 4 * std::size_t{arguments_.stride} + 4 * std::size_t{arguments_.features} + 16;
  }
  void reserve(std::size_t documents) override {
    slots_.reserve(documents * arguments_.stride);
    order_.reserve(documents * arguments_.features);
    slot_begin_.reserve(arguments_.features * (slots + std::size_t{1}));
    totals_.reserve(2 * documents);
  }

  void score(document_view const& documents, double* scores, stream const& on) override {
    arguments a = arguments_;
    a.documents = documents.documents;
    a.slots_of = slots_.data();
    a.order = order_.data();
    a.slot_begin = slot_begin_.data();
    a.totals = totals_.data();
    auto const n = documents.documents;
    check_cuda(cudaMemsetAsync(totals_.data(), 0, 16 * std::size_t{n}, on.get()));
    transpose_kernel<<<dim3((n + 31) / 32, a.stride / 4), dim3(32, 8), 0, on.get()>>>(
        documents, a.item_begin, slots_.data(), a.stride);
    order_kernel<<<a.features, 1024, 0, on.get()>>>(documents, a.item_begin, order_.data(),
                                                    slot_begin_.data());
    // Few documents: the features after x are shared out, so that there are enough blocks.
    std::uint32_t const parts = n < 100'000 ? 4 : 1;
    items_kernel<<<dim3(a.rows.items, (n + piece - 1) / piece, parts), threads, shared_, on.get()>>>(
        a);
    finish_kernel<<<(n + 255) / 256, 256, 0, on.get()>>>(totals_.data(), n, mean_label_, scores);
    check_launch();
  }

 private:
  device_score_table<std::uint64_t> table_;
  device_buffer<sums> singles_;
  device_buffer<std::uint32_t> item_begin_;
  double mean_label_;
  std::uint32_t most_bins_ = 0;
  std::size_t shared_ = 0;
  arguments arguments_{};
  device_buffer<std::uint32_t> slots_, order_, slot_begin_;
  device_buffer<unsigned long long> totals_;
};

}  // namespace

std::unique_ptr<device_scorer> make_tensor_by_item(prepared_training const& training,
                                                   device_training const& on_device) {
  std::uint32_t most_bins = 0;
  for (std::size_t f = 0; f < training.features.size(); ++f)
    most_bins = std::max(most_bins, training.item_begin[f + 1] - training.item_begin[f]);
  if (training.features.empty() || training.table.is_wide() || most_bins > no_slot ||
      training.table.max_itemset_size() > 3 || on_device.rows().chunks > most_chunks)
    return nullptr;
  return std::make_unique<tensor_by_item>(training, on_device);
}

}  // namespace rulerank::l2r
