#pragma once

#include "core/aligned.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace rulerank::inline v0::bitmaps {

using word = std::uint64_t;
inline constexpr std::size_t word_bits = 64;
/// Rows are padded with zero bits to a multiple of this many words (64 bytes).
inline constexpr std::size_t row_words_multiple = alignment / sizeof(word);

/// The number of words for `bits` bits, padded like a row.
constexpr std::size_t padded_words(std::size_t bits) {
  return round_up((bits + word_bits - 1) / word_bits, row_words_multiple);
}

/// rows x columns bits, row by row; bit c of a row is bit c % 64 of its word c / 64. Every row is
/// aligned to 64 bytes and padded with zeros.
class bit_matrix {
 public:
  bit_matrix() = default;
  bit_matrix(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), stride_(padded_words(columns)), words_(rows * stride_) {}

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  /// The words per row, including padding.
  std::size_t stride() const noexcept { return stride_; }

  std::span<word const> row(std::size_t r) const { return {words_.data() + r * stride_, stride_}; }
  std::span<word> row(std::size_t r) { return {words_.data() + r * stride_, stride_}; }
  void set(std::size_t r, std::size_t c) {
    words_[r * stride_ + c / word_bits] |= word{1} << (c % word_bits);
  }
  bool test(std::size_t r, std::size_t c) const {
    return (words_[r * stride_ + c / word_bits] >> (c % word_bits) & 1) != 0;
  }
  /// Grows to at least `columns` columns, at least doubling the words, and keeps all bits.
  void grow(std::size_t columns);

 private:
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::size_t stride_ = 0;
  aligned_vector<word> words_;
};

}  // namespace rulerank::bitmaps
