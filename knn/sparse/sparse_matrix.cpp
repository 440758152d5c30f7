#include "knn/sparse/sparse_matrix.hpp"

#include "core/error.hpp"

#include <cmath>

#include <fmt/format.h>

namespace rulerank::knn {

bool is_sound(sparse_row const& row, std::uint32_t terms) {
  for (std::size_t i = 0; i < row.size(); ++i)
    if (row.term[i] >= terms || (i > 0 && row.term[i] <= row.term[i - 1]) ||
        !(std::abs(row.weight[i]) <= largest_weight))
      return false;
  return true;
}

void check(sparse_rows const& rows, std::string_view what) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    sparse_row const row = rows[r];
    if (is_sound(row, rows.terms)) continue;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row.term[i] >= rows.terms)
        throw usage_error(fmt::format("{}, row {}: found term {}, expected one below {}", what, r,
                                      row.term[i], rows.terms));
      if (i > 0 && row.term[i] <= row.term[i - 1])
        throw usage_error(
            fmt::format("{}, row {}: found term {} after {}, expected ascending terms", what, r,
                        row.term[i], row.term[i - 1]));
      if (!std::isfinite(row.weight[i]))
        throw usage_error(
            fmt::format("{}, row {}: the weight of term {} is not finite", what, r, row.term[i]));
      if (std::abs(row.weight[i]) > largest_weight)
        throw usage_error(
            fmt::format("{}, row {}: the weight of term {} is {}, expected at most {}", what, r,
                        row.term[i], row.weight[i], largest_weight));
    }
  }
}

}  // namespace rulerank::knn
