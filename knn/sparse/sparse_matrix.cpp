#include "knn/sparse/sparse_matrix.hpp"

#include "core/error.hpp"

#include <cmath>

#include <fmt/format.h>

namespace rulerank::knn {

std::string fault_of(sparse_row const& row, std::uint32_t terms) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row.term[i] >= terms)
      return fmt::format("found term {}, expected one below {}", row.term[i], terms);
    if (i > 0 && row.term[i] <= row.term[i - 1])
      return fmt::format("found term {} after {}, expected ascending terms", row.term[i],
                         row.term[i - 1]);
    if (!std::isfinite(row.weight[i]))
      return fmt::format("the weight of term {} is not finite", row.term[i]);
    if (std::abs(row.weight[i]) > largest_weight)
      return fmt::format("the weight of term {} is {}, expected at most {}", row.term[i],
                         row.weight[i], largest_weight);
  }
  return {};
}

void check(sparse_rows const& rows, std::string_view what) {
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (std::string const fault = fault_of(rows[r], rows.terms); !fault.empty())
      throw usage_error(fmt::format("{}, row {}: {}", what, r, fault));
}

}  // namespace rulerank::knn
