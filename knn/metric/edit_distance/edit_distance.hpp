#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::knn {

/// A word to be compared with many others, bit-parallel: a word of 64 bits has the differences of
/// 64 neighbouring cells of a column of the dynamic program (Myers 1999, A fast bit-vector
/// algorithm for approximate string matching based on dynamic programming; for the distance of
/// whole words Hyyrö 2003, A bit-vector algorithm for computing Levenshtein and Damerau edit
/// distances).
class edit_pattern {
 public:
  /// Letters of the word are numbers below `alphabet`.
  edit_pattern(std::span<std::uint32_t const> word, std::size_t alphabet);

  /// Levenshtein's distance to another word of these letters; where that is above `bound`, any
  /// number above `bound`.
  std::size_t to(std::span<std::uint32_t const> word, std::size_t bound);

 private:
  std::size_t in_a_word(std::span<std::uint32_t const> word, std::size_t bound) const;
  std::size_t in_blocks(std::span<std::uint32_t const> word, std::size_t bound);

  std::size_t length_;
  std::size_t blocks_;
  std::vector<std::uint64_t> where_;  // [alphabet][blocks]: bit i: the word's letter i is this one
  std::vector<std::uint64_t> up_, down_;  // of the last column: cells larger, smaller than the one
                                          // above them
};

}  // namespace rulerank::knn
