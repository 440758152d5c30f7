#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::knn {

/// A word that is compared with many others, bit-parallel: a machine word of 64 bits holds the
/// differences of 64 neighbouring cells in a column of the dynamic program (Myers 1999, A fast
/// bit-vector algorithm for approximate string matching based on dynamic programming; for the
/// distance of whole words Hyyrö 2003, A bit-vector algorithm for computing Levenshtein and Damerau
/// edit distances).
class edit_pattern {
 public:
  /// Letters are numbers below `alphabet`.
  edit_pattern(std::span<std::uint32_t const> word, std::size_t alphabet);

  /// Returns the Levenshtein distance to a word of these letters, or any number above `bound` if
  /// the distance is.
  std::size_t to(std::span<std::uint32_t const> word, std::size_t bound);

 private:
  std::size_t in_a_word(std::span<std::uint32_t const> word, std::size_t bound) const;
  std::size_t in_blocks(std::span<std::uint32_t const> word, std::size_t bound);

  std::size_t length_;
  std::size_t blocks_;
  // [alphabet][blocks]; bit i: the word's letter i is this letter.
  std::vector<std::uint64_t> where_;
  std::vector<std::uint64_t> up_, down_;  // last column: cells larger, smaller than the cell above
};

}  // namespace rulerank::knn
