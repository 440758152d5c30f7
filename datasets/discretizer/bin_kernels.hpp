#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// The inner loops of binning; private to the module.
namespace rulerank::inline v0::datasets {

inline constexpr std::size_t tile_documents = 64;  ///< a cache line of codes

/// Computes the code of each value: the number of cuts <= it, or `missing` for NaN. Takes time
/// proportional to the number of cuts, at most 255. Threads: may be called from any number.
void count_cuts(std::span<double const, tile_documents> values, std::span<double const> cuts,
                std::uint8_t missing, std::span<std::uint8_t, tile_documents> codes);

/// Whether a value is infinite. Threads: may be called from any number.
bool has_infinite(std::span<double const> values);
bool has_infinite(std::span<float const> values);

}  // namespace rulerank::datasets
