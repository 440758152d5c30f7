#pragma once

#include "core/host_device.hpp"

#include <cmath>
#include <cstdint>

// Formulas that all engines share, on host and device.
namespace rulerank::inline v0::knn {

/// Returns the cosine, which orders documents under cosine and l2, larger first. Under l2, a
/// document of norm 0 is as far as one with cosine 1/2. Real is double, or float as published for
/// GPUs.
template <class Real>
RULERANK_HOST_DEVICE Real cosine_of(Real product, Real query_norm, Real document_norm, bool l2) {
  if (l2 && document_norm == 0) return Real(0.5);
  Real const norms = query_norm * document_norm;
  return norms == 0 ? Real(0) : product / norms;
}

/// Returns the Euclidean distance of the normalized vectors, from the result of `cosine_of` for l2.
inline double distance_of(double cosine, double query_norm, double document_norm) {
  double const query = query_norm == 0 ? 0 : 1;
  if (document_norm == 0) return query;
  double const squared = query + 1 - 2 * cosine;
  return squared > 0 ? std::sqrt(squared) : 0;
}

/// Returns a nonzero query weight as the integer that `tiles` sums; never 0.
RULERANK_HOST_DEVICE inline std::uint32_t integer_weight(double weight, double norm, double scale) {
  double const rounded = rint(weight / norm * scale);
  return rounded < 1 ? 1 : static_cast<std::uint32_t>(rounded);
}

}  // namespace rulerank::knn
