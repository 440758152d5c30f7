#pragma once
// Approximates the gains of the cuts of `tube`, several values at a time.

#include <cstddef>
#include <span>

namespace rulerank::inline v0::datasets {

/// A bin of `tube` over the distinct values with indexes first .. last - 1.
struct tube_range {
  double from = 0, to = 0;
  std::size_t first = 0, last = 0;
  double margin = 0;  ///< least distance of a cut to a value, unless values are closer
};

/// Values of a chunk; a multiple of the lanes of a vector.
inline constexpr std::size_t tube_chunk = 256;

/// Sets gains[c] to the largest gain of the cuts below and above the values first + c * tube_chunk
/// to first + (c + 1) * tube_chunk - 1 for each chunk except the first and the last one; -infinity
/// if no cut is inside the bin. `before` [K + 1] are numbers of smaller documents, and `gains` has
/// a chunk for each 256 values, rounded up. The error is at most tube_gain_error().
void approximate_tube_gains(std::span<double const> values, std::span<double const> before,
                            tube_range const& bin, std::span<double> gains);

/// Bounds the difference between approximate gains and those that std::log gives. |ln x| is at
/// most 745 for a double, and both logarithms are right to 4 units in the last place, so that
/// three terms of at most n ln(n / (N w)) with n <= N differ by less than N / 10^11.
inline double tube_gain_error(double documents) {
  return 1e-11 * documents;
}

}  // namespace rulerank::datasets
