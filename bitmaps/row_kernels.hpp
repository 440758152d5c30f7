#pragma once

#include "bitmaps/bit_matrix.hpp"

#include <cstddef>
#include <cstdint>

// Operations of one bit row with many rows, for depth-first mining: one call processes all rows of
// a node. Rows are aligned to 64 bytes and padded with zeros to a multiple of 8 words, as rows of a
// bit_matrix. `words` is such a multiple; `rows` has n entries.
namespace rulerank::inline v0::bitmaps {

/// Sets counts[j] to the number of set bits of row AND rows[j].
void and_counts(word const* row, word const* const* rows, std::size_t n, std::size_t words,
                std::uint32_t* counts);

/// Sets row j of `out` to row AND rows[j]; rows of `out` are `words` apart.
void and_rows(word const* row, word const* const* rows, std::size_t n, std::size_t words,
              word* out);

/// Sets row j of `out` to the bits of rows[j] in the columns of mask, packed in order. Rows of
/// `out` are padded_words(set bits of mask) apart. Also writes one word after the last row.
void pack_rows(word const* mask, word const* const* rows, std::size_t n, std::size_t words,
               word* out);

}  // namespace rulerank::bitmaps
