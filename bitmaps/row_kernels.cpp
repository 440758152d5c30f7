#include "bitmaps/row_kernels.hpp"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bitmaps/row_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_ARCH_X86_64
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace rulerank::inline v0::bitmaps::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using words_tag = hn::CappedTag<word, row_words_multiple>;

/// Packs the bits of x that are set in mask.
HWY_INLINE word packed(word x, word mask) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_BMI2_FMA)
  return _pext_u64(x, mask);
#else
  word bits = 0;
  for (unsigned to = 0; mask != 0; mask &= mask - 1, ++to)
    bits |= (x >> std::countr_zero(mask) & 1) << to;
  return bits;
#endif
}

/// For rows of one padded unit: the row stays in registers.
void and_counts_of_units(word const* row, word const* const* rows, std::size_t n,
                         std::uint32_t* counts) {
  words_tag const d;
  for (std::size_t j = 0; j < n; ++j) {
    auto sum = hn::Zero(d);
    for (std::size_t w = 0; w < row_words_multiple; w += hn::Lanes(d))
      sum = hn::Add(sum,
                    hn::PopulationCount(hn::And(hn::Load(d, row + w), hn::Load(d, rows[j] + w))));
    counts[j] = static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
}

void and_counts(word const* row, word const* const* rows, std::size_t n, std::size_t words,
                std::uint32_t* counts) {
  if (words == row_words_multiple) return and_counts_of_units(row, rows, n, counts);
  words_tag const d;
  for (std::size_t j = 0; j < n; ++j) {
    word const* const other = rows[j];
    auto sum = hn::Zero(d);
    for (std::size_t w = 0; w < words; w += hn::Lanes(d))
      sum =
          hn::Add(sum, hn::PopulationCount(hn::And(hn::Load(d, row + w), hn::Load(d, other + w))));
    counts[j] = static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
}

void and_rows(word const* row, word const* const* rows, std::size_t n, std::size_t words,
              word* out) {
  words_tag const d;
  for (std::size_t j = 0; j < n; ++j, out += words)
    for (std::size_t w = 0; w < words; w += hn::Lanes(d))
      hn::Store(hn::And(hn::Load(d, row + w), hn::Load(d, rows[j] + w)), d, out + w);
}

void pack_rows(word const* mask, word const* const* rows, std::size_t n, std::size_t words,
               word* out) {
  std::size_t bits = 0;
  for (std::size_t w = 0; w < words; ++w) bits += static_cast<std::size_t>(std::popcount(mask[w]));
  std::size_t const stride = padded_words(bits);
  for (std::size_t j = 0; j < n; ++j, out += stride) {
    word const* const from = rows[j];
    word open = 0;           // the word being filled
    std::size_t filled = 0;  // its used bits, below 64
    word* to = out;
    for (std::size_t w = 0; w < words; ++w) {
      word const m = mask[w];
      if (m == 0) continue;
      word const x = packed(from[w], m);
      open |= x << filled;
      filled += static_cast<std::size_t>(std::popcount(m));
      *to = open;
      bool const full = filled >= word_bits;
      // The bits that did not fit: x without its lowest (64 - previously filled) bits.
      std::size_t const before = filled - static_cast<std::size_t>(std::popcount(m));
      word const rest = before == 0 ? 0 : x >> (word_bits - before);
      open = full ? rest : open;
      to += full;
      filled &= word_bits - 1;
    }
    *to = open;
    if (filled > 0) ++to;
    std::fill(to, out + stride, word{0});
  }
}

}  // namespace rulerank::bitmaps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::inline v0::bitmaps {

HWY_EXPORT(and_counts);
HWY_EXPORT(and_rows);
HWY_EXPORT(pack_rows);

void and_counts(word const* row, word const* const* rows, std::size_t n, std::size_t words,
                std::uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(and_counts)(row, rows, n, words, counts);
}

void and_rows(word const* row, word const* const* rows, std::size_t n, std::size_t words,
              word* out) {
  HWY_DYNAMIC_DISPATCH(and_rows)(row, rows, n, words, out);
}

void pack_rows(word const* mask, word const* const* rows, std::size_t n, std::size_t words,
               word* out) {
  HWY_DYNAMIC_DISPATCH(pack_rows)(mask, rows, n, words, out);
}

}  // namespace rulerank::bitmaps
#endif
