#include "knn/dense/centre.hpp"

#include "knn/dense/flat_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t most_rows = 1024;
/// The number of values from which a shadow's centre is computed; with fewer rows than `least_rows`
/// there is no centre.
constexpr std::size_t most_values = std::size_t{1} << 20;
constexpr std::size_t least_rows = 32;

/// Calls use(row) for `some` evenly spaced rows, as floats.
template <class Use>
void each_of_some(dense_rows const& rows, std::size_t some, Use const& use) {
  std::vector<float> row(rows.dimensions());
  for (std::size_t i = 0; i < some; ++i) {
    to_floats(rows.type(), rows.row(i * rows.size() / some), row.size(), row.data());
    use(std::as_const(row));
  }
}

double norm_of(std::vector<float> const& row) {
  double squares = 0;
  for (float const value : row) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

std::vector<float> as_floats(std::vector<double> const& values) {
  std::vector<float> floats;
  for (double const value : values) floats.push_back(static_cast<float>(value));
  return floats;
}

struct rounded_size {
  double norm;
  double error;  ///< of rounding to bfloat16
};
rounded_size size_of(std::vector<double> const& row, std::vector<float> const& centre) {
  double squares = 0;
  double errors = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    double const moved = row[i] - (centre.empty() ? 0.0 : static_cast<double>(centre[i]));
    double const held = static_cast<float>(datasets::bfloat16(static_cast<float>(moved)));
    squares += moved * moved;
    errors += (moved - held) * (moved - held);
  }
  return {std::sqrt(squares), std::sqrt(errors)};
}

/// Returns the width of a row's bounds with similar queries, which are moved except for inner
/// products.
double width_of(std::vector<double> const& row, std::vector<float> const& centre, similarity metric,
                double product_error) {
  rounded_size const of_row = size_of(row, centre);
  rounded_size const of_query = metric == similarity::inner_product ? size_of(row, {}) : of_row;
  return of_query.norm * of_row.error + of_query.error * of_row.norm +
         product_error * of_query.norm * of_row.norm;
}

/// Returns the width of a moved row relative to that of the original row, limited, so that all rows
/// count equally. In a sum of widths, short rows, whose bounds widen when they are moved, would be
/// negligible next to long ones, although as many queries may resemble them.
double share_of(double moved, double as_it_is) {
  double const most = 4;
  return moved < most * as_it_is ? moved / as_it_is : most;
}

}  // namespace

std::vector<float> centre_of_rows(dense_rows const& rows) {
  std::size_t const some = std::min(rows.size(), most_rows);
  std::vector<double> mean(rows.dimensions());
  double squares = 0;
  each_of_some(rows, some, [&](std::vector<float> const& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      mean[i] += row[i] / static_cast<double>(some);
      squares += static_cast<double>(row[i]) * row[i];
    }
  });
  double of_mean = 0;
  for (double const value : mean) of_mean += value * value;
  of_mean *= static_cast<double>(some);
  // The sum of squares around the mean is the sum of all squares minus that of the mean.
  if (!(of_mean > 0.875 * squares) || !std::isfinite(squares)) return {};
  return as_floats(mean);
}

std::vector<float> centre_of_shadow(dense_rows const& rows, similarity metric,
                                    double product_error) {
  std::size_t const some =
      std::min({rows.size(), most_rows, most_values / std::max<std::size_t>(rows.dimensions(), 1)});
  if (some < least_rows) return {};
  // Calls use(row) with the row before it is moved; for cosine without rows of zeros.
  auto const each = [&](auto const& use) {
    std::vector<double> divided;
    each_of_some(rows, some, [&](std::vector<float> const& row) {
      double const norm = metric == similarity::cosine ? norm_of(row) : 1;
      if (norm == 0) return;
      divided.assign(row.begin(), row.end());
      for (double& value : divided) value /= norm;
      use(divided);
    });
  };
  std::vector<double> mean(rows.dimensions());
  std::size_t count = 0;
  each([&](std::vector<double> const& row) {
    ++count;
    for (std::size_t i = 0; i < row.size(); ++i) mean[i] += row[i];
  });
  if (count == 0) return {};
  for (double& value : mean) value /= static_cast<double>(count);
  std::vector<float> const centre = as_floats(mean);
  double shares = 0;
  each([&](std::vector<double> const& row) {
    shares += share_of(width_of(row, centre, metric, product_error),
                       width_of(row, {}, metric, product_error));
  });
  return shares < 0.9 * static_cast<double>(count) ? centre : std::vector<float>();
}

}  // namespace rulerank::knn
