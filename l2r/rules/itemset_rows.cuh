#pragma once

#include "l2r/rules/device_training.cuh"

#include <cstdint>

// Class-wise supports of one itemset by one thread, as the published engines on GPUs count them:
// AND of the items' bit rows, population count by class (Freitas 2017, Figure 3.6).
namespace rulerank::inline v0::l2r {

/// The largest itemset size of the published engines on GPUs.
inline constexpr std::uint32_t most_items = 16;
/// The number of class counts that a thread keeps; counts of further classes are computed again.
inline constexpr std::uint32_t kept_classes = 8;

/// Stores the count of class k. All indices are constants, so that the counts stay in registers.
__device__ inline void keep_count(std::uint32_t (&kept)[kept_classes], std::uint32_t k,
                                  std::uint32_t count) {
#pragma unroll
  for (std::uint32_t i = 0; i < kept_classes; ++i)
    if (i == k) kept[i] = count;
}

__device__ inline std::uint32_t ones(std::uint32_t w) {
  return static_cast<std::uint32_t>(__popc(w));
}
__device__ inline std::uint32_t ones(uint4 w) {
  return static_cast<std::uint32_t>(__popc(w.x) + __popc(w.y) + __popc(w.z) + __popc(w.w));
}
__device__ inline std::uint32_t both(std::uint32_t a, std::uint32_t b) {
  return a & b;
}
__device__ inline uint4 both(uint4 a, uint4 b) {
  return {a.x & b.x, a.y & b.y, a.z & b.z, a.w & b.w};
}

/// A bitmap in chunks of 256 bits: a row of the training set, or an AND of rows in a cache.
struct chunked_bits {
  std::uint32_t const* words = nullptr;
  std::size_t stride = 0;  ///< words from one chunk to the next
};

__device__ inline chunked_bits row_bits(row_view const& rows, std::uint32_t r) {
  return {rows.words_of(r, 0), (std::size_t{rows.items} + 2) * bitmaps::product_words};
}

/// count_classes for `Others` rows besides the first bitmap, held in registers; -1: any number.
template <class Word, int Others, class Keep, class Each>
__device__ std::uint32_t count_with(row_view const& rows, chunked_bits first,
                                    std::uint32_t const* x, std::uint32_t count, Keep const& keep,
                                    Each const& each) {
  constexpr std::uint32_t parts = bitmaps::product_words * 4 / sizeof(Word);
  std::uint32_t const* other[Others > 0 ? Others : 1];
#pragma unroll
  for (int i = 0; i < Others; ++i) other[i] = rows.words_of(x[i], 0);
  std::size_t const stride = (std::size_t{rows.items} + 2) * bitmaps::product_words;
  std::uint32_t n = 0;
  std::uint32_t chunk = 0;
  for (std::uint32_t k = 0; k < rows.classes; ++k) {
    std::uint32_t sigma = 0;
    for (std::uint32_t const end = rows.class_end[k]; chunk < end; ++chunk) {
#pragma unroll
      for (std::uint32_t p = 0; p < parts; ++p) {
        Word w = reinterpret_cast<Word const*>(first.words)[p];
        if constexpr (Others >= 0) {
#pragma unroll
          for (int i = 0; i < Others; ++i)
            w = both(w, __ldg(reinterpret_cast<Word const*>(other[i]) + p));
        } else {
          for (std::uint32_t i = 0; i < count; ++i)
            w = both(w, __ldg(reinterpret_cast<Word const*>(rows.words_of(x[i], chunk)) + p));
        }
        keep(chunk * parts + p, w);
        sigma += ones(w);
      }
      first.words += first.stride;
#pragma unroll
      for (int i = 0; i < Others; ++i) other[i] += stride;
    }
    each(k, sigma);
    n += sigma;
  }
  return n;
}

/// ANDs a bitmap and the rows x[0..count), one Word (32 or 128 bits) at a time. Calls keep(i, word)
/// for each Word and each(k, sigma) for each class; returns the sum of the supports.
template <class Word, class Keep, class Each>
__device__ std::uint32_t count_classes(row_view const& rows, chunked_bits first,
                                       std::uint32_t const* x, std::uint32_t count,
                                       Keep const& keep, Each const& each) {
  switch (count) {
    case 0:
      return count_with<Word, 0>(rows, first, x, count, keep, each);
    case 1:
      return count_with<Word, 1>(rows, first, x, count, keep, each);
    case 2:
      return count_with<Word, 2>(rows, first, x, count, keep, each);
    case 3:
      return count_with<Word, 3>(rows, first, x, count, keep, each);
    default:
      return count_with<Word, -1>(rows, first, x, count, keep, each);
  }
}

struct keep_nothing {
  template <class Word>
  __device__ void operator()(std::uint32_t, Word) const {}
};

/// The contribution of an itemset, given n and the first `kept_classes` counts. again(each) must
/// call each(k, count) for all classes; used if there are more classes than that.
template <class Sum, class Again>
__device__ score_sums<Sum> sums_of_counts(score_view<Sum> const& table, std::uint32_t n,
                                          std::uint32_t const (&kept)[kept_classes],
                                          Again const& again) {
  if (n == 0) return {};
  class_sums<Sum> itemset(table, n);
  if (table.classes <= kept_classes) {
#pragma unroll
    for (std::uint32_t k = 0; k < kept_classes; ++k)
      if (k < table.classes) itemset.add(table, k, kept[k]);
  } else {
    again([&](std::uint32_t k, std::uint32_t sigma) { itemset.add(table, k, sigma); });
  }
  return itemset.sums(table);
}

/// Writes the rows of document d, in feature order, to to[0], to[stride], ...; returns their
/// number.
__device__ inline std::uint32_t gather_rows(document_view const& documents, std::uint32_t d,
                                            std::uint32_t* to, std::size_t stride) {
  std::uint32_t used = 0;
  for (std::uint32_t f = 0; f < documents.features; ++f)
    if (std::uint32_t const row = documents.row_of(f, d); row != no_row) to[used++ * stride] = row;
  return used;
}

}  // namespace rulerank::l2r
