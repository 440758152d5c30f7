#pragma once

#include "core/host_device.hpp"
#include "knn/metric/search.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

// Distances of two vectors for one thread of a device or of the host: as defined (search.hpp), and
// as sums of floats, which can only exclude objects that are too far.
namespace rulerank::inline v0::knn {

/// For devices, which cannot call functions of the standard library that are evaluated at compile
/// time.
inline constexpr double without_bound = std::numeric_limits<double>::infinity();

/// Vectors as columns of a matrix: value d of vector i is values[d * stride + i].
struct vector_columns {
  float const* values = nullptr;
  std::size_t stride = 0;
  std::uint32_t dimensions = 0;
};

/// Returns the sum, or for linf the maximum, over the dimensions; in double exactly the defined
/// value.
template <metric_distance Which, class Number>
RULERANK_HOST_DEVICE Number gathered_differences(float const* query, vector_columns const& columns,
                                                 std::size_t object) {
  Number sum = 0;
  float const* at = columns.values + object;
  for (std::uint32_t d = 0; d < columns.dimensions; ++d, at += columns.stride) {
    Number const difference = static_cast<Number>(query[d]) - static_cast<Number>(*at);
    if constexpr (Which == metric_distance::l2) {
      sum += difference * difference;
    } else {
      Number const size = difference < 0 ? -difference : difference;
      if constexpr (Which == metric_distance::l1)
        sum += size;
      else
        sum = size > sum ? size : sum;
    }
  }
  return sum;
}

template <metric_distance Which>
RULERANK_HOST_DEVICE double defined_distance(float const* query, vector_columns const& columns,
                                             std::size_t object) {
  double const sum = gathered_differences<Which, double>(query, columns, object);
  if constexpr (Which == metric_distance::l2) return sqrt(sum);
  return sum;
}

/// Objects whose sum of floats exceeds this limit have a defined distance above `bound`. Each of n
/// terms is rounded at most twice and added n times, upwards by 2^-24 each, and the root of the
/// definition by less. A square that is too small for a float loses at most 2^-150. A square that
/// is too large is infinite, and so is the limit if such squares may be within the bound. Half of
/// the slack covers rounding here.
template <metric_distance Which>
RULERANK_HOST_DEVICE float filter_limit(double bound, std::uint32_t dimensions) {
  double const inside = Which == metric_distance::l2 ? bound * bound : bound;
  double const terms = dimensions + 16.0;
  double const limit = inside * (1 + terms * 0x1p-22) + terms * 0x1p-146;
  return static_cast<float>(limit < 0x1p126 ? limit : without_bound);
}

/// Returns whether the sum of floats excludes an object, for the limit of `filter_limit`.
template <metric_distance Which>
RULERANK_HOST_DEVICE bool is_filtered(float const* query, vector_columns const& columns,
                                      std::size_t object, float limit) {
  return gathered_differences<Which, float>(query, columns, object) > limit;
}

}  // namespace rulerank::knn
