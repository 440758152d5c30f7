#pragma once

#include "core/host_device.hpp"
#include "knn/similarity.hpp"

#include <cmath>
#include <cstddef>

// The defined values (search.hpp), for several rows at once. Each row's additions are in the
// defined order, and no addition waits for that of another row. Values of all types of rows convert
// exactly to float, and floats to double.
namespace rulerank::inline v0::knn {

inline constexpr std::size_t rows_together = 8;

/// Sets sums[r] to the sum of term(x, y) over the dimensions of `vector` and rows[r], r < Rows.
template <std::size_t Rows, class Term>
void defined_sums_of(float const* vector, float const* const* rows, std::size_t dimensions,
                     Term const& term, double* sums) {
  double sum[Rows] = {};
  for (std::size_t i = 0; i < dimensions; ++i) {
    auto const of_vector = static_cast<double>(vector[i]);
    for (std::size_t r = 0; r < Rows; ++r)
      sum[r] += term(of_vector, static_cast<double>(rows[r][i]));
  }
  for (std::size_t r = 0; r < Rows; ++r) sums[r] = sum[r];
}
template <class Term>
void defined_sums(float const* vector, float const* const* rows, std::size_t count,
                  std::size_t dimensions, Term const& term, double* sums) {
  std::size_t r = 0;
  for (; r + rows_together <= count; r += rows_together)
    defined_sums_of<rows_together>(vector, rows + r, dimensions, term, sums + r);
  for (; r < count; ++r) defined_sums_of<1>(vector, rows + r, dimensions, term, sums + r);
}

inline double squared_difference_of(double x, double y) {
  double const difference = x - y;
  return difference * difference;
}
inline double product_of(double x, double y) {
  return x * y;
}

/// Returns the square root of the sum of squares.
inline double defined_norm(float const* vector, std::size_t dimensions) {
  double sum = 0;
  defined_sums_of<1>(
      vector, &vector, dimensions, [](double, double y) { return y * y; }, &sum);
  return std::sqrt(sum);
}

/// Returns the key that orders a row, from the sum of squared differences (l2) or of products.
RULERANK_HOST_DEVICE inline double order_key(similarity metric, double sum, double query_norm,
                                             double row_norm) {
  if (metric == similarity::l2) return sum;
  if (metric == similarity::inner_product) return -sum;
  return query_norm == 0 || row_norm == 0 ? 0 : -(sum / (query_norm * row_norm));
}
/// Returns the value that a search reports for a key.
inline double value_of_key(similarity metric, double key) {
  return metric == similarity::l2 ? std::sqrt(key) : 0.0 - key;
}

}  // namespace rulerank::knn
