#pragma once

#include "bitmaps/bit_kernels.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::bitmaps {

/// How to keep only the columns of a bit matrix that a mask row has: the bits of each class stay
/// together, in order, and start at a word of their own. A step takes the bits `mask` of a source
/// word, packed, to bit `shift` and above of a target word; no step crosses a target word.
struct column_compression {
  struct step {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    std::uint32_t shift = 0;
    word mask = 0;
  };
  std::vector<step> steps;         ///< by target
  std::vector<word_range> ranges;  ///< target words of each class; empty classes have none
  std::uint32_t words = 0;         ///< target words in all

  /// For the mask row `mask`, whose words of class k are `classes[k]`.
  void plan(std::span<word const> mask, std::span<word_range const> classes);
};

/// Applies it to rows that lie word by word (bit_kernels.hpp): word w of row l is
/// `columns[w * stride + l]`. Row `rows[l]` becomes row l of `out`, whose rows from `rows.size()`
/// to `out_stride` are zero. `out` has how.words x out_stride words.
void compress_columns(column_compression const& how, word const* columns, std::size_t stride,
                      std::span<std::uint32_t const> rows, word* out, std::size_t out_stride);

}  // namespace rulerank::bitmaps
