#include "bitmaps/column_compression.hpp"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bitmaps/column_compression.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_ARCH_X86_64
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace rulerank::inline v0::bitmaps::HWY_NAMESPACE {

using step = column_compression::step;

/// Packs the bits of x that are set in mask.
HWY_INLINE word packed_bits(word x, word mask) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_BMI2_FMA)
  return _pext_u64(x, mask);
#else
  word packed = 0;
  for (unsigned to = 0; mask != 0; mask &= mask - 1, ++to)
    packed |= (x >> std::countr_zero(mask) & 1) << to;
  return packed;
#endif
}

/// Returns the lowest `count` set bits of x; count is at least 1 and at most 64.
HWY_INLINE word lowest_bits(word x, std::uint32_t count) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_BMI2_FMA)
  return _pdep_u64(~word{0} >> (word_bits - count), x);
#else
  word left = x;
  for (; count > 0 && left != 0; --count) left &= left - 1;
  return x & ~left;
#endif
}

void plan(column_compression& how, word const* mask, word_range const* classes,
          std::size_t class_count) {
  how.steps.clear();
  how.ranges.clear();
  how.words = 0;
  for (std::size_t k = 0; k < class_count; ++k) {
    std::uint32_t const begin = how.words;
    std::uint32_t filled = word_bits;  // used bits of the last target word
    for (std::uint32_t w = classes[k].begin; w < classes[k].end; ++w) {
      for (word left = mask[w]; left != 0;) {
        if (filled == word_bits) {
          ++how.words;
          filled = 0;
        }
        word const taken = lowest_bits(left, static_cast<std::uint32_t>(word_bits) - filled);
        how.steps.push_back({w, how.words - 1, filled, taken});
        filled += static_cast<std::uint32_t>(hwy::PopCount(taken));
        left &= ~taken;
      }
    }
    how.ranges.push_back({begin, how.words});
  }
}

void compress_columns(step const* steps, std::size_t step_count, word const* columns,
                      std::size_t stride, std::uint32_t const* rows, std::size_t row_count,
                      word* out, std::size_t out_stride) {
  for (std::size_t s = 0; s < step_count;) {
    std::uint32_t const target = steps[s].target;
    std::size_t end = s + 1;
    while (end < step_count && steps[end].target == target) ++end;
    word* const to = out + target * out_stride;
    std::size_t l = 0;
    for (; l + 4 <= row_count; l += 4) {
      word a = 0, b = 0, c = 0, d = 0;
      for (std::size_t q = s; q < end; ++q) {
        word const* const from = columns + steps[q].source * stride;
        word const mask = steps[q].mask;
        std::uint32_t const shift = steps[q].shift;
        a |= packed_bits(from[rows[l]], mask) << shift;
        b |= packed_bits(from[rows[l + 1]], mask) << shift;
        c |= packed_bits(from[rows[l + 2]], mask) << shift;
        d |= packed_bits(from[rows[l + 3]], mask) << shift;
      }
      to[l] = a;
      to[l + 1] = b;
      to[l + 2] = c;
      to[l + 3] = d;
    }
    for (; l < row_count; ++l) {
      word a = 0;
      for (std::size_t q = s; q < end; ++q)
        a |= packed_bits(columns[steps[q].source * stride + rows[l]], steps[q].mask)
             << steps[q].shift;
      to[l] = a;
    }
    for (; l < out_stride; ++l) to[l] = 0;
    s = end;
  }
}

}  // namespace rulerank::bitmaps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::inline v0::bitmaps {

HWY_EXPORT(plan);
HWY_EXPORT(compress_columns);

void column_compression::plan(std::span<word const> mask, std::span<word_range const> classes) {
  HWY_DYNAMIC_DISPATCH(plan)(*this, mask.data(), classes.data(), classes.size());
}

void compress_columns(column_compression const& how, word const* columns, std::size_t stride,
                      std::span<std::uint32_t const> rows, word* out, std::size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(compress_columns)
  (how.steps.data(), how.steps.size(), columns, stride, rows.data(), rows.size(), out, out_stride);
}

}  // namespace rulerank::bitmaps
#endif
