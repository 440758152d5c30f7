#include "l2r/linear/cholesky.hpp"

#include "core/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace rulerank::inline v0::l2r {

namespace {

constexpr std::size_t panel = 32;  // columns factored before the rest is updated
constexpr std::size_t cholesky_rows_a_piece = 16;
constexpr std::size_t columns_a_pass = 8;  // columns subtracted per pass over a row
constexpr std::size_t tile = 256;  // columns of a row that all rows of a piece process in turn
static_assert(panel % columns_a_pass == 0);

/// Subtracts from the entries [begin, end) of a row the panel's columns times `factors`, the row's
/// entries in the panel. Each entry is updated column by column, whatever the passes and tiles.
/// Column k is at `columns` + k * stride.
void subtract_panel(double* row, std::size_t begin, std::size_t end, double const* factors,
                    double const* columns, std::size_t stride) {
  for (std::size_t k = 0; k < panel; k += columns_a_pass) {
    std::array<double, columns_a_pass> factor{};
    std::copy_n(factors + k, columns_a_pass, factor.begin());
    double const* const column = columns + k * stride;
#pragma omp simd
    for (std::size_t c = begin; c < end; ++c) {
      double x = row[c];
      for (std::size_t j = 0; j < columns_a_pass; ++j) x -= factor[j] * column[j * stride + c];
      row[c] = x;
    }
  }
}

/// Computes columns [from, to) of L for all rows; earlier columns are already subtracted.
void factor_panel(symmetric_matrix& a, std::size_t from, std::size_t to) {
  for (std::size_t k = from; k < to; ++k) {
    double const pivot = a.row(k)[k];
    if (!(pivot > 0)) throw std::logic_error("the matrix is not positive definite");
    double const root = std::sqrt(pivot);
    a.row(k)[k] = root;
    for (std::size_t r = k + 1; r < a.size(); ++r) {
      double* const row = a.row(r);
      row[k] /= root;
      for (std::size_t c = k + 1; c < std::min(to, r + 1); ++c) row[c] -= row[k] * a.row(c)[k];
    }
  }
}

}  // namespace

std::vector<double> solve_positive_definite(context const& ctx, symmetric_matrix& a,
                                            std::vector<double> b) {
  std::size_t const n = a.size();
  std::vector<double> turned;  // the panel's columns, contiguous: [panel x n]
  for (std::size_t from = 0; from < n; from += panel) {
    std::size_t const to = std::min(n, from + panel);
    factor_panel(a, from, to);
    turned.resize((to - from) * n);
    for (std::size_t r = to; r < n; ++r)
      for (std::size_t k = from; k < to; ++k) turned[(k - from) * n + r] = a.row(r)[k];
    parallel_for(ctx, n - to, cholesky_rows_a_piece, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t c = to; c < to + end; c += tile)
        for (std::size_t r = std::max(to + begin, c); r < to + end; ++r)
          subtract_panel(a.row(r), c, std::min(c + tile, r + 1), a.row(r) + from, turned.data(), n);
    });
  }
  for (std::size_t r = 0; r < n; ++r) {
    double const* const row = a.row(r);
    for (std::size_t c = 0; c < r; ++c) b[r] -= row[c] * b[c];
    b[r] /= row[r];
  }
  for (std::size_t r = n; r-- > 0;) {
    double const* const row = a.row(r);
    b[r] /= row[r];
    for (std::size_t c = 0; c < r; ++c) b[c] -= row[c] * b[r];
  }
  return b;
}

}  // namespace rulerank::l2r
