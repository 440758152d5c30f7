#pragma once

#include <cstddef>
#include <cstdint>

namespace rulerank::inline v0::knn {

/// Sums of a tile are padded to a multiple of this.
inline constexpr std::size_t tile_padding = 64;

/// How many of sums[0 .. n - 1] are at least `threshold`. n: a multiple of tile_padding; threshold:
/// above the least number of 32 bits.
std::size_t count_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold);
/// Their indices, ascending; `indices` holds n. Returns how many.
std::size_t find_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold,
                          std::uint32_t* indices);
/// The largest of sixteen sums each, sums[256 b + j], sums[256 b + 16 + j] and so on; `maxima`
/// holds n / 16 + 16. Returns how many there are. n: a multiple of tile_padding.
std::size_t largest_of_sixteen(std::int32_t const* sums, std::size_t n, std::int32_t* maxima);
/// sums[i] += weight * weights[i], in 32 bits.
void add_weighted(std::int32_t* sums, std::uint16_t const* weights, std::size_t n,
                  std::uint32_t weight);

}  // namespace rulerank::knn
