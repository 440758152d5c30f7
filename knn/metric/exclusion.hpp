#pragma once

#include "knn/metric/search.hpp"

#include <algorithm>
#include <cmath>

namespace rulerank::knn {

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
  explicit exclusion(distance_rounding const& rounding)
      : relative_(4 * rounding.relative), absolute_(4 * rounding.absolute) {}

  /// What the computed distance from a query to any object is at least, where the query is `a` from
  /// a pivot and the objects are within [low, high] of it.
  double at_least(double a, double low, double high) const {
    return std::max(a - high - slack(a + high), low - a - slack(a + low));
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
  /// The slack of distances whose sum is this.
  double slack(double sum) const { return relative_ * sum + absolute_; }

 private:
  double relative_;
  double absolute_;
};

}  // namespace rulerank::knn
