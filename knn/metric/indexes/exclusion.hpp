#pragma once

#include "core/host_device.hpp"
#include "knn/metric/search.hpp"

#include <cmath>

namespace rulerank::inline v0::knn {

/// What the triangle inequality says of distances that were rounded. With values a = d(q, p) and
/// b = d(p, x) as they were computed, the computed d(q, x) is at least
///
///   |a - b| - 4 g (a + b) - 4 e,   g the relative, e the absolute bound of rounding:
///
/// each of the three distances may be g times itself and e off, d(q, x) is at most as large as
/// a + b, and the fourth part covers the rounding of this sum itself (g is at least 8 units in the
/// last place of 1 unless distances are integers, of which nothing is rounded here).
class exclusion {
 public:
  /// `has_four_points`: of a metric whose distances have no absolute bound of rounding.
  explicit exclusion(distance_rounding const& rounding, bool has_four_points = false)
      : relative_(4 * rounding.relative),
        absolute_(4 * rounding.absolute),
        has_four_points_(has_four_points && rounding.absolute == 0) {}

  /// What the computed distance from a query to any object is at least, where the query is `a` from
  /// a pivot and the objects are within [low, high] of it.
  RULERANK_HOST_DEVICE double at_least(double a, double low, double high) const {
    double const below = a - high - slack(a + high);
    double const above = low - a - slack(a + low);
    return below < above ? above : below;
  }
  /// The same for objects within `radius` of one that is `b` from the pivot.
  double at_least_around(double a, double b, double radius) const {
    return std::abs(a - b) - radius - slack(a + b + radius) - absolute_;
  }
  /// At least the computed distance from c to objects within `radius` of e, for d(c, e).
  double at_most(double to_other, double radius) const {
    double const sum = to_other + radius;
    return sum + slack(sum);
  }
  /// Whether the metric has the four-point property, so that the next function holds.
  bool has_four_points() const { return has_four_points_; }
  /// What the computed distance from a query, `a` and `other_a` from two pivots that are `between`
  /// apart, to an object that is `b` and `other_b` from them, is at least: that of their
  /// projections on the line through the pivots (Connor et al. 2016, Hilbert exclusion),
  ///
  ///   |(a^2 - other_a^2) - (b^2 - other_b^2)| / (2 between).
  ///
  /// Each square is 2 g of itself off, the quotient g more, and the computed distance g of itself,
  /// which is no more than S / (2 between) where it decides, for the sum S of the squares: 5 g S /
  /// (2 between) with what the operations round. The slack is 8 g S / (2 between).
  double at_least_by_two(double a, double other_a, double b, double other_b, double between) const {
    if (!(between > 0)) return 0;
    double const of_query = a * a - other_a * other_a;
    double const of_object = b * b - other_b * other_b;
    double const sum = a * a + other_a * other_a + b * b + other_b * other_b;
    return (std::abs(of_query - of_object) - 2 * relative_ * sum) / (2 * between);
  }
  /// The slack of distances whose sum is this.
  RULERANK_HOST_DEVICE double slack(double sum) const { return relative_ * sum + absolute_; }

 private:
  double relative_;
  double absolute_;
  bool has_four_points_;
};

}  // namespace rulerank::knn
