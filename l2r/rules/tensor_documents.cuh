#pragma once

#include "core/aligned.hpp"
#include "core/shared_memory.hpp"
#include "l2r/rules/tensor.cuh"

#include <algorithm>
#include <vector>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

// `tensor` document by document (docs/reference/modules/l2r.md, "tensor").
//
// A block scores one document, or part of its itemsets, with the document's bit rows in shared
// memory if they fit. Triples {i, j, l}, i < j < l: for each j, tiles of 16 rows i are ANDed with
// row j while they are read, and multiplied with 8 rows l at a time on the tensor cores. Pairs {j,
// l} use tiles of 16 rows j and a row of ones. The products are the supports n. Columns are sorted
// by label, highest first, so adding the running count to w after each label gives w = sum of r
// n_r. For itemsets of more than three items, the rows of the first items are ANDed into one extra
// row.
//
// Each kind of kernel has its own source (plain sums, other 64-bit sums, 128-bit sums), because one
// source for all would compile for minutes.
namespace rulerank::inline v0::l2r::by_document {

using bitmaps::add_bit_product;
using bitmaps::product_rows_a;
using bitmaps::product_rows_b;
using bitmaps::product_word;
using bitmaps::product_words;

inline constexpr std::uint32_t threads = 256;
inline constexpr std::uint32_t warps = threads / 32;
/// Rows after a document's own: eight empty ones, and one of ones.
inline constexpr std::uint32_t more_rows = product_rows_b + 1;

template <class Sum>
struct arguments {
  document_view documents;
  row_view rows;
  score_view<Sum> table;
  score_sums<Sum> const* singles;  ///< [items] the contribution of each itemset of one item
  double mean_label;
  std::uint32_t max_items;  ///< rule size - 1
  std::uint32_t most_rows;  ///< rows of a document in shared memory, at most
  double* scores;
  /// With several blocks per document: its sums so far, and the number of blocks that have added.
  unsigned long long* partial;  ///< [documents][2]
  std::uint32_t* arrived;       ///< [documents]
};

/// Source of a document's rows: shared memory, in chunks of 256 bits...
struct rows_in_shared {
  std::uint32_t const* words;
  std::uint32_t rows;
  using place = std::uint32_t;
  __device__ place at(std::uint32_t r) const { return r * product_words + product_word(); }
  __device__ uint2 load(place row, std::uint32_t chunk) const {
    return *reinterpret_cast<uint2 const*>(words + row + chunk * (rows * product_words));
  }
  __device__ std::uint32_t word(std::uint32_t r, std::uint32_t w) const {
    return words[(w / product_words * rows + r) * product_words + w % product_words];
  }
};

/// ... or, if they do not fit, the matrix of the training set.
struct rows_in_memory {
  row_view training;
  std::uint32_t const* row_of;  ///< the document's rows, in shared memory
  using place = std::uint32_t;
  __device__ place at(std::uint32_t r) const { return row_of[r] * product_words + product_word(); }
  __device__ uint2 load(place row, std::uint32_t chunk) const {
    return __ldg(reinterpret_cast<uint2 const*>(
        training.words + std::size_t{chunk} * (training.items + 2) * product_words + row));
  }
  __device__ std::uint32_t word(std::uint32_t r, std::uint32_t w) const {
    return training.word(row_of[r], w);
  }
};

__device__ inline uint2 operator&(uint2 a, uint2 b) {
  return {a.x & b.x, a.y & b.y};
}

template <class Sum, bool Plain>
struct total {
  Sum num{};
  Sum den{};
  std::uint32_t supported = 0;  ///< Plain: itemsets with n > 0; each adds the same to den

  __device__ void add(score_sums<Sum> const& more) {
    num += more.num;
    den += more.den;
  }
};

/// A warp's view of a document. Its rows are 0 .. used - 1; eight empty ones follow.
template <class Sum, class Rows>
struct document {
  Rows rows;
  row_view training;
  score_view<Sum> table;
  Sum const* factor;          ///< table.factor, in shared memory if it fits
  std::uint32_t const* step;  ///< training.step, in shared memory
  std::uint32_t used;
};

/// The 16 rows of a tile: rows g and g + 8 of this lane, both ANDed with a third row.
template <class Rows>
struct tile_rows {
  typename Rows::place row[2];
  typename Rows::place both;
  std::uint32_t const* first;  ///< [chunks * 8] the AND of the earlier items, null: none

  __device__ void load(Rows const& rows, std::uint32_t chunk, uint2 (&a)[2]) const {
    uint2 mask = rows.load(both, chunk);
    if (first != nullptr)
      mask = mask & *reinterpret_cast<uint2 const*>(first + chunk * product_words + product_word());
    a[0] = rows.load(row[0], chunk) & mask;
    a[1] = rows.load(row[1], chunk) & mask;
  }
};

/// The contribution of a tile's itemsets with the rows l0 .. l0 + 7, with each class compared with
/// the thresholds. n: their supports, 0 to skip one.
template <class Sum, class Rows>
__device__ score_sums<Sum> classwise_sums(document<Sum, Rows> const& d, tile_rows<Rows> const& tile,
                                          std::uint32_t l0, std::uint32_t const (&n)[4]) {
  auto const place_b = d.rows.at(l0 + threadIdx.x % 32 / 4);
  class_sums<Sum> itemsets[4] = {class_sums<Sum>(d.table, n[0]), class_sums<Sum>(d.table, n[1]),
                                 class_sums<Sum>(d.table, n[2]), class_sums<Sum>(d.table, n[3])};
  std::uint32_t chunk = 0;
  for (std::uint32_t k = 0; k < d.training.classes; ++k) {
    std::uint32_t sigma[4] = {};
    for (; chunk < d.training.class_end[k]; ++chunk) {
      uint2 a[2];
      tile.load(d.rows, chunk, a);
      add_bit_product(sigma, a, d.rows.load(place_b, chunk));
    }
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (n[e] != 0) itemsets[e].add(d.table, k, sigma[e]);
  }
  score_sums<Sum> sums;
#pragma unroll
  for (int e = 0; e < 4; ++e)
    if (n[e] != 0) sums += itemsets[e].sums(d.table);
  return sums;
}

/// Not inlined, for a loop that rarely needs it.
template <class Sum, class Rows>
__device__ __noinline__ score_sums<Sum> rare_classwise_sums(document<Sum, Rows> d,
                                                            tile_rows<Rows> tile, std::uint32_t l0,
                                                            uint4 n) {
  std::uint32_t const counts[4] = {n.x, n.y, n.z, n.w};
  return classwise_sums(d, tile, l0, counts);
}

/// Adds the contribution of a tile's itemsets with the rows l0 .. l0 + 8 Count - 1, computed from n
/// and w while all their labels are valid. Masked: only rows l > after[h], for row g + 8 h of the
/// tile.
/// Long because n and w of all Count products stay in registers until they are summed.
template <int Count, bool Masked, bool Plain, class Sum, class Rows>
__device__ __forceinline__ void add_folded(document<Sum, Rows> const& d,
                                           tile_rows<Rows> const& tile, std::uint32_t l0,
                                           std::uint32_t const (&after)[2],
                                           total<Sum, Plain>& sums) {
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint32_t n[Count][4] = {};
  std::uint32_t w[Count][4] = {};
  typename Rows::place place_b[Count];
#pragma unroll
  for (int b = 0; b < Count; ++b)
    place_b[b] = d.rows.at(l0 + static_cast<std::uint32_t>(b) * product_rows_b + lane / 4);
  for (std::uint32_t chunk = 0; chunk < d.training.chunks; ++chunk) {
    uint2 a[2];
    tile.load(d.rows, chunk, a);
#pragma unroll
    for (int b = 0; b < Count; ++b) add_bit_product(n[b], a, d.rows.load(place_b[b], chunk));
    std::uint32_t const step = d.step[chunk];
    if (step != 0) {
#pragma unroll
      for (int b = 0; b < Count; ++b)
        for (int e = 0; e < 4; ++e) w[b][e] += step * n[b][e];
    }
  }
  std::uint32_t most = 0;
#pragma unroll
  for (int b = 0; b < Count; ++b)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if constexpr (Masked)
        if (l0 + static_cast<std::uint32_t>(b) * product_rows_b + lane % 4 * 2 + (e & 1) <=
            after[e >> 1])
          n[b][e] = 0;
      most = max(most, n[b][e]);
    }
  if (__any_sync(~0U, most > d.table.folded_up_to)) {
#pragma unroll
    for (int b = 0; b < Count; ++b) {
      std::uint32_t many[4] = {};
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (n[b][e] > d.table.folded_up_to) {
          many[e] = n[b][e];
          n[b][e] = 0;
        }
      if (__any_sync(~0U, (many[0] | many[1] | many[2] | many[3]) != 0))
        sums.add(rare_classwise_sums(d, tile, l0 + static_cast<std::uint32_t>(b) * product_rows_b,
                                     uint4{many[0], many[1], many[2], many[3]}));
    }
  }
#pragma unroll
  for (int b = 0; b < Count; ++b)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      sums.num += d.factor[n[b][e]] * w[b][e];
      if constexpr (Plain)
        sums.supported += min(n[b][e], 1U);
      else
        sums.den += d.table.unit[n[b][e]];
    }
}

/// As add_folded, but by class, for thresholds that many labels fail.
template <bool Masked, bool Plain, class Sum, class Rows>
__device__ void add_by_class(document<Sum, Rows> const& d, tile_rows<Rows> const& tile,
                             std::uint32_t l0, std::uint32_t const (&after)[2],
                             total<Sum, Plain>& sums) {
  std::uint32_t const lane = threadIdx.x % 32;
  auto const place_b = d.rows.at(l0 + lane / 4);
  std::uint32_t n[4] = {};
  for (std::uint32_t chunk = 0; chunk < d.training.chunks; ++chunk) {
    uint2 a[2];
    tile.load(d.rows, chunk, a);
    add_bit_product(n, a, d.rows.load(place_b, chunk));
  }
  if constexpr (Masked) {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (l0 + lane % 4 * 2 + (e & 1) <= after[e >> 1]) n[e] = 0;
  }
  if (__any_sync(~0U, (n[0] | n[1] | n[2] | n[3]) != 0)) sums.add(classwise_sums(d, tile, l0, n));
}

/// Adds the contribution of a tile's itemsets with the rows l0 .. used - 1.
template <bool Masked, bool Plain, bool Classwise, class Sum, class Rows>
__device__ void add_tile(document<Sum, Rows> const& d, tile_rows<Rows> const& tile,
                         std::uint32_t l0, std::uint32_t const (&after)[2],
                         total<Sum, Plain>& sums) {
  std::uint32_t left = (d.used - l0 + product_rows_b - 1) / product_rows_b;
  if constexpr (Classwise) {
    for (; left > 0; --left, l0 += product_rows_b) add_by_class<Masked>(d, tile, l0, after, sums);
  } else {
    constexpr std::uint32_t most = 6;  // limit set by the registers
    for (std::uint32_t passes = (left + most - 1) / most; passes > 0; --passes) {
      std::uint32_t const count = (left + passes - 1) / passes;
      switch (count) {
        case 1:
          add_folded<1, Masked>(d, tile, l0, after, sums);
          break;
        case 2:
          add_folded<2, Masked>(d, tile, l0, after, sums);
          break;
        case 3:
          add_folded<3, Masked>(d, tile, l0, after, sums);
          break;
        case 4:
          add_folded<4, Masked>(d, tile, l0, after, sums);
          break;
        case 5:
          add_folded<5, Masked>(d, tile, l0, after, sums);
          break;
        case 6:
          add_folded<6, Masked>(d, tile, l0, after, sums);
          break;
      }
      left -= count;
      l0 += count * product_rows_b;
    }
  }
}

/// Adds every itemset {j, l}, j < l, in tiles of 16 rows j.
template <bool Plain, bool Classwise, class Sum, class Rows>
__device__ void add_pairs(document<Sum, Rows> const& d, total<Sum, Plain>& sums) {
  std::uint32_t const g = threadIdx.x % 32 / 4;
  for (std::uint32_t j0 = (blockIdx.y * warps + threadIdx.x / 32) * product_rows_a; j0 + 1 < d.used;
       j0 += gridDim.y * warps * product_rows_a) {
    tile_rows<Rows> tile;
    std::uint32_t const j[2] = {j0 + g, j0 + g + 8};
    for (int h = 0; h < 2; ++h) tile.row[h] = d.rows.at(min(j[h], d.used));
    tile.both = d.rows.at(d.used + 8);  // all ones
    tile.first = nullptr;
    add_tile<true, Plain, Classwise>(d, tile, j0 + 1, j, sums);
  }
}

/// Adds every itemset {i, j, l}, base <= i < j < l, joined with the items of `first`: for each j,
/// tiles of 16 rows i, counted down from j - 1.
template <bool Plain, bool Classwise, class Sum, class Rows>
__device__ void add_triples(document<Sum, Rows> const& d, std::uint32_t const* first,
                            std::uint32_t base, total<Sum, Plain>& sums) {
  std::uint32_t const g = threadIdx.x % 32 / 4;
  std::uint32_t const stride = gridDim.y * warps;
  std::uint32_t next = blockIdx.y * warps + threadIdx.x / 32;  // this warp's next tile, counted
                                                               // from this j
  for (std::uint32_t j = base + 1; j + 1 < d.used; ++j) {
    std::uint32_t const tiles = (j - base + product_rows_a - 1) / product_rows_a;
    for (; next < tiles; next += stride) {
      tile_rows<Rows> tile;
      for (std::uint32_t h = 0; h < 2; ++h) {
        std::uint32_t const back = (next + 1) * product_rows_a - g - 8 * h;  // i = j - back
        tile.row[h] = d.rows.at(back <= j - base ? j - back : d.used);
      }
      tile.both = d.rows.at(j);
      tile.first = first;
      std::uint32_t const none[2] = {};
      add_tile<false, Plain, Classwise>(d, tile, j + 1, none, sums);
    }
    next -= tiles;
  }
}

/// Scores a document, or adds part of its itemsets; see the top of this file.
/// Long because all steps share registers and shared memory: split into functions, even inlined
/// ones, it compiles to another instruction order and stack.
template <class Sum, bool Plain, bool Classwise, bool Shared, bool FactorShared>
__global__ __launch_bounds__(threads, 2) void tensor_kernel(arguments<Sum> const a) {
  using Rows = std::conditional_t<Shared, rows_in_shared, rows_in_memory>;
  using reduce = cub::BlockReduce<Sum, threads>;
  using scan = cub::BlockScan<std::uint32_t, threads>;
  extern __shared__ uint4 shared[];
  __shared__ union {
    typename reduce::TempStorage reduce;
    typename scan::TempStorage scan;
  } storage;
  std::uint32_t const doc = blockIdx.x;
  std::uint32_t const chunks = a.rows.chunks;

  // Layout of shared memory: rows, the row of first items, steps, row numbers, factors.
  auto* const words = reinterpret_cast<std::uint32_t*>(shared);
  std::uint32_t* const first = words + (Shared ? a.most_rows * chunks * product_words : 0);
  std::uint32_t* const step = first + (a.max_items > 3 ? chunks * product_words : 0);
  std::uint32_t* const row_of = step + (chunks + 3) / 4 * 4;
  auto* const factor = reinterpret_cast<Sum*>(row_of + (a.most_rows + 3) / 4 * 4);

  total<Sum, Plain> sums;
  // Rows in feature order, so that all blocks of a document see the same pairs.
  std::uint32_t used = 0;
  for (std::uint32_t begin = 0; begin < a.documents.features; begin += threads) {
    std::uint32_t const f = begin + threadIdx.x;
    std::uint32_t const row = f < a.documents.features ? a.documents.row_of(f, doc) : no_row;
    std::uint32_t at = 0;
    std::uint32_t more = 0;
    scan(storage.scan).ExclusiveSum(row == no_row ? 0U : 1U, at, more);
    if (row != no_row) {
      row_of[used + at] = row;
      if (blockIdx.y == 0) sums.add(a.singles[row]);
    }
    used += more;
    __syncthreads();
  }
  for (std::uint32_t c = threadIdx.x; c < chunks; c += threads) step[c] = a.rows.step[c];
  if constexpr (FactorShared)
    for (std::uint32_t n = threadIdx.x; n < a.table.size; n += threads)
      factor[n] = a.table.factor[n];
  std::uint32_t const rows = used + more_rows;
  if (threadIdx.x < more_rows)
    row_of[used + threadIdx.x] = a.rows.items + (threadIdx.x + 1 < more_rows ? 1 : 0);
  __syncthreads();
  if constexpr (Shared) {
    auto* const to = reinterpret_cast<uint4*>(words);
    std::uint32_t const halves = chunks * 2;
    for (std::uint32_t at = threadIdx.x; at < rows * halves; at += threads) {
      std::uint32_t const r = at / halves;
      std::uint32_t const half = at % halves;
      to[(half / 2 * rows + r) * 2 + half % 2] =
          __ldg(reinterpret_cast<uint4 const*>(a.rows.words_of(row_of[r], half / 2)) + half % 2);
    }
    __syncthreads();
  }

  document<Sum, Rows> d;
  if constexpr (Shared)
    d.rows = {words, rows};
  else
    d.rows = {a.rows, row_of};
  d.training = a.rows;
  d.table = a.table;
  d.factor = FactorShared ? factor : a.table.factor;
  d.step = step;
  d.used = used;
  if (a.max_items > 1) add_pairs<Plain, Classwise>(d, sums);
  if (a.max_items > 2) add_triples<Plain, Classwise>(d, nullptr, 0, sums);
  if (a.max_items > 3) {
    // The first items x_1 < ... < x_q before a triple, q = 1 .. max_items - 3.
    constexpr std::uint32_t deepest = 61;
    std::uint32_t chosen[deepest];
    for (std::uint32_t q = 1; q + 3 <= a.max_items && q + 3 <= used; ++q) {
      for (std::uint32_t k = 0; k < q; ++k) chosen[k] = k;
      for (;;) {
        __syncthreads();
        for (std::uint32_t w = threadIdx.x; w < chunks * product_words; w += threads) {
          std::uint32_t both = ~0U;
          for (std::uint32_t k = 0; k < q; ++k) both &= d.rows.word(chosen[k], w);
          first[w] = both;
        }
        __syncthreads();
        add_triples<Plain, Classwise>(d, first, chosen[q - 1] + 1, sums);
        std::uint32_t k = q;  // find the next combination that leaves three rows
        while (k > 0 && chosen[k - 1] + 1 + (q - k) + 3 > used - 1) --k;
        if (k == 0) break;
        ++chosen[k - 1];
        for (; k < q; ++k) chosen[k] = chosen[k - 1] + 1;
      }
    }
  }
  if constexpr (Plain) sums.den += Sum{sums.supported} * a.table.unit[1];

  Sum const num = reduce(storage.reduce).Sum(sums.num);
  __syncthreads();
  Sum const den = reduce(storage.reduce).Sum(sums.den);
  if (threadIdx.x != 0) return;
  if (gridDim.y == 1) {
    a.scores[doc] = score_of(score_sums<Sum>{num, den}, a.mean_label);
    return;
  }
  if constexpr (sizeof(Sum) == sizeof(unsigned long long)) {
    atomicAdd(a.partial + 2 * doc, static_cast<unsigned long long>(num));
    atomicAdd(a.partial + 2 * doc + 1, static_cast<unsigned long long>(den));
    __threadfence();
    if (atomicAdd(a.arrived + doc, 1U) + 1 != gridDim.y) return;
    __threadfence();
    a.scores[doc] = score_of(score_sums<Sum>{atomicExch(a.partial + 2 * doc, 0ULL),
                                             atomicExch(a.partial + 2 * doc + 1, 0ULL)},
                             a.mean_label);
    a.arrived[doc] = 0;  // for the next launch
  }
}

template <class Sum>
using kernel_pointer = void (*)(arguments<Sum>);

/// The kernel for 64-bit sums without support weights and smoothing.
kernel_pointer<std::uint64_t> plain_kernel(bool rows_fit, bool factors_fit);

template <class Sum, bool Plain>
kernel_pointer<Sum> kernel_of(bool rows_fit, bool factors_fit) {
  if (rows_fit)
    return factors_fit ? tensor_kernel<Sum, Plain, false, true, true>
                       : tensor_kernel<Sum, Plain, false, true, false>;
  return tensor_kernel<Sum, Plain, false, false, false>;
}

template <class Sum>
class tensor_scorer final : public device_scorer {
 public:
  tensor_scorer(prepared_training const& training, device_training const& on_device)
      : table_(training.table.view<Sum>()),
        max_rows_(static_cast<std::uint32_t>(training.features.size() + more_rows)) {
    score_view<Sum> const host = training.table.view<Sum>();
    rules::vertical_index const& index = training.index;
    std::uint32_t most = 0;
    for (std::uint32_t x = 0; x < index.items(); ++x) most = std::max(most, index.item_support(x));
    singles_ = copy_to_device(sums_of_single_items<Sum>(training));

    int device = 0;
    int shared_memory = 0;
    check_cuda(cudaGetDevice(&device));
    check_cuda(
        cudaDeviceGetAttribute(&shared_memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    check_cuda(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
    auto const largest = static_cast<std::size_t>(shared_memory) - 4096;  // reserved for its own
                                                                          // variables
    row_view const& rows = on_device.rows();
    arguments_.rows = rows;
    arguments_.table = table_.view();
    arguments_.singles = singles_.data();
    arguments_.mean_label = training.table.mean_label();
    arguments_.max_items = static_cast<std::uint32_t>(training.table.max_itemset_size());
    arguments_.most_rows = max_rows_;
    std::size_t const row_bytes = std::size_t{rows.chunks} * product_words * 4;
    shared_ = round_up(rows.chunks, 4) * 4 + round_up(max_rows_, 4) * 4 +
              (arguments_.max_items > 3 ? row_bytes : 0);
    if (shared_ > largest)
      throw device_error("a row of the training set exceeds the device's shared memory");
    bool const rows_fit = shared_ + max_rows_ * row_bytes <= largest;
    if (rows_fit) shared_ += max_rows_ * row_bytes;
    // If both fit, two blocks run on a multiprocessor: one computes while the other waits for
    // memory.
    std::size_t const factors = host.size * sizeof(Sum);
    bool const factors_fit =
        shared_ + factors <= (shared_ > largest / 2 ? largest : largest / 2 - 4096);
    if (factors_fit) shared_ += factors;
    bool const plain = training.options.support_weight == 0 && training.options.smoothing == 0;
    bool const classwise = host.folded_up_to < most / 4;
    kernel_ = choose(plain, classwise, rows_fit, factors_fit);
    allow_all_shared_memory(kernel_);
  }

  void reserve(std::size_t documents) override {
    if (partial_.size() >= 2 * documents) return;
    partial_ = device_buffer<unsigned long long>(2 * documents);
    arrived_ = device_buffer<std::uint32_t>(documents);
    partial_.fill_bytes(0);
    arrived_.fill_bytes(0);
    check_cuda(cudaDeviceSynchronize());
  }
  std::size_t bytes_per_document() const override { return 20; }

  void score(document_view const& documents, double* scores, stream const& on) override {
    arguments<Sum> a = arguments_;
    a.documents = documents;
    a.scores = scores;
    a.partial = partial_.data();
    a.arrived = arrived_.data();
    // Splits documents into parts if they are few, so that every multiprocessor has several blocks.
    std::uint32_t parts = 1;
    auto const wanted = static_cast<std::uint32_t>(4 * multiprocessors_);
    if (sizeof(Sum) == sizeof(std::uint64_t) && documents.documents < wanted)
      parts = std::min((wanted + documents.documents - 1) / documents.documents,
                       std::max(1U, max_rows_ * max_rows_ / (2 * product_rows_a * warps)));
    kernel_<<<dim3(documents.documents, parts), threads, shared_, on.get()>>>(a);
    check_launch();
  }

 private:
  static kernel_pointer<Sum> choose(bool plain, bool classwise, bool rows_fit, bool factors_fit) {
    if (classwise)
      return rows_fit ? tensor_kernel<Sum, false, true, true, false>
                      : tensor_kernel<Sum, false, true, false, false>;
    if constexpr (sizeof(Sum) == sizeof(std::uint64_t))
      if (plain) return plain_kernel(rows_fit, factors_fit);
    return kernel_of<Sum, false>(rows_fit, factors_fit);
  }

  device_score_table<Sum> table_;
  device_buffer<score_sums<Sum>> singles_;
  device_buffer<unsigned long long> partial_;
  device_buffer<std::uint32_t> arrived_;
  arguments<Sum> arguments_{};
  std::uint32_t max_rows_;
  int multiprocessors_ = 0;
  std::size_t shared_ = 0;
  kernel_pointer<Sum> kernel_ = nullptr;
};

/// A scorer with 128-bit sums.
std::unique_ptr<device_scorer> make_wide_scorer(prepared_training const& training,
                                                device_training const& on_device);

}  // namespace rulerank::l2r::by_document
