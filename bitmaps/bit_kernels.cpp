#include "bitmaps/bit_kernels.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bitmaps/bit_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rulerank::inline v0::bitmaps::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most 8 words, the padding of a row.
using words_tag = hn::CappedTag<word, row_words_multiple>;

std::uint64_t popcount(word const* a, std::size_t words) {
  words_tag const d;
  auto sum = hn::Zero(d);
  for (std::size_t w = 0; w < words; w += hn::Lanes(d))
    sum = hn::Add(sum, hn::PopulationCount(hn::Load(d, a + w)));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

std::uint64_t and_popcount(word const* a, word const* b, std::size_t words) {
  words_tag const d;
  auto sum = hn::Zero(d);
  for (std::size_t w = 0; w < words; w += hn::Lanes(d))
    sum = hn::Add(sum, hn::PopulationCount(hn::And(hn::Load(d, a + w), hn::Load(d, b + w))));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void and_words(word const* a, word const* b, word* out, std::size_t words) {
  words_tag const d;
  for (std::size_t w = 0; w < words; w += hn::Lanes(d))
    hn::Store(hn::And(hn::Load(d, a + w), hn::Load(d, b + w)), d, out + w);
}

void and_class_popcounts(word const* a, word const* b, word const* classes, std::size_t stride,
                         word* out, std::size_t words, std::uint32_t* counts,
                         std::size_t class_count) {
  and_words(a, b, out, words);
  for (std::size_t k = 0; k < class_count; ++k)
    counts[k] = static_cast<std::uint32_t>(and_popcount(out, classes + k * stride, words));
}

void range_popcounts(word const* a, word_range const* ranges, std::size_t range_count,
                     std::uint32_t* counts) {
  for (std::size_t k = 0; k < range_count; ++k)
    counts[k] =
        static_cast<std::uint32_t>(popcount(a + ranges[k].begin, ranges[k].end - ranges[k].begin));
}

// Lane l of the vectors below is row l of the block. `Groups` vectors are processed together so
// that each prefix word is broadcast once for all of them.
template <std::size_t Groups, class OnRangeEnd>
HWY_INLINE void product_block(word const* prefix, word const* columns, std::size_t stride,
                              word_range const* ranges, std::size_t range_count,
                              OnRangeEnd&& on_range_end) {
  words_tag const d;
  std::size_t const lanes = hn::Lanes(d);
  using vec = hn::Vec<words_tag>;
  static_assert(Groups == 1 || Groups == 2 || Groups == 4);
  vec sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (std::size_t k = 0; k < range_count; ++k) {
    for (std::size_t w = ranges[k].begin; w < ranges[k].end; ++w) {
      word const p = prefix[w];
      if (p == 0) continue;
      vec const mask = hn::Set(d, p);
      word const* const column = columns + w * stride;
      sum0 = hn::Add(sum0, hn::PopulationCount(hn::And(mask, hn::Load(d, column))));
      if constexpr (Groups >= 2)
        sum1 = hn::Add(sum1, hn::PopulationCount(hn::And(mask, hn::Load(d, column + lanes))));
      if constexpr (Groups >= 4) {
        sum2 = hn::Add(sum2, hn::PopulationCount(hn::And(mask, hn::Load(d, column + 2 * lanes))));
        sum3 = hn::Add(sum3, hn::PopulationCount(hn::And(mask, hn::Load(d, column + 3 * lanes))));
      }
    }
    on_range_end(k, 0, sum0);
    if constexpr (Groups >= 2) on_range_end(k, 1, sum1);
    if constexpr (Groups >= 4) {
      on_range_end(k, 2, sum2);
      on_range_end(k, 3, sum3);
    }
  }
}

// Calls block(Groups as a constant, first lane) over [begin, end), widened to whole vectors.
template <class Block>
HWY_INLINE void for_each_block(std::size_t begin, std::size_t end, Block&& block) {
  std::size_t const lanes = hn::Lanes(words_tag());
  std::size_t l = begin / lanes * lanes;
  for (; l + 3 * lanes < end; l += 4 * lanes) block(std::integral_constant<std::size_t, 4>(), l);
  if (l + lanes < end) {
    block(std::integral_constant<std::size_t, 2>(), l);
    l += 2 * lanes;
  }
  for (; l < end; l += lanes) block(std::integral_constant<std::size_t, 1>(), l);
}

// Returns value × factor; every lane of value must be below 2^32.
HWY_INLINE hn::Vec<words_tag> times(hn::Vec<words_tag> value, std::uint32_t factor) {
  words_tag const d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, hn::GetLane(value) * factor);
#else
  hn::Repartition<std::uint32_t, words_tag> const d32;
  (void)d;
  return hn::MulEven(hn::BitCast(d32, value), hn::Set(d32, factor));
#endif
}

// Stores the low halves of the 64-bit lanes.
template <class Vec>
HWY_INLINE void store_low(Vec value, std::uint32_t* out) {
  words_tag const d;
  hn::Rebind<std::uint32_t, words_tag> const half;
  hn::StoreU(hn::TruncateTo(half, value), half, out);
  (void)d;
}

void product_range_counts(word const* prefix, word const* columns, std::size_t stride,
                          std::size_t begin, std::size_t end, word_range const* ranges,
                          std::size_t range_count, std::uint32_t* counts) {
  words_tag const d;
  std::size_t const lanes = hn::Lanes(d);
  for_each_block(begin, end, [&](auto groups, std::size_t l) HWY_ATTR {
    hn::Vec<words_tag> before[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    product_block<groups()>(prefix, columns + l, stride, ranges, range_count,
                            [&](std::size_t k, std::size_t g, hn::Vec<words_tag> sum) HWY_ATTR {
                              store_low(hn::Sub(sum, before[g]),
                                        counts + k * stride + l + g * lanes);
                              before[g] = sum;
                            });
  });
}

void product_weighted_counts(word const* prefix, word const* columns, std::size_t stride,
                             std::size_t begin, std::size_t end, word_range const* ranges,
                             std::size_t range_count, std::uint32_t const* steps, std::uint32_t* n,
                             std::uint32_t* weighted) {
  // With cumulative sums s_0 <= s_1 <= ... after each range, the sum of weights[k] × counts[k] is
  // the sum of s_k × (weights[k] - weights[k + 1]) (Abel); `steps` holds these differences.
  words_tag const d;
  std::size_t const lanes = hn::Lanes(d);
  for_each_block(begin, end, [&](auto groups, std::size_t l) HWY_ATTR {
    hn::Vec<words_tag> folded[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    product_block<groups()>(prefix, columns + l, stride, ranges, range_count,
                            [&](std::size_t k, std::size_t g, hn::Vec<words_tag> sum) HWY_ATTR {
                              if (steps[k] == 1)
                                folded[g] = hn::Add(folded[g], sum);
                              else if (steps[k] != 0)
                                folded[g] = hn::Add(folded[g], times(sum, steps[k]));
                              if (k + 1 == range_count) {
                                store_low(sum, n + l + g * lanes);
                                store_low(folded[g], weighted + l + g * lanes);
                              }
                            });
  });
}

#if HWY_TARGET == HWY_SCALAR
void add_product_counts(word const* columns, std::size_t stride, std::size_t words,
                        std::size_t prefix, std::size_t prefixes, std::size_t begin,
                        std::uint32_t* counts) {
  for (std::size_t w = 0; w < words; ++w, columns += stride)
    for (std::size_t p = 0; p < prefixes; ++p)
      for (std::size_t l = begin; l < stride; ++l)
        counts[p * stride + l] +=
            static_cast<std::uint32_t>(std::popcount(columns[prefix + p] & columns[l]));
}
#else
/// Counts bits byte by byte: not all instruction sets count those of words, and a byte holds the
/// sum of 31 words.
template <std::size_t Prefixes>
void add_products_of(word const* columns, std::size_t stride, std::size_t words, std::size_t prefix,
                     std::size_t begin, std::uint32_t* counts) {
  constexpr std::size_t most_words = 31, together = 2;  // vectors
  words_tag const d;
  hn::Repartition<std::uint8_t, words_tag> const bytes;
  hn::Rebind<std::uint32_t, words_tag> const d32;
  std::size_t const lanes = hn::Lanes(d);
  for (std::size_t l = begin / (together * lanes) * together * lanes; l < stride;
       l += together * lanes)
    for (std::size_t first = 0; first < words; first += most_words) {
      hn::Vec<decltype(bytes)> sums[Prefixes][together];
      for (auto& of_prefix : sums)
        for (auto& sum : of_prefix) sum = hn::Zero(bytes);
      std::size_t const last = std::min(first + most_words, words);
      for (std::size_t w = first; w < last; ++w) {
        word const* const column = columns + w * stride;
        for (std::size_t p = 0; p < Prefixes; ++p) {
          auto const mask = hn::Set(d, column[prefix + p]);
          for (std::size_t v = 0; v < together; ++v)
            sums[p][v] = hn::Add(sums[p][v],
                                 hn::PopulationCount(hn::BitCast(
                                     bytes, hn::And(mask, hn::Load(d, column + l + v * lanes)))));
        }
      }
      for (std::size_t p = 0; p < Prefixes; ++p)
        for (std::size_t v = 0; v < together; ++v) {
          std::uint32_t* const to = counts + p * stride + l + v * lanes;
          hn::StoreU(hn::Add(hn::LoadU(d32, to), hn::TruncateTo(d32, hn::SumsOf8(sums[p][v]))), d32,
                     to);
        }
    }
}

void add_product_counts(word const* columns, std::size_t stride, std::size_t words,
                        std::size_t prefix, std::size_t prefixes, std::size_t begin,
                        std::uint32_t* counts) {
  switch (prefixes) {
    case 1:
      return add_products_of<1>(columns, stride, words, prefix, begin, counts);
    case 2:
      return add_products_of<2>(columns, stride, words, prefix, begin, counts);
    case 3:
      return add_products_of<3>(columns, stride, words, prefix, begin, counts);
    default:
      return add_products_of<4>(columns, stride, words, prefix, begin, counts);
  }
}
#endif

constexpr std::size_t block_documents = 64;  // the padding of a byte column

// Sets masks[q] to the bits j for which columns[j][p + q] == wanted[j], for a block of documents.
HWY_INLINE void overlap_masks(std::uint8_t const* const* columns, std::uint8_t const* wanted,
                              std::size_t width, std::size_t p, std::uint16_t* masks) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t q = 0; q < block_documents; ++q) {
    unsigned mask = 0;
    for (std::size_t j = 0; j < width; ++j)
      mask |= static_cast<unsigned>(columns[j][p + q] == wanted[j]) << j;
    masks[q] = static_cast<std::uint16_t>(mask);
  }
#else
  hn::CappedTag<std::uint8_t, block_documents> const d8;
  hn::Repartition<std::uint16_t, decltype(d8)> const d16;
  std::size_t const lanes = hn::Lanes(d8);
  HWY_ALIGN std::uint16_t lower[block_documents];
  HWY_ALIGN std::uint16_t upper[block_documents];
  for (std::size_t q = 0; q < block_documents; q += lanes) {
    auto low = hn::Zero(d8);
    auto high = hn::Zero(d8);
    for (std::size_t j = 0; j < width; ++j) {
      auto const equal =
          hn::VecFromMask(d8, hn::Eq(hn::Load(d8, columns[j] + p + q), hn::Set(d8, wanted[j])));
      auto const bit = hn::Set(d8, static_cast<std::uint8_t>(1U << (j % 8)));
      if (j < 8)
        low = hn::Or(low, hn::And(equal, bit));
      else
        high = hn::Or(high, hn::And(equal, bit));
    }
    // Interleaving puts the two mask bytes of a document next to each other, in document order
    // within each 16 bytes of `low`; each half of these 16 bytes has 8 masks.
    hn::Store(hn::BitCast(d16, hn::InterleaveLower(d8, low, high)), d16, lower);
    hn::Store(hn::BitCast(d16, hn::InterleaveUpper(d8, low, high)), d16, upper);
    for (std::size_t b = 0; b * 16 < lanes; ++b) {
      std::copy_n(lower + b * 8, 8, masks + q + b * 16);
      std::copy_n(upper + b * 8, 8, masks + q + b * 16 + 8);
    }
  }
#endif
}

smallest_total add_overlap_gains(std::uint8_t const* const* columns, std::uint8_t const* wanted,
                                 std::size_t width, std::size_t documents, std::int32_t const* gain,
                                 std::int32_t* totals) {
  hn::CappedTag<std::int32_t, 16> const d32;
  hn::Rebind<std::uint16_t, decltype(d32)> const narrow;
  HWY_ALIGN std::uint16_t masks[block_documents];
  smallest_total best{std::numeric_limits<std::int32_t>::max(), 0};
  for (std::size_t p = 0; p < documents; p += block_documents) {
    overlap_masks(columns, wanted, width, p, masks);
    auto least = hn::Set(d32, std::numeric_limits<std::int32_t>::max());
    for (std::size_t q = 0; q < block_documents; q += hn::Lanes(d32)) {
      auto const index = hn::PromoteTo(d32, hn::Load(narrow, masks + q));
      auto const total = hn::Add(hn::Load(d32, totals + p + q), hn::GatherIndex(d32, gain, index));
      hn::Store(total, d32, totals + p + q);
      least = hn::Min(least, total);
    }
    std::int32_t const smallest = hn::GetLane(hn::MinOfLanes(d32, least));
    if (smallest < best.total) best = {smallest, p};
  }
  while (totals[best.position] != best.total) ++best.position;
  return best;
}

}  // namespace rulerank::bitmaps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::inline v0::bitmaps {

HWY_EXPORT(popcount);
HWY_EXPORT(and_popcount);
HWY_EXPORT(and_words);
HWY_EXPORT(and_class_popcounts);
HWY_EXPORT(range_popcounts);
HWY_EXPORT(product_range_counts);
HWY_EXPORT(product_weighted_counts);
HWY_EXPORT(add_product_counts);
HWY_EXPORT(add_overlap_gains);

std::uint64_t popcount(std::span<word const> a) {
  return HWY_DYNAMIC_DISPATCH(popcount)(a.data(), a.size());
}

std::uint64_t and_popcount(std::span<word const> a, std::span<word const> b) {
  return HWY_DYNAMIC_DISPATCH(and_popcount)(a.data(), b.data(), a.size());
}

void and_words(std::span<word const> a, std::span<word const> b, std::span<word> out) {
  HWY_DYNAMIC_DISPATCH(and_words)(a.data(), b.data(), out.data(), a.size());
}

void and_class_popcounts(std::span<word const> a, std::span<word const> b, word const* classes,
                         std::size_t stride, std::span<word> out, std::span<std::uint32_t> counts) {
  HWY_DYNAMIC_DISPATCH(and_class_popcounts)
  (a.data(), b.data(), classes, stride, out.data(), a.size(), counts.data(), counts.size());
}

void range_popcounts(std::span<word const> a, std::span<word_range const> ranges,
                     std::span<std::uint32_t> counts) {
  HWY_DYNAMIC_DISPATCH(range_popcounts)(a.data(), ranges.data(), ranges.size(), counts.data());
}

void product_range_counts(word const* prefix, word const* columns, std::size_t stride,
                          std::size_t begin, std::size_t end, std::span<word_range const> ranges,
                          std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(product_range_counts)
  (prefix, columns, stride, begin, end, ranges.data(), ranges.size(), counts);
}

void product_weighted_counts(word const* prefix, word const* columns, std::size_t stride,
                             std::size_t begin, std::size_t end, std::span<word_range const> ranges,
                             std::span<std::uint32_t const> weights, std::uint32_t* n,
                             std::uint32_t* weighted) {
  std::uint32_t steps[64];
  std::vector<std::uint32_t> many;
  std::uint32_t* step = steps;
  if (weights.size() > std::size(steps)) {
    many.resize(weights.size());
    step = many.data();
  }
  for (std::size_t k = 0; k < weights.size(); ++k)
    step[k] = weights[k] - (k + 1 < weights.size() ? weights[k + 1] : 0);
  HWY_DYNAMIC_DISPATCH(product_weighted_counts)
  (prefix, columns, stride, begin, end, ranges.data(), ranges.size(), step, n, weighted);
}

void add_product_counts(word const* columns, std::size_t stride, std::size_t words,
                        std::size_t prefix, std::size_t prefixes, std::size_t begin,
                        std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(add_product_counts)
  (columns, stride, words, prefix, prefixes, begin, counts);
}

smallest_total add_overlap_gains(std::span<std::uint8_t const* const> columns,
                                 std::span<std::uint8_t const> wanted, std::size_t documents,
                                 std::span<std::int32_t const> gain,
                                 std::span<std::int32_t> totals) {
  return HWY_DYNAMIC_DISPATCH(add_overlap_gains)(columns.data(), wanted.data(), wanted.size(),
                                                 documents, gain.data(), totals.data());
}

std::string instruction_set() {
  // Highway represents targets as bits, the best one lowest.
  auto const targets = static_cast<std::uint64_t>(hwy::SupportedTargets()) & HWY_TARGETS;
  return hwy::TargetName(static_cast<std::int64_t>(targets & (0 - targets)));
}

}  // namespace rulerank::bitmaps
#endif
