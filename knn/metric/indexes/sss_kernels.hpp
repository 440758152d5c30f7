#pragma once

#include <cstddef>
#include <cstdint>

// The loops of the SSS-Index over its codes, for the machine's instruction set.
namespace rulerank::inline v0::knn {

/// Objects whose codes are stored together.
inline constexpr std::size_t codes_a_block = 64;

/// The codes of a block of objects: [pivots][codes_a_block], 8 or 16 bits each.
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

/// Sets bit i if all codes of object i are in the ranges; one range per pivot.
std::uint64_t codes_in_ranges(code_block const& of, code_range const* ranges);

/// Sets apart[i] to the largest |code - from[p]| of object i over all pivots p.
void codes_apart(code_block const& of, std::uint16_t const* from, std::uint16_t* apart);

}  // namespace rulerank::knn
