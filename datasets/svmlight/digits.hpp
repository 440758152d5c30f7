#pragma once
// Parses runs of digits, eight at a time in a 64-bit word (little-endian: the first character is
// the lowest byte). D. Lemire, "Number parsing at a gigabyte per second", 2021.

#include <bit>
#include <cstdint>
#include <cstring>

namespace rulerank::inline v0::datasets {

/// Loads eight characters from `at`.
inline std::uint64_t load_characters(char const* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Counts the leading digits of eight characters.
inline unsigned leading_digits(std::uint64_t characters) {
  std::uint64_t const values = characters ^ 0x3030303030303030U;  // digits become 0..9
  // A carry can only come from the first byte that is no digit, so lower bytes are correct.
  std::uint64_t const others = ((values + 0x7676767676767676U) | values) & 0x8080808080808080U;
  return static_cast<unsigned>(std::countr_zero(others)) / 8;
}

/// Returns the value of the first n of the eight characters, which must be digits; n is 1..8.
inline std::uint64_t digits_value(std::uint64_t characters, unsigned n) {
  std::uint64_t word = (characters ^ 0x3030303030303030U) << (8 * (8 - n));  // leading zeros
  word = word * 10 + (word >> 8);                                            // pairs
  constexpr std::uint64_t pair = 0x000000ff000000ffU;
  return ((word & pair) * 0x000f424000000064U + ((word >> 16) & pair) * 0x0000271000000001U) >> 32;
}

}  // namespace rulerank::datasets
