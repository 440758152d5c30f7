#pragma once
// Computes the cuts of one feature from its distinct values, for fit_discretizer and cut_points.

#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rulerank::inline v0::datasets {

/// The distinct values of a feature, ascending, with the frequency of each. Never -0.
struct value_counts {
  std::vector<double> values;            ///< [K]
  std::vector<std::uint64_t> before{0};  ///< [K + 1] number of smaller values; the last: all

  std::size_t distinct() const noexcept { return values.size(); }
  std::uint64_t total() const noexcept { return before.back(); }
};

/// Counts `values` (any order, none NaN or infinite) and `zeros` additional zeros.
value_counts count_values(std::vector<double> values, std::uint64_t zeros = 0);

/// Adds the counts of both.
value_counts merge(value_counts const& a, value_counts const& b);

/// Values times 2^exponent; exponent 0, with empty counts, if no scaling is needed. Scaling moves
/// ranges away from the limits of double's exponent, so that a range, N times a width, and a
/// ten-millionth of a range are normal numbers.
struct scaled_counts {
  value_counts counts;
  int exponent = 0;
};
scaled_counts rescale(value_counts const& counts);

/// Returns at most `bins` - 1 cuts, ascending; none for fewer than two distinct values. `bins` >=
/// 2.
std::vector<double> cut_points(binning method, int bins, value_counts const& counts);
/// Returns the cuts of values in any order, without NaN.
std::vector<double> cut_points(binning method, int bins, std::vector<double> values);

/// Returns the roundest number in (low, high]: the largest multiple of the largest power of ten
/// that has a multiple there, or 0 if low < 0 <= high. Example: 0.3 for 0.2914 and 0.3177. `low` <
/// `high`.
double roundest_between(double low, double high);

/// Returns at most `most` cuts of `tube` (tree-based unsupervised bins, Schmidberger & Frank 2005)
/// in the order in which they are made: the cuts for B bins are the first B - 1. [from, to] is the
/// root bin. `counts` has at least two values.
struct tube_sequence {
  double from = 0, to = 0;
  std::vector<double> cuts;
};
tube_sequence grow_tube(value_counts const& counts, std::size_t most);

/// `--bins cv` tries 2 to this number of bins.
inline constexpr int most_cross_validated_bins = 100;

/// Returns the number of bins with the largest log-likelihood of held-out documents in a 10-fold
/// cross-validation (with fewer than 10 documents, one fold per document). A larger number of bins
/// must gain more than 1e-9. A held-out document in a bin of width w with n of the fold's N
/// training documents has the density (n + w / W) / ((N + 1) w), where W is the total width of the
/// bins: one additional document is spread evenly over the range, so an empty bin has a positive
/// density (after Schmidberger & Frank 2005). `seed` determines the folds.
int cross_validated_bins(binning method, value_counts const& counts, std::uint64_t seed);

}  // namespace rulerank::datasets
