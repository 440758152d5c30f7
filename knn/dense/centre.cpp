#include "knn/dense/centre.hpp"

#include "knn/dense/flat_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace rulerank::knn {

std::vector<float> centre_of_rows(dense_rows const& rows) {
  std::size_t const dimensions = rows.dimensions();
  std::size_t const some = std::min<std::size_t>(rows.size(), 1024);
  if (some == 0) return {};
  std::vector<float> row(dimensions);
  auto const each = [&](auto const& use) {
    for (std::size_t i = 0; i < some; ++i) {
      to_floats(rows.type(), rows.row(i * rows.size() / some), dimensions, row.data());
      use();
    }
  };
  std::vector<double> mean(dimensions);
  double squares = 0;
  each([&] {
    for (std::size_t i = 0; i < dimensions; ++i) {
      mean[i] += row[i] / static_cast<double>(some);
      squares += static_cast<double>(row[i]) * row[i];
    }
  });
  double of_mean = 0;
  for (double const value : mean) of_mean += value * value;
  of_mean *= static_cast<double>(some);
  // The sum of the squares around the mean is the sum of all less that of the mean.
  if (!(of_mean > 0.875 * squares) || !std::isfinite(squares)) return {};
  std::vector<float> centre(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) centre[i] = static_cast<float>(mean[i]);
  return centre;
}

}  // namespace rulerank::knn
