#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

// Bounds on the difference between the sums of flat_kernels.hpp and the defined values
// (search.hpp). They make `flat` exact.
//
// Let u = 2^-24, n the dimensions, and gamma(m) = m u / (1 - m u). By the standard model (Higham,
// Accuracy and Stability of Numerical Algorithms, 2002, sections 2.2 and 3.1) an operation on
// floats gives the exact result times 1 + e, |e| <= u, and a product of m such factors is 1 + t
// with |t| <= gamma(m). In any order of summation, a term is part of at most n - 1 additions that
// round, because an addition to 0 does not; a fused operation rounds less often than a product and
// a sum. So for
//
//   a sum of products: each term has at most n factors, and the sum p of x_i y_i obeys
//     |p - x y| <= gamma(n) sum |x_i y_i| + v <= gamma(n) |x| |y| + v
//   a sum of squared differences: each term has two factors of the difference, one of the square,
//     and n - 1 of the additions, all terms are at least 0, and the sum s obeys
//     |s - D| <= gamma(n + 2) D + v,  D = |x - y|^2.
//
// v covers results below the normal range: a product there has an error of at most 2^-150, a sum or
// difference there is exact, so v <= n 2^-150 (1 + gamma(n)). This requires that no flag flushes
// such numbers to zero. Nothing overflows: the kernels get only vectors of a norm of at most
// `largest_norm`, so a partial sum is at most (2 x 1e18)^2 (1 + gamma(n)) < 2^128.
//
// One vector c may be subtracted from rows and queries first, x' = fl(x - c), to centre the data:
// x'_i = (x_i - c_i)(1 + e), so the distance of x' and y' differs from that of x and y by at most
// u / (1 - u) (|x'| + |y'|), and with S = |x'|^2 + |y'|^2 >= (|x'| + |y'|)^2 / 2 its square differs
// by
//     |D' - D| <= 2.1 u (|x'| + |y'|)^2 <= 4.2 u S.
// With |x'| |y'| <= S / 2 a sum p of products of x' and y' gives
//     |(|x'|^2 + |y'|^2 - 2 p) - D| <= (gamma(n) + 4.2 u) S + 2 v.
//
// The definition rounds too, in double precision: by at most (n + 2) 2^-53 (1 + ...) times D, or
// times |x| |y|, and for the cosine by a few more units; so do the norms and the few operations on
// bounds. (n + 20) 2^-49 exceeds the sum of these errors. Each bound below is a thousandth larger
// than necessary, to cover its own rounding.
namespace rulerank::inline v0::knn {

inline constexpr double largest_norm = 1e18;
/// With more dimensions, the bounds are useless.
inline constexpr std::size_t most_bounded_dimensions = std::size_t{1} << 21;

class error_bound {
 public:
  explicit error_bound(std::size_t dimensions) {
    auto const n = static_cast<double>(dimensions);
    double const of_definition = std::ldexp(n + 20, -49);
    products_ = 1.001 * gamma(n) + of_definition;
    norms_ = 1.001 * (gamma(n) + 4.2 * unit) + of_definition;
    differences_ = 1.001 * gamma(n + 2) + of_definition;
    underflow_ = std::ldexp(n + 8, -147);
  }

  /// Error of a product, relative to the product of the norms.
  double products() const { return products_; }
  /// Error of a squared distance from norms and a product, relative to the sum of the squared
  /// norms.
  double norms() const { return norms_; }
  /// Error of a sum of squared differences, relative to the sum.
  double differences() const { return differences_; }
  /// Absolute error in addition to each of them.
  double underflow() const { return underflow_; }

 private:
  static constexpr double unit = 0x1p-24;
  static double gamma(double m) { return m * unit / (1 - m * unit); }

  double products_;
  double norms_;
  double differences_;
  double underflow_;
};

/// Return the next float at or below, or at or above, x.
inline float float_below(double x) {
  if (x > std::numeric_limits<float>::max())
    return std::isinf(x) ? std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::max();
  if (x < -std::numeric_limits<float>::max()) return -std::numeric_limits<float>::infinity();
  auto const nearest = static_cast<float>(x);
  return static_cast<double>(nearest) > x
             ? std::nextafterf(nearest, -std::numeric_limits<float>::infinity())
             : nearest;
}
inline float float_above(double x) {
  return -float_below(-x);
}

}  // namespace rulerank::knn
