#pragma once

#include "core/host_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// The shape of the published cache of itemsets on GPUs (itemset_cache.cuh), for host and device.
namespace rulerank::inline v0::l2r {

/// A table of slots with open addressing. A slot has a head of 32-bit words: its state, `max_size`
/// items, `classes` counts. If larger itemsets are derived from cached ones, it also has a bitmap.
struct itemset_cache_shape {
  std::uint64_t slots = 0;       ///< 0: no cache
  std::uint64_t reciprocal = 0;  ///< floor((2^64 - 1) / slots)
  std::uint32_t max_size = 0;
  std::uint32_t classes = 0;
  std::uint32_t head_words = 0;    ///< a multiple of 4
  std::uint32_t bitmap_words = 0;  ///< 0: itemsets have at most two items, so none is extended

  std::size_t slot_bytes() const { return 4 * (std::size_t{head_words} + bitmap_words); }
};

/// The high 64 bits of the product.
RULERANK_HOST_DEVICE inline std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<wide>(a) * b >> 64);
#endif
}

/// bits modulo the table's size (Freitas 2017, section 4.3.3), by multiplication with the
/// reciprocal: the quotient is exact or one too small. slots > 0.
RULERANK_HOST_DEVICE inline std::uint64_t slot_of(std::uint64_t bits,
                                                  itemset_cache_shape const& shape) {
  std::uint64_t const rest = bits - high_product(bits, shape.reciprocal) * shape.slots;
  return rest >= shape.slots ? rest - shape.slots : rest;
}

/// The number of itemsets of 2 to max_size items of different features with `bins` items each. A
/// double, because it can exceed 2^64.
inline double possible_itemsets(std::span<std::uint32_t const> bins, std::size_t max_size) {
  std::vector<double> of_size(max_size + 1);
  of_size[0] = 1;
  for (std::uint32_t b : bins)
    for (std::size_t k = max_size; k > 0; --k) of_size[k] += of_size[k - 1] * b;
  double all = 0;
  for (std::size_t k = 2; k <= max_size; ++k) all += of_size[k];
  return all;
}

/// The shape of a cache of at most `bytes`, with at most twice as many slots as possible itemsets.
/// `row_words`: 32-bit words of a bitmap, a multiple of 4.
inline itemset_cache_shape shape_of_cache(std::span<std::uint32_t const> bins,
                                          std::uint32_t max_size, std::uint32_t classes,
                                          std::size_t row_words, std::size_t bytes) {
  itemset_cache_shape shape;
  if (max_size < 2) return shape;  // itemsets of one item are rows of the training set
  shape.max_size = max_size;
  shape.classes = classes;
  shape.head_words = (1 + max_size + classes + 3) / 4 * 4;
  shape.bitmap_words = max_size > 2 ? static_cast<std::uint32_t>(row_words) : 0;
  auto const fit = static_cast<std::uint64_t>(bytes / shape.slot_bytes());
  double const wanted = 2 * possible_itemsets(bins, max_size);
  shape.slots = wanted < static_cast<double>(fit) ? static_cast<std::uint64_t>(wanted) : fit;
  if (shape.slots > 0) shape.reciprocal = ~std::uint64_t{0} / shape.slots;
  return shape;
}

}  // namespace rulerank::l2r
