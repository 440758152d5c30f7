// `mpi-knn` (docs/reference/modules/knn-dense.md): the cluster search of Cordeiro 2023,
// section 3.2, in one of its processes. Each query keeps the k smallest distances so far, and the
// largest of them; a nearer row of the collection replaces it. The caller assigns consecutive
// queries to processes; each process compares its queries with all rows.
#include "core/error.hpp"
#include "knn/dense/definition.hpp"
#include "knn/dense/engine.hpp"
#include "knn/dense/flat_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// Rows that are compared with all queries before the next ones are read from memory.
constexpr std::size_t mpi_block_bytes = 128 << 10;
constexpr double least_norm = 1e-15;
constexpr double most_norm = 1e15;

/// The k smallest so far, unordered, and the position of the largest.
class query_row {
 public:
  explicit query_row(std::size_t k) : k_(k) { kept_.reserve(k); }

  /// Rows come in ascending order, so of equally near rows the first is kept.
  void meet(double key, std::uint32_t row) {
    if (kept_.size() < k_) {
      kept_.push_back({key, row});
      if (kept_.size() == k_) find_largest();
    } else if (key < kept_[largest_].value) {
      kept_[largest_] = {key, row};
      find_largest();
    }
  }
  std::vector<dense_candidate> sorted() {
    std::sort(kept_.begin(), kept_.end(), nearer_row{});
    return std::move(kept_);
  }

 private:
  void find_largest() {
    auto const at = std::max_element(kept_.begin(), kept_.end(), nearer_row{});
    largest_ = static_cast<std::size_t>(at - kept_.begin());
  }

  std::size_t k_;
  std::size_t largest_ = 0;
  std::vector<dense_candidate> kept_;
};

class mpi_knn final : public dense_search_engine {
 public:
  mpi_knn(context const& ctx, dense_rows const& rows, dense_index_options const& options)
      : rows_(rows), metric_(options.metric) {
    added(ctx, 0);
  }

  void added(context const& ctx, std::size_t first) override {
    norms_.resize(first);
    std::vector<float> values(rows_.dimensions());
    try {
      for (std::size_t row = first; row < rows_.size(); ++row) {
        if (row % 4096 == 0) ctx.check_stop();
        to_floats(rows_.type(), rows_.row(row), values.size(), values.data());
        norms_.push_back(norm_of(values.data(), "rows", row));
      }
    } catch (...) {
      norms_.resize(first);
      throw;
    }
  }

  void search(context const& ctx, dense_request const& request,
              std::span<std::vector<dense_candidate>> found, dense_search_work&) const override {
    if (request.k == 0)
      throw usage_error("engine mpi-knn finds k neighbours alone, found a radius; use engine flat");
    if (!request.filter.rows.empty() || !request.filter.of_query.empty())
      throw usage_error("engine mpi-knn searches all rows alone, found a filter; use engine flat");
    std::size_t const dimensions = rows_.dimensions();
    std::vector<query_row> nearest(request.count, query_row(request.k));
    std::vector<double> norms;
    for (std::size_t q = 0; q < request.count; ++q)
      norms.push_back(norm_of(request.queries.data() + q * dimensions, "queries", q));
    std::size_t const together =
        std::max<std::size_t>(mpi_block_bytes / (dimensions * sizeof(float)), 1);
    std::vector<float> block(together * dimensions), sums(together);
    for (std::size_t first = 0; first < rows_.size(); first += together) {
      ctx.check_stop();
      std::size_t const count = std::min(together, rows_.size() - first);
      for (std::size_t row = first; row < first + count;) {
        std::size_t const some = std::min(rows_.together(row), first + count - row);
        to_floats(rows_.type(), rows_.row(row), some * dimensions,
                  block.data() + (row - first) * dimensions);
        row += some;
      }
      float_rows const of_block{block.data(), dimensions, count, dimensions};
      for (std::size_t q = 0; q < request.count; ++q) {
        float const* const query = request.queries.data() + q * dimensions;
        if (metric_ == similarity::l2)
          sum_squared_differences(query, of_block, sums.data());
        else
          sum_products(query, of_block, sums.data());
        for (std::size_t r = 0; r < count; ++r)
          nearest[q].meet(order_key(metric_, sums[r], norms[q], norms_[first + r]),
                          static_cast<std::uint32_t>(first + r));
      }
    }
    for (std::size_t q = 0; q < request.count; ++q) found[q] = nearest[q].sorted();
  }

 private:
  double norm_of(float const* values, std::string_view what, std::size_t row) const {
    double const norm = defined_norm(values, rows_.dimensions());
    if (norm != 0 && !(norm >= least_norm && norm <= most_norm))
      throw usage_error(
          fmt::format("{}, row {}: expected a norm of 0 or from 1e-15 to 1e15, because this engine "
                      "computes in single precision; use engine flat",
                      what, row));
    return norm;
  }

  dense_rows const& rows_;
  similarity metric_;
  std::vector<double> norms_;
};

}  // namespace

std::unique_ptr<dense_search_engine> make_mpi_knn(context const& ctx, dense_rows const& rows,
                                                  dense_index_options const& options) {
  return std::make_unique<mpi_knn>(ctx, rows, options);
}

}  // namespace rulerank::knn
