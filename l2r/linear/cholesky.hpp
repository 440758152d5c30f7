#pragma once

#include "core/context.hpp"

#include <cstddef>
#include <vector>

namespace rulerank::inline v0::l2r {

/// Limit on a system's size: the matrix of one of this size takes 2 GB.
inline constexpr std::size_t most_unknowns = std::size_t{1} << 14;

/// A symmetric matrix. Only the lower triangle is read: row r, column c <= r.
class symmetric_matrix {
 public:
  explicit symmetric_matrix(std::size_t size) : size_(size), values_(size * size) {}
  std::size_t size() const noexcept { return size_; }
  double* row(std::size_t r) { return values_.data() + r * size_; }
  double const* row(std::size_t r) const { return values_.data() + r * size_; }

 private:
  std::size_t size_;
  std::vector<double> values_;
};

/// Solves A x = b by Cholesky's method, A = L L^T, column by column. The order of operations does
/// not depend on the number of threads. Overwrites A. Throws `std::logic_error` if A is not
/// positive definite.
std::vector<double> solve_positive_definite(context const& ctx, symmetric_matrix& a,
                                            std::vector<double> b);

}  // namespace rulerank::l2r
