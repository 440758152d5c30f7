#pragma once

#include <cstddef>
#include <cstdint>

namespace rulerank::inline v0::knn {

/// Sums of a tile are padded to a multiple of this number.
inline constexpr std::size_t tile_padding = 64;

/// Counts the sums[0 .. n - 1] that are at least `threshold`. n must be a multiple of tile_padding;
/// threshold must exceed the least 32-bit integer.
std::size_t count_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold);
/// Writes their indices in ascending order to `indices`, which has space for n; returns their
/// number.
std::size_t find_at_least(std::int32_t const* sums, std::size_t n, std::int32_t threshold,
                          std::uint32_t* indices);
/// Computes maxima of 16 sums each: of sums[256 b + j], sums[256 b + 16 + j] and so on. `maxima`
/// has space for n / 16 + 16. Returns their number. n must be a multiple of tile_padding.
std::size_t largest_of_sixteen(std::int32_t const* sums, std::size_t n, std::int32_t* maxima);
/// Adds weight * weights[i] to sums[i], in 32 bits.
void add_weighted(std::int32_t* sums, std::uint16_t const* weights, std::size_t n,
                  std::uint32_t weight);

}  // namespace rulerank::knn
