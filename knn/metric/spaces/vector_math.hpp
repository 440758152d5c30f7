#pragma once

#include "core/host_device.hpp"
#include "knn/metric/search.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

// Distances of two vectors for one thread of a device or of the host: as they are defined
// (search.hpp), and as sums of floats, which only say that an object is too far.
namespace rulerank::inline v0::knn {

/// For devices, which do not call what the standard library computes at compile time.
inline constexpr double without_bound = std::numeric_limits<double>::infinity();

/// Vectors as columns of a matrix: value d of vector i is values[d * stride + i].
struct vector_columns {
  float const* values = nullptr;
  std::size_t stride = 0;
  std::uint32_t dimensions = 0;
};

/// The sum, or largest, of what the metric takes of each dimension; in double that of the
/// definition, to the bit.
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

/// Objects whose sum of floats is above this have a defined distance above `bound`. Of n terms each
/// is rounded twice at most and added n times, upwards by 2^-24 each, and the root of the
/// definition by less; a square that is too small for a float loses 2^-150 at most, and one too
/// large for it is infinite, as is the limit where such squares may be within the bound. Half of
/// the slack is for rounding here.
template <metric_distance Which>
RULERANK_HOST_DEVICE float filter_limit(double bound, std::uint32_t dimensions) {
  double const inside = Which == metric_distance::l2 ? bound * bound : bound;
  double const terms = dimensions + 16.0;
  double const limit = inside * (1 + terms * 0x1p-22) + terms * 0x1p-146;
  return static_cast<float>(limit < 0x1p126 ? limit : without_bound);
}

/// Whether the sum of floats alone says that an object is beyond the bound of a `filter_limit`.
template <metric_distance Which>
RULERANK_HOST_DEVICE bool is_filtered(float const* query, vector_columns const& columns,
                                      std::size_t object, float limit) {
  return gathered_differences<Which, float>(query, columns, object) > limit;
}

}  // namespace rulerank::knn
