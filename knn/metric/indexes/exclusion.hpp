#pragma once

#include "core/host_device.hpp"
#include "knn/metric/search.hpp"

#include <cmath>

namespace rulerank::inline v0::knn {

/// The triangle inequality for rounded distances. With computed values a = d(q, p) and b = d(p, x),
/// the computed d(q, x) is at least
///
///   |a - b| - 4 g (a + b) - 4 e,   g the relative, e the absolute bound of rounding:
///
/// each of the three distances may have an error of g times itself plus e, d(q, x) is at most a +
/// b, and the fourth part covers the rounding of this sum itself (g is at least 8 units in the last
/// place of 1, unless distances are integers, which are not rounded here).
class exclusion {
 public:
  /// `has_four_points`: the metric has the four-point property. Used only if its distances have no
  /// absolute bound of rounding.
  explicit exclusion(distance_rounding const& rounding, bool has_four_points = false)
      : relative_(4 * rounding.relative),
        absolute_(4 * rounding.absolute),
        has_four_points_(has_four_points && rounding.absolute == 0) {}

  /// Returns a lower bound of the computed distance from a query to any object, if the query is at
  /// distance `a` from a pivot and the objects are within [low, high] of it.
  RULERANK_HOST_DEVICE double at_least(double a, double low, double high) const {
    double const below = a - high - slack(a + high);
    double const above = low - a - slack(a + low);
    return below < above ? above : below;
  }
  /// Returns this bound for objects within `radius` of an object at distance `b` from the pivot.
  double at_least_around(double a, double b, double radius) const {
    return std::abs(a - b) - radius - slack(a + b + radius) - absolute_;
  }
  /// Returns an upper bound of the computed distance from c to objects within `radius` of e, given
  /// d(c, e).
  double at_most(double to_other, double radius) const {
    double const sum = to_other + radius;
    return sum + slack(sum);
  }
  /// Whether the metric has the four-point property, which `at_least_by_two` requires.
  bool has_four_points() const { return has_four_points_; }
  /// Returns a lower bound of the computed distance from a query to an object, if the query is `a`
  /// and `other_a`, and the object `b` and `other_b`, from two pivots at distance `between`. It is
  /// the distance of their projections on the line through the pivots (Connor et al. 2016, Hilbert
  /// exclusion),
  ///
  ///   |(a^2 - other_a^2) - (b^2 - other_b^2)| / (2 between).
  ///
  /// Each square has an error of 2 g of itself, the quotient g more, and the computed distance g of
  /// itself. Where the bound decides, this distance is at most S / (2 between), for the sum S of
  /// the squares. Together that is 5 g S / (2 between), including the rounding of the operations.
  /// The slack is 8 g S / (2 between).
  double at_least_by_two(double a, double other_a, double b, double other_b, double between) const {
    if (!(between > 0)) return 0;
    double const of_query = a * a - other_a * other_a;
    double const of_object = b * b - other_b * other_b;
    double const sum = a * a + other_a * other_a + b * b + other_b * other_b;
    return (std::abs(of_query - of_object) - 2 * relative_ * sum) / (2 * between);
  }
  /// Returns the slack for distances with this sum.
  RULERANK_HOST_DEVICE double slack(double sum) const { return relative_ * sum + absolute_; }

 private:
  double relative_;
  double absolute_;
  bool has_four_points_;
};

}  // namespace rulerank::knn
