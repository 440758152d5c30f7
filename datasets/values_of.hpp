#pragma once

#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace rulerank::inline v0::datasets {

/// Returns the value of an unlisted feature: 0, or NaN if it is missing.
inline double unlisted_value(missing_values missing, unlisted_values unlisted) {
  bool const misses = unlisted == unlisted_values::missing && missing != missing_values::zero;
  return misses ? std::numeric_limits<double>::quiet_NaN() : 0;
}

/// Calls visit(k, value) for the k-th feature of `features`, ascending; NaN if the document `row`
/// lacks it.
template <class Visit>
void for_each_value(std::span<feature_value const> row, std::span<std::uint32_t const> features,
                    double unlisted, Visit visit) {
  auto at = row.begin();
  for (std::size_t k = 0; k < features.size(); ++k) {
    while (at != row.end() && at->feature < features[k]) ++at;
    visit(k, at != row.end() && at->feature == features[k] ? at->value : unlisted);
  }
}

}  // namespace rulerank::datasets
