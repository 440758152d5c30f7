// Eigen and Spectra are header-only. The two settings make their sums independent of the machine's
// caches and of threads.
#define EIGEN_NO_CPUID
#define EIGEN_DONT_PARALLELIZE

#include "knn/sparse/latent_space.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Eigenvalues>
#include <Spectra/SymEigsSolver.h>
#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

using Eigen::Index;
using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::size_t dense_side = 2048;
constexpr Index most_restarts = 300;

/// A, and products with it; sums are in the order of terms, or of documents.
class document_matrix {
 public:
  document_matrix(context const& ctx, sparse_index const& index, bool unit_rows)
      : ctx_(ctx), index_(index), scale_(index.size(), 1.0) {
    if (!unit_rows) return;
    for (std::size_t d = 0; d < scale_.size(); ++d)
      scale_[d] = index.norms()[d] > 0 ? 1 / index.norms()[d] : 0;
  }

  std::size_t documents() const { return index_.size(); }
  std::size_t terms() const { return index_.terms(); }
  double scale(std::size_t document) const { return scale_[document]; }

  /// Computes A x.
  void times(double const* x, double* y) const {
    sparse_rows const rows = index_.documents();
    parallel_for(ctx_, documents(), share_of(documents()),
                 [&](std::size_t begin, std::size_t end, int) {
                   for (std::size_t d = begin; d < end; ++d) {
                     sparse_row const row = rows[d];
                     double sum = 0;
                     for (std::size_t i = 0; i < row.size(); ++i)
                       sum += row.weight[i] * x[row.term[i]];
                     y[d] = scale_[d] * sum;
                   }
                 });
  }
  /// Computes A' x.
  void transposed_times(double const* x, double* y) const {
    parallel_for(ctx_, terms(), share_of(terms()), [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t t = begin; t < end; ++t) {
        posting_list const list = index_.list(static_cast<std::uint32_t>(t));
        double sum = 0;
        for (std::size_t i = 0; i < list.size(); ++i)
          sum += list.weight[i] * (scale_[list.document[i]] * x[list.document[i]]);
        y[t] = sum;
      }
    });
  }

 private:
  /// Returns the number of rows per thread, with some 2^18 weights: for less work, synchronizing
  /// threads takes longer than the product.
  std::size_t share_of(std::size_t rows) const {
    return (rows << 18) / std::max<std::size_t>(index_.postings(), 1) + 1;
  }

  context const& ctx_;
  sparse_index const& index_;
  std::vector<double> scale_;
};

/// A A' or A' A, whichever is smaller, as an operation for Spectra.
class gram_matrix {
 public:
  using Scalar = double;

  gram_matrix(context const& ctx, document_matrix const& a)
      : ctx_(ctx), a_(a), of_documents_(a.documents() <= a.terms()) {
    between_.resize(std::max(a.documents(), a.terms()));
  }

  bool of_documents() const { return of_documents_; }
  Index rows() const { return static_cast<Index>(of_documents_ ? a_.documents() : a_.terms()); }
  Index cols() const { return rows(); }
  std::size_t products() const { return products_; }

  void perform_op(double const* x, double* y) const {
    ctx_.report("products", ++products_, 0);
    if (of_documents_) {
      a_.transposed_times(x, between_.data());
      a_.times(between_.data(), y);
    } else {
      a_.times(x, between_.data());
      a_.transposed_times(between_.data(), y);
    }
  }

 private:
  context const& ctx_;
  document_matrix const& a_;
  bool of_documents_;
  mutable std::vector<double> between_;
  mutable std::size_t products_ = 0;
};

/// The largest eigenvalues, descending, and their vectors as columns.
struct eigenpairs {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

/// Computes all eigenvalues from the whole matrix.
eigenpairs solve_dense(gram_matrix const& gram, Index wanted) {
  Index const n = gram.rows();
  Eigen::MatrixXd whole(n, n);
  Eigen::VectorXd unit = Eigen::VectorXd::Zero(n);
  for (Index i = 0; i < n; ++i) {
    unit[i] = 1;
    gram.perform_op(unit.data(), whole.col(i).data());
    unit[i] = 0;
  }
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> const solver(whole);
  return {solver.eigenvalues().reverse().head(wanted),
          solver.eigenvectors().rowwise().reverse().leftCols(wanted)};
}

/// Lanczos iteration; returns fewer than `wanted` if it does not converge.
eigenpairs solve_lanczos(context const& ctx, gram_matrix& gram, Index wanted, double tolerance) {
  Index const n = gram.rows();
  random_engine draw(ctx.seed);
  Eigen::VectorXd start(n);
  for (double& value : start) value = uniform_unit(draw) - 0.5;
  Spectra::SymEigsSolver<gram_matrix> solver(gram, wanted,
                                             std::min(n, std::max<Index>(2 * wanted + 1, 20)));
  solver.init(start.data());
  solver.compute(Spectra::SortRule::LargestAlge, most_restarts, tolerance);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

/// Counts the descending eigenvalues that are above 0.
Index rank_of(Eigen::VectorXd const& values, Index side) {
  Index rank = 0;
  double const zero = values.size() == 0 ? 0
                                         : values[0] * static_cast<double>(side) *
                                               std::numeric_limits<double>::epsilon();
  while (rank < values.size() && values[rank] > zero) ++rank;
  return rank;
}

eigenpairs solve(context const& ctx, gram_matrix& gram, latent_options const& options) {
  auto const wanted = static_cast<Index>(options.dimensions);
  Index const side = gram.rows();
  Index const there = std::min(wanted, side);
  bool const small = side <= static_cast<Index>(dense_side);
  eigenpairs found;
  if (side > 64 && 3 * wanted <= side)
    found = solve_lanczos(ctx, gram, wanted, options.tolerance);
  else if (!small)
    throw usage_error(
        fmt::format("found {} latent dimensions of a matrix whose smaller side is "
                    "{}, expected at most a third of it",
                    wanted, side));
  if (found.values.size() < there && small) found = solve_dense(gram, there);
  if (found.values.size() < there)
    throw usage_error(fmt::format("only {} of {} latent dimensions converged; use fewer dimensions",
                                  found.values.size(), wanted));
  if (Index const rank = rank_of(found.values, side); rank < wanted)
    throw usage_error(
        fmt::format("found {} latent dimensions, expected at most {}, the rank of "
                    "the documents' weights",
                    wanted, rank));
  return found;
}

/// Computes V from U: the columns A' u / s, each orthogonalized against the previous ones.
row_major term_vectors_of(document_matrix const& a, eigenpairs const& found) {
  Index const k = found.vectors.cols();
  Eigen::MatrixXd v(static_cast<Index>(a.terms()), k);
  for (Index j = 0; j < k; ++j) {
    a.transposed_times(found.vectors.col(j).data(), v.col(j).data());
    for (int twice = 0; twice < 2; ++twice) {
      Eigen::VectorXd const shares = v.leftCols(j).transpose() * v.col(j);
      v.col(j) -= v.leftCols(j) * shares;
    }
    v.col(j) /= v.col(j).norm();
  }
  return v;
}

/// Computes x V for a row x: [dimensions].
void project(sparse_row const& row, double const* v, std::uint32_t terms, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  for (std::size_t i = 0; i < row.size() && row.term[i] < terms; ++i) {
    double const* const of_term = v + std::size_t{row.term[i]} * out.size();
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += row.weight[i] * of_term[j];
  }
}

/// Flips the columns of V so that the largest component of each column of U is positive.
void fix_signs(document_matrix const& a, sparse_rows const& rows, std::vector<double>& v,
               std::size_t k) {
  std::vector<double> largest(k), projected(k);
  for (std::size_t d = 0; d < rows.size(); ++d) {
    project(rows[d], v.data(), rows.terms, projected);
    for (std::size_t j = 0; j < k; ++j)
      if (double const u = a.scale(d) * projected[j]; std::abs(u) > std::abs(largest[j]))
        largest[j] = u;
  }
  for (std::size_t j = 0; j < k; ++j)
    if (largest[j] < 0)
      for (std::size_t t = 0; t < rows.terms; ++t) v[t * k + j] = -v[t * k + j];
}

}  // namespace

latent_space::latent_space(context const& ctx, sparse_index const& documents,
                           latent_options const& options)
    : terms_(documents.terms()) {
  if (options.dimensions == 0 || options.dimensions > most_dimensions)
    throw usage_error(fmt::format("found {} latent dimensions, expected 1 to {}",
                                  options.dimensions, most_dimensions));
  if (!(options.tolerance > 0 && options.tolerance < 1))
    throw usage_error(fmt::format("found a tolerance of {}, expected a number between 0 and 1",
                                  options.tolerance));
  document_matrix const a(ctx, documents, options.unit_rows);
  gram_matrix gram(ctx, a);
  eigenpairs const found = solve(ctx, gram, options);
  products_ = gram.products();
  for (double const value : found.values) singular_values_.push_back(std::sqrt(value));
  row_major const v = gram.of_documents() ? term_vectors_of(a, found) : row_major(found.vectors);
  term_vectors_.assign(v.data(), v.data() + v.size());
  fix_signs(a, documents.documents(), term_vectors_, options.dimensions);
}

datasets::vectors latent_space::fold_in(context const& ctx, sparse_rows const& rows) const {
  check(rows, "rows to fold in");
  if (rows.size() == 0) throw usage_error("found no rows to fold in, expected at least one");
  std::size_t const k = dimensions();
  std::vector<double> out(rows.size() * k);
  parallel_for(ctx, rows.size(), 256, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t r = begin; r < end; ++r) {
      std::span<double> const to = std::span(out).subspan(r * k, k);
      project(rows[r], term_vectors_.data(), terms_, to);
      double of_row = 0, inside = 0;
      for (double const w : rows[r].weight) of_row += w * w;
      for (double const x : to) inside += x * x;
      double const norm = std::sqrt(inside);
      bool const outside = norm <= 1e-12 * std::sqrt(of_row);
      for (double& x : to) x = outside ? 0 : x / norm;
    }
  });
  return {std::move(out), k, "latent vectors"};
}

}  // namespace rulerank::knn
