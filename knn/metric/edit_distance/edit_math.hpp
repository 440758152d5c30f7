#pragma once

#include "core/host_device.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

// Levenshtein's distance of two words, bit-parallel (Myers 1999, Hyyrö 2003), for one thread of a
// device or of the host. A column of the dynamic program is kept as the differences of neighbouring
// cells; the distance is read off the last column, whose cell above the first row is the length of
// the other word: no count is kept on the way.
//
// Letters are numbers. `where[letter]`: bit i is set where the query's letter i is this one.
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

/// The lowest `count` bits, at most all.
template <class Mask>
RULERANK_HOST_DEVICE constexpr Mask lowest_bits(std::uint32_t count) {
  return count >= 8 * sizeof(Mask) ? ~Mask{0} : static_cast<Mask>((Mask{1} << count) - 1);
}

/// A column of as many rows as Mask has bits.
template <class Mask>
struct edit_column {
  Mask up = ~Mask{0};  ///< rows whose cell is larger than the one above
  Mask down = 0;       ///< smaller

  /// The next column; `match`: the rows whose letter is the column's. The row above the first grows
  /// by 1 from column to column.
  RULERANK_HOST_DEVICE void next(Mask match) {
    Mask const diagonal = (((match & up) + up) ^ up) | match | down;
    Mask const more = static_cast<Mask>((down | ~(diagonal | up)) << 1) | 1;
    Mask const less = static_cast<Mask>((up & diagonal) << 1);
    up = less | ~(diagonal | more);
    down = more & diagonal;
  }
  /// The same where the row above changes by `above`, -1, 0 or 1; returns how the last row does.
  RULERANK_HOST_DEVICE int next_below(Mask match, int above) {
    constexpr int last = 8 * sizeof(Mask) - 1;
    Mask const is_less = above < 0 ? 1 : 0;
    // A row above that shrinks is as good as a letter that is equal in the first row.
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
  /// How much larger the cell of row `rows` is than the one above the first.
  RULERANK_HOST_DEVICE int rise(Mask rows) const {
    return bits_in<Mask>(up & rows) - bits_in<Mask>(down & rows);
  }
};

/// Words as columns of a matrix, so that neighbouring threads read neighbouring numbers: a number
/// has four letters of eight bits, the first in the lowest, or one letter where there are more than
/// 256 different ones. The j-th number of word i is numbers[j * stride + i].
struct word_columns {
  std::uint32_t const* numbers = nullptr;
  std::uint32_t const* length = nullptr;  // [words]
  std::size_t stride = 0;
  std::uint32_t letters_a_number = 4;

  /// Calls step(letter) for the letters of a word in their order.
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

/// The distance from a query of at most as many letters as Mask has bits.
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

/// A query's `where` in 64-bit masks, of all letters for its letters 0 to 63, then for 64 to 127...
inline constexpr std::uint32_t rows_of_a_block = 64;
RULERANK_HOST_DEVICE constexpr std::uint32_t edit_blocks(std::uint32_t query_length) {
  return (query_length + rows_of_a_block - 1) / rows_of_a_block;
}

/// The distance from a query of any length; `where` is [blocks][alphabet]. `state` has two numbers
/// a block, `stride` apart; it is not read where one block is enough.
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

/// What the distance of words of these lengths is at least.
RULERANK_HOST_DEVICE constexpr std::uint32_t lengths_apart(std::uint32_t a, std::uint32_t b) {
  return a < b ? b - a : a - b;
}

}  // namespace rulerank::knn
