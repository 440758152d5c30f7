#pragma once

#include <cstddef>
#include <cstdint>

// The loops of the SSS-Index over its codes, for the instruction set of the machine.
namespace rulerank::inline v0::knn {

/// Objects whose codes lie side by side.
inline constexpr std::size_t codes_a_block = 64;

/// The codes of a block's objects: [pivots][codes_a_block], each of 8 or 16 bits.
struct code_block {
  std::byte const* codes = nullptr;
  std::size_t code_bytes = 1;
  std::size_t pivots = 0;
};

/// Codes from `low` to `low + width`.
struct code_range {
  std::uint16_t low = 0;
  std::uint16_t width = 0;
};

/// Bit i: all codes of object i are in the ranges, of which each pivot has one.
std::uint64_t codes_in_ranges(code_block const& of, code_range const* ranges);

/// apart[i] = the largest |code - from[p]| of object i, over all pivots p.
void codes_apart(code_block const& of, std::uint16_t const* from, std::uint16_t* apart);

}  // namespace rulerank::knn
