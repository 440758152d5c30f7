#pragma once

#include "datasets/vectors.hpp"

#include <cstddef>
#include <cstdint>

// The single-precision loops of `flat` on the CPU, for the machine's instruction set.
// error_bound.hpp bounds the error of their sums.
namespace rulerank::inline v0::knn {

/// Rows of floats in memory, `stride` values apart.
struct float_rows {
  float const* data = nullptr;
  std::size_t stride = 0;
  std::size_t count = 0;
  std::size_t dimensions = 0;
  float const* operator[](std::size_t row) const { return data + row * stride; }
};

/// Converts values of a type that rows may have to floats, exactly.
void to_floats(datasets::element type, std::byte const* values, std::size_t count, float* floats);
/// Subtracts a vector from each of several consecutive rows.
void subtract(float const* vector, std::size_t dimensions, std::size_t rows, float* values);

/// Sets sums[r] to the sum of squared differences of a vector and row r.
void sum_squared_differences(float const* vector, float_rows const& rows, float* sums);
/// Sets sums[r] to the sum of products of a vector and row r.
void sum_products(float const* vector, float_rows const& rows, float* sums);

/// The number of queries in a panel, or half of it.
inline constexpr std::size_t query_group = 16;

/// Several queries, interleaved, with the threshold for rows near them.
struct query_panel {
  std::size_t width = 0;          ///< `query_group`, or twice that
  float const* values = nullptr;  ///< [dimensions][width]
  float const* factor = nullptr;  ///< [width]
  float const* limit = nullptr;   ///< [width]
};

/// A row and a query whose product passes the threshold.
struct near_pair {
  std::uint32_t row;
  std::uint32_t query;  ///< index in the panel
  float product;
};

/// Finds the pairs with term[row] * factor[query] - product <= limit[query], rows ascending for
/// each query. Returns their number; `found` must have space for all pairs.
std::size_t find_near_pairs(query_panel const& panel, float_rows const& rows, float const* term,
                            near_pair* found);

}  // namespace rulerank::knn
