#pragma once

#include "bitmaps/bit_kernels.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::bitmaps {

/// A plan to keep only the columns of a bit matrix that are set in a mask row. The bits of each
/// class stay together, in order, and begin at a word boundary. A step packs the bits `mask` of a
/// source word and writes them to bit `shift` and above of a target word; no step crosses a target
/// word.
struct column_compression {
  struct step {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    std::uint32_t shift = 0;
    word mask = 0;
  };
  std::vector<step> steps;         ///< by target
  std::vector<word_range> ranges;  ///< target words of each class; none for an empty class
  std::uint32_t words = 0;         ///< number of target words

  /// Plans for the mask row `mask`, in which class k has the words `classes[k]`.
  void plan(std::span<word const> mask, std::span<word_range const> classes);
};

/// Applies the plan to rows that are stored word by word (bit_kernels.hpp): word w of row l is
/// `columns[w * stride + l]`. Row `rows[l]` becomes row l of `out`; rows `rows.size()` to
/// `out_stride` of `out` become zero. `out` has how.words × out_stride words.
void compress_columns(column_compression const& how, word const* columns, std::size_t stride,
                      std::span<std::uint32_t const> rows, word* out, std::size_t out_stride);

}  // namespace rulerank::bitmaps
