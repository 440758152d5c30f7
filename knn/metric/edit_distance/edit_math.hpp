#pragma once

#include "core/host_device.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

// The Levenshtein distance of two words, bit-parallel (Myers 1999, Hyyrö 2003), for one thread of a
// device or of the host. A column of the dynamic program is stored as the differences of
// neighbouring cells. The distance is computed only from the last column, whose cell above the
// first row is the length of the other word.
//
// Letters are numbers. Bit i of `where[letter]` is set if the query's letter i is this letter.
namespace rulerank::inline v0::knn {

template <class Mask>
RULERANK_HOST_DEVICE inline int bits_in(Mask mask) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Mask) == 8) return __popcll(mask);
  return __popc(static_cast<unsigned>(mask));
#else
  return std::popcount(mask);
#endif
}

/// Returns a mask of the lowest `count` bits, at most all.
template <class Mask>
RULERANK_HOST_DEVICE constexpr Mask lowest_bits(std::uint32_t count) {
  return count >= 8 * sizeof(Mask) ? ~Mask{0} : static_cast<Mask>((Mask{1} << count) - 1);
}

/// A column with one row per bit of Mask.
template <class Mask>
struct edit_column {
  Mask up = ~Mask{0};  ///< rows whose cell is larger than the cell above
  Mask down = 0;       ///< rows whose cell is smaller

  /// Computes the next column. `match`: rows whose letter equals the column's letter. The row above
  /// the first grows by 1 per column.
  RULERANK_HOST_DEVICE void next(Mask match) {
    Mask const diagonal = (((match & up) + up) ^ up) | match | down;
    Mask const more = static_cast<Mask>((down | ~(diagonal | up)) << 1) | 1;
    Mask const less = static_cast<Mask>((up & diagonal) << 1);
    up = less | ~(diagonal | more);
    down = more & diagonal;
  }
  /// Computes the next column if the row above changes by `above` (-1, 0 or 1); returns the change
  /// of the last row.
  RULERANK_HOST_DEVICE int next_below(Mask match, int above) {
    constexpr int last = 8 * sizeof(Mask) - 1;
    Mask const is_less = above < 0 ? 1 : 0;
    // A decrease in the row above acts like an equal letter in the first row.
    Mask const first = match | is_less;
    Mask const diagonal = (((first & up) + up) ^ up) | first | down;
    Mask more = down | ~(diagonal | up);
    Mask less = up & diagonal;
    int const below = static_cast<int>(more >> last) - static_cast<int>(less >> last);
    more = static_cast<Mask>(more << 1) | (above > 0 ? 1 : 0);
    less = static_cast<Mask>(less << 1) | is_less;
    Mask const vertical = match | down;
    up = less | ~(vertical | more);
    down = more & vertical;
    return below;
  }
  /// Returns the cell of row `rows` minus the cell above the first.
  RULERANK_HOST_DEVICE int rise(Mask rows) const {
    return bits_in<Mask>(up & rows) - bits_in<Mask>(down & rows);
  }
};

/// Words as columns of a matrix, so that neighbouring threads read neighbouring numbers. A number
/// holds four letters of eight bits, the first in the lowest bits, or one letter if there are more
/// than 256 distinct letters. The j-th number of word i is numbers[j * stride + i].
struct word_columns {
  std::uint32_t const* numbers = nullptr;
  std::uint32_t const* length = nullptr;  // [words]
  std::size_t stride = 0;
  std::uint32_t letters_a_number = 4;

  /// Calls step(letter) for the letters of a word, in order.
  template <class Step>
  RULERANK_HOST_DEVICE void for_each_letter(std::size_t word, Step const& step) const {
    std::uint32_t const n = length[word];
    std::uint32_t const* at = numbers + word;
    if (letters_a_number == 1) {
      for (std::uint32_t i = 0; i < n; ++i, at += stride) step(*at);
      return;
    }
    std::uint32_t left = n;
    for (; left >= 4; left -= 4, at += stride) {
      std::uint32_t const four = *at;
      step(four & 0xFFU);
      step((four >> 8) & 0xFFU);
      step((four >> 16) & 0xFFU);
      step(four >> 24);
    }
    if (left == 0) return;
    for (std::uint32_t four = *at; left > 0; --left, four >>= 8) step(four & 0xFFU);
  }
};

/// Returns the distance to a query with at most as many letters as Mask has bits.
template <class Mask>
RULERANK_HOST_DEVICE std::uint32_t edit_distance_in_a_mask(Mask const* where,
                                                           std::uint32_t query_length,
                                                           word_columns const& words,
                                                           std::size_t word) {
  edit_column<Mask> column;
  words.for_each_letter(word, [&](std::uint32_t letter) { column.next(where[letter]); });
  return words.length[word] +
         static_cast<std::uint32_t>(column.rise(lowest_bits<Mask>(query_length)));
}

/// A long query's `where` in 64-bit masks: for all letters, the query's letters 0 to 63, then 64 to
/// 127, and so on.
inline constexpr std::uint32_t rows_of_a_block = 64;
RULERANK_HOST_DEVICE constexpr std::uint32_t edit_blocks(std::uint32_t query_length) {
  return (query_length + rows_of_a_block - 1) / rows_of_a_block;
}

/// Returns the distance to a query of any length; `where` is [blocks][alphabet]. `state` holds two
/// numbers per block, `stride` apart; it is not used if one block suffices.
RULERANK_HOST_DEVICE inline std::uint32_t edit_distance_in_blocks(
    std::uint64_t const* where, std::uint32_t query_length, std::uint32_t alphabet,
    word_columns const& words, std::size_t word, std::uint64_t* state, std::size_t stride) {
  std::uint32_t const blocks = edit_blocks(query_length);
  if (blocks <= 1) return edit_distance_in_a_mask(where, query_length, words, word);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    state[2 * b * stride] = ~std::uint64_t{0};
    state[(2 * b + 1) * stride] = 0;
  }
  words.for_each_letter(word, [&](std::uint32_t letter) {
    int above = 1;
    for (std::uint32_t b = 0; b < blocks; ++b) {
      std::uint64_t& up = state[2 * b * stride];
      std::uint64_t& down = state[(2 * b + 1) * stride];
      edit_column<std::uint64_t> column{up, down};
      above = column.next_below(where[std::size_t{b} * alphabet + letter], above);
      up = column.up;
      down = column.down;
    }
  });
  int rise = 0;
  for (std::uint32_t b = 0; b < blocks; ++b)
    rise += edit_column<std::uint64_t>{state[2 * b * stride], state[(2 * b + 1) * stride]}.rise(
        lowest_bits<std::uint64_t>(query_length - b * rows_of_a_block));
  return words.length[word] + static_cast<std::uint32_t>(rise);
}

/// Returns a lower bound of the distance of words with these lengths.
RULERANK_HOST_DEVICE constexpr std::uint32_t lengths_apart(std::uint32_t a, std::uint32_t b) {
  return a < b ? b - a : a - b;
}

}  // namespace rulerank::knn
