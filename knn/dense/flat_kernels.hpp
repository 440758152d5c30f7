#pragma once

#include "datasets/vectors.hpp"

#include <cstddef>
#include <cstdint>

// The loops of `flat` on the CPU, in single precision, for the instruction set of the machine. How
// far their sums may be from the exact ones: error_bound.hpp.
namespace rulerank::inline v0::knn {

/// Rows of floats in memory, `stride` values from one to the next.
struct float_rows {
  float const* data = nullptr;
  std::size_t stride = 0;
  std::size_t count = 0;
  std::size_t dimensions = 0;
  float const* operator[](std::size_t row) const { return data + row * stride; }
};

/// Values of a type that rows may have, exactly.
void to_floats(datasets::element type, std::byte const* values, std::size_t count, float* floats);
/// Subtracts a vector from rows that follow each other.
void subtract(float const* vector, std::size_t dimensions, std::size_t rows, float* values);

/// sums[r]: of the squares of the differences of a vector and row r.
void sum_squared_differences(float const* vector, float_rows const& rows, float* sums);
/// sums[r]: of the products of a vector and row r.
void sum_products(float const* vector, float_rows const& rows, float* sums);

/// A panel has so many queries, or twice as many.
inline constexpr std::size_t query_group = 16;

/// Queries side by side, and the line that a row must not cross to be near one of them.
struct query_panel {
  std::size_t width = 0;          ///< `query_group`, or twice that
  float const* values = nullptr;  ///< [dimensions][width]
  float const* factor = nullptr;  ///< [width]
  float const* limit = nullptr;   ///< [width]
};

/// A row and a query whose product is not beyond the line.
struct near_pair {
  std::uint32_t row;
  std::uint32_t query;  ///< of the panel
  float product;
};

/// Finds the pairs with term[row] * factor[query] - product <= limit[query], for each query rows
/// ascending. Returns how many; `found` has space for all pairs.
std::size_t find_near_pairs(query_panel const& panel, float_rows const& rows, float const* term,
                            near_pair* found);

}  // namespace rulerank::knn
