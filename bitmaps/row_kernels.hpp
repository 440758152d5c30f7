#pragma once

#include "bitmaps/bit_matrix.hpp"

#include <cstddef>
#include <cstdint>

// One bit row against many, as depth-first mining needs them: a call serves all rows of a node.
// Rows are aligned to 64 bytes and padded with zeros to a multiple of 8 words (rows of a
// bit_matrix are), `words` is such a multiple; `rows` has n of them.
namespace rulerank::inline v0::bitmaps {

/// counts[j] = set bits of row AND rows[j].
void and_counts(word const* row, word const* const* rows, std::size_t n, std::size_t words,
                std::uint32_t* counts);

/// Row j of `out`, whose rows are `words` apart, = row AND rows[j].
void and_rows(word const* row, word const* const* rows, std::size_t n, std::size_t words,
              word* out);

/// Row j of `out`, whose rows are padded_words(set bits of mask) apart, = the bits of rows[j] in
/// the columns that mask has, packed in their order. One more word behind the last row is written.
void pack_rows(word const* mask, word const* const* rows, std::size_t n, std::size_t words,
               word* out);

}  // namespace rulerank::bitmaps
