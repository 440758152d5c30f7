#pragma once
// Cuts of one feature from its distinct values; what fit_discretizer and cut_points stand on.

#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rulerank::inline v0::datasets {

/// The distinct values of a feature, ascending, with how often each occurs. There is no -0.
struct value_counts {
  std::vector<double> values;            ///< [K]
  std::vector<std::uint64_t> before{0};  ///< [K + 1] occurrences of smaller values; the last: all

  std::size_t distinct() const noexcept { return values.size(); }
  std::uint64_t total() const noexcept { return before.back(); }
};

/// Counts `values` (any order, none NaN or infinite) and `zeros` more that are 0.
value_counts count_values(std::vector<double> values, std::uint64_t zeros = 0);

/// The counts of the values of both.
value_counts merge(value_counts const& a, value_counts const& b);

/// Values times 2^exponent, and exponent 0 (with empty counts) where that is not needed. Ranges at
/// the ends of double's exponent are moved away from them, so that neither a range, nor N times a
/// width, nor a ten-millionth of a range leaves the normal numbers.
struct scaled_counts {
  value_counts counts;
  int exponent = 0;
};
scaled_counts rescale(value_counts const& counts);

/// At most `bins` - 1 cuts, ascending; none for fewer than two distinct values. `bins` >= 2.
std::vector<double> cut_points(binning method, int bins, value_counts const& counts);
/// Cuts of values in any order, without NaN.
std::vector<double> cut_points(binning method, int bins, std::vector<double> values);

/// Returns the roundest number in (low, high]: the largest multiple there of the largest power of
/// ten that has one, and 0 if low < 0 <= high. 0.3 for 0.2914 and 0.3177. `low` < `high`.
double roundest_between(double low, double high);

/// The cuts of `tube` (tree-based unsupervised bins, Schmidberger & Frank 2005) in the order in
/// which they are made, at most `most`: the cuts for B bins are the first B - 1. [from, to] is the
/// root bin. `counts` has at least two values.
struct tube_sequence {
  double from = 0, to = 0;
  std::vector<double> cuts;
};
tube_sequence grow_tube(value_counts const& counts, std::size_t most);

/// `--bins cv` tries 2 to this many.
inline constexpr int most_cross_validated_bins = 100;

/// The number of bins with the largest log-likelihood of held-out documents in a 10-fold
/// cross-validation (as many folds as documents where there are fewer than 10); a larger number
/// must gain more than 1e-9. A held-out document in a bin of width w that holds n of the fold's N
/// training documents has the density (n + w / W) / ((N + 1) w), W the width of all bins
/// together: one document more is spread evenly over the range, so that an empty bin has a density
/// (after Schmidberger & Frank 2005). The folds are drawn with `seed`.
int cross_validated_bins(binning method, value_counts const& counts, std::uint64_t seed);

}  // namespace rulerank::datasets
