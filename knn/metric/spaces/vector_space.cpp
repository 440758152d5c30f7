#include "core/error.hpp"
#include "knn/dense/definition.hpp"
#include "knn/metric/search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// Sets largest[r] to the largest difference of a vector and rows[r].
void largest_differences(float const* vector, float const* const* rows, std::size_t count,
                         std::size_t dimensions, double* largest) {
  for (std::size_t r = 0; r < count; ++r) {
    double most = 0;
    for (std::size_t i = 0; i < dimensions; ++i)
      most = std::max(most,
                      std::abs(static_cast<double>(vector[i]) - static_cast<double>(rows[r][i])));
    largest[r] = most;
  }
}

double angle(double product, double norm, double other) {
  if (norm == 0 && other == 0) return 0;
  if (norm == 0 || other == 0) return std::numbers::pi / 2;
  return std::acos(std::clamp(product / (norm * other), -1.0, 1.0));
}

datasets::vectors as_floats(context const& ctx, datasets::vectors const& rows) {
  if (rows.type() == datasets::element::float64 || rows.type() == datasets::element::int32)
    throw usage_error(fmt::format("{}: found values of type {}, expected f32, f16, bf16, i8 or u8",
                                  rows.name(), datasets::name_of(rows.type())));
  datasets::expect_finite(ctx, rows);
  return datasets::converted(ctx, rows, datasets::element::float32);
}

/// The database in the form that distances need.
struct dense_table {
  datasets::vectors rows;
  metric_distance which = metric_distance::l2;
  std::vector<double> norm;  // angular: [rows]

  float const* row(std::size_t i) const {
    return reinterpret_cast<float const*>(rows.data()) + i * rows.dimensions();
  }
};

class distances_of_vector final : public distances_from {
 public:
  distances_of_vector(float const* vector, dense_table const& table)
      : vector_(vector),
        table_(table),
        norm_(table.which == metric_distance::angular
                  ? defined_norm(vector, table.rows.dimensions())
                  : 0) {}

  void compute(std::span<std::uint32_t const> objects, double, double* values) override {
    for (std::size_t begin = 0; begin < objects.size(); begin += rows_together)
      compute_some(objects.subspan(begin, std::min(rows_together, objects.size() - begin)),
                   values + begin);
  }

 private:
  void compute_some(std::span<std::uint32_t const> objects, double* values) const {
    float const* rows[rows_together];
    std::size_t const count = objects.size();
    std::size_t const dimensions = table_.rows.dimensions();
    for (std::size_t i = 0; i < count; ++i) rows[i] = table_.row(objects[i]);
    if (table_.which == metric_distance::linf) {
      largest_differences(vector_, rows, count, dimensions, values);
    } else if (table_.which == metric_distance::l1) {
      defined_sums(
          vector_, rows, count, dimensions, [](double x, double y) { return std::abs(x - y); },
          values);
    } else if (table_.which == metric_distance::l2) {
      defined_sums(vector_, rows, count, dimensions, squared_difference_of, values);
      for (std::size_t i = 0; i < count; ++i) values[i] = std::sqrt(values[i]);
    } else {
      defined_sums(vector_, rows, count, dimensions, product_of, values);
      for (std::size_t i = 0; i < count; ++i)
        values[i] = angle(values[i], norm_, table_.norm[objects[i]]);
    }
  }

  float const* vector_;
  dense_table const& table_;
  double norm_;
};

}  // namespace

struct vector_space::implementation {
  dense_table table;
};

vector_space::vector_space(context const& ctx, datasets::vectors const& rows, metric_distance which)
    : implementation_(std::make_unique<implementation>()) {
  if (which == metric_distance::edit)
    throw usage_error("the edit distance compares words, found vectors");
  dense_table& table = implementation_->table;
  table.rows = as_floats(ctx, rows);
  table.which = which;
  if (which == metric_distance::angular)
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      table.norm.push_back(defined_norm(table.row(i), table.rows.dimensions()));
}
vector_space::~vector_space() = default;

std::size_t vector_space::size() const noexcept {
  return implementation_->table.rows.size();
}
metric_distance vector_space::which() const noexcept {
  return implementation_->table.which;
}
datasets::vectors const& vector_space::rows() const noexcept {
  return implementation_->table.rows;
}

distance_rounding vector_space::rounding() const noexcept {
  // In a sum of n nonnegative terms, each term is rounded at most three times and added at most n
  // times; n + 8 units cover the root and the operations of exclusion. Squares of floats neither
  // underflow nor overflow doubles.
  double const unit = static_cast<double>(implementation_->table.rows.dimensions() + 8) * 0x1p-53;
  if (implementation_->table.which != metric_distance::angular) return {unit, 0};
  // The error of a cosine is twice as large, independent of its magnitude, and the arc cosine of 1
  // - e is the root of 2 e, within a hundredth; a few units of pi are added.
  return {unit, 1.1 * std::sqrt(4 * unit) + 0x1p-48};
}

bool vector_space::has_four_points() const noexcept {
  return implementation_->table.which == metric_distance::l2;
}

std::unique_ptr<distances_from> vector_space::from(std::uint32_t object) const {
  dense_table const& table = implementation_->table;
  return std::make_unique<distances_of_vector>(table.row(object), table);
}

std::unique_ptr<metric_queries> vector_space::queries(context const& ctx,
                                                      datasets::vectors const& some) const {
  class vectors_asked final : public metric_queries {
   public:
    vectors_asked(dense_table const& table, datasets::vectors some)
        : table_(table), some_(std::move(some)) {}
    std::size_t size() const noexcept override { return some_.size(); }
    std::unique_ptr<distances_from> from(std::size_t query) const override {
      return std::make_unique<distances_of_vector>(some_.row<float>(query).data(), table_);
    }
    std::optional<datasets::vectors> as_vectors(std::size_t first,
                                                std::size_t count) const override {
      return some_.rows(first, count);
    }

   private:
    dense_table const& table_;
    datasets::vectors some_;
  };
  dense_table const& table = implementation_->table;
  if (some.dimensions() != table.rows.dimensions() && !some.empty() && !table.rows.empty())
    throw usage_error(fmt::format("{}: found vectors of {} dimensions, expected {}", some.name(),
                                  some.dimensions(), table.rows.dimensions()));
  return std::make_unique<vectors_asked>(table, as_floats(ctx, some));
}

}  // namespace rulerank::knn
