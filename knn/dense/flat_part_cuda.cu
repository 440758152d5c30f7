#include "core/aligned.hpp"
#include "knn/dense/flat_part_cuda.cuh"

#include <algorithm>
#include <cmath>

namespace rulerank::inline v0::knn {

namespace {
std::size_t slabs_of(std::size_t rows) {
  return (rows + slab_rows - 1) / slab_rows;
}
std::size_t steps_of(std::size_t dimensions) {
  return (dimensions + step_dimensions - 1) / step_dimensions;
}
}  // namespace

flat_part::flat_part(dense_rows const& rows, std::size_t most, similarity metric,
                     std::span<float const> centre, float scale)
    : values_(most * rows.row_bytes()),
      fragments_(slabs_of(most) * steps_of(rows.dimensions()) * 64),
      marks_(slabs_of(most) * slab_rows),
      norms_(metric == similarity::cosine ? most : 0),
      centre_(centre) {
  view_.values = values_.data();
  view_.fragments = fragments_.data();
  view_.marks = marks_.data();
  view_.norms = norms_.data();
  view_.centre = centre_.data();
  double squares = 0;
  for (float const value : centre) squares += static_cast<double>(value) * value;
  view_.centre_norm = std::sqrt(squares) * (1 + 1e-6);
  view_.dimensions = static_cast<std::uint32_t>(rows.dimensions());
  view_.type = rows.type();
  view_.metric = metric;
  view_.scale = scale;
}

flat_part::flat_part(dense_rows const& rows, index_range const& of, similarity metric,
                     std::span<float const> centre, float scale)
    : flat_part(rows, of.size(), metric, centre, scale) {
  stream const on;
  for (std::size_t row = of.begin; row < of.end;) {
    std::size_t const count = std::min(rows.together(row), of.end - row);
    check_cuda(cudaMemcpyAsync(values_.data() + (row - of.begin) * rows.row_bytes(), rows.row(row),
                               count * rows.row_bytes(), cudaMemcpyHostToDevice, on.get()));
    row += count;
  }
  shadow(of, on);
}

void flat_part::load(context const& ctx, dense_rows const& rows, index_range const& of,
                     row_upload& by) {
  stream const on;
  by.copy(ctx, rows, of, values_.data(), on);
  shadow(of, on);
}

/// The current values must be those of these rows.
void flat_part::shadow(index_range const& of, stream const& on) {
  of_ = of;
  view_.rows = static_cast<std::uint32_t>(of.size());
  make_shadow(view_, on.get());
  on.synchronize();
}

std::size_t flat_part::bytes(dense_rows const& rows, std::size_t count, similarity metric) {
  return count * rows.row_bytes() +
         slabs_of(count) * steps_of(rows.dimensions()) * 64 * sizeof(uint4) +
         slabs_of(count) * slab_rows * sizeof(row_mark) +
         (metric == similarity::cosine ? count * sizeof(double) : 0) +
         rows.dimensions() * sizeof(float);
}

std::size_t flat_part::rows_within(dense_rows const& rows, std::size_t bytes, similarity metric) {
  std::size_t const none = flat_part::bytes(rows, 0, metric);
  std::size_t const slab = flat_part::bytes(rows, slab_rows, metric) - none;
  return bytes < none ? 0 : (bytes - none) / slab * slab_rows;
}

}  // namespace rulerank::knn
