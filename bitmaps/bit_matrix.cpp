#include "bitmaps/bit_matrix.hpp"

#include <algorithm>

namespace rulerank::inline v0::bitmaps {

void bit_matrix::grow(std::size_t columns) {
  std::size_t const needed = padded_words(columns);
  columns_ = std::max(columns_, columns);
  if (needed <= stride_) return;
  std::size_t const stride = std::max(needed, round_up(2 * stride_, row_words_multiple));
  aligned_vector<word> words(rows_ * stride);
  for (std::size_t r = 0; r < rows_; ++r)
    std::copy_n(words_.data() + r * stride_, stride_, words.data() + r * stride);
  words_ = std::move(words);
  stride_ = stride;
}

}  // namespace rulerank::bitmaps
