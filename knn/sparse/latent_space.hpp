#pragma once

#include "core/context.hpp"
#include "datasets/vectors.hpp"
#include "knn/sparse/sparse_index.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::knn {

struct latent_options {
  std::size_t dimensions = 128;  ///< 1 to `latent_space::most_dimensions`
  /// Whether rows are first divided by their norms, as with cosine similarity.
  bool unit_rows = true;
  /// Relative tolerance at which an eigenvalue of the documents' products counts as converged.
  double tolerance = 1e-10;
};

/// Latent semantic analysis (Deerwester, Dumais, Furnas, Landauer and Harshman 1990, Indexing by
/// latent semantic analysis): the truncated singular value decomposition A = U S V' of documents
/// [documents][terms], the largest singular values first.
///
/// Spectra's restarted Lanczos iteration computes V from the smaller of A A' and A' A, with a start
/// vector from the context's seed. If it does not converge, Eigen's dense solver handles sides of
/// up to 2,048. The sign of each column of U is such that its component of largest magnitude (the
/// first, if equal) is positive. Vectors of different seeds span the same space up to the
/// tolerance. The result is the same, bit for bit, for any number of threads.
///
/// Several threads may call all const functions at once.
class latent_space {
 public:
  static constexpr std::size_t most_dimensions = 2048;

  /// Throws `usage_error` if `dimensions` is 0, above the maximum, or above the matrix's rank (a
  /// singular value of at most sqrt(n 2^-52) times the largest counts as 0; n is the smaller side),
  /// and if the decomposition does not converge.
  latent_space(context const& ctx, sparse_index const& documents, latent_options const& options);

  std::size_t dimensions() const noexcept { return singular_values_.size(); }
  std::uint32_t terms() const noexcept { return terms_; }
  /// S, [dimensions], descending.
  std::span<double const> singular_values() const noexcept { return singular_values_; }
  /// V, [terms][dimensions]; its columns are orthonormal.
  std::span<double const> term_vectors() const noexcept { return term_vectors_; }
  /// The number of products with A and its transpose that the computation of the eigenvalues took;
  /// a pair counts once.
  std::size_t products() const noexcept { return products_; }

  /// Projects each row q to q V and divides the result by its norm: [rows][dimensions], float64.
  /// For the documents themselves this gives normalized rows of U S; other documents and queries
  /// are folded in. Terms that the space lacks are ignored. A row becomes 0 if it has no other
  /// terms, or if it is outside the space (a projection with a norm of at most 1e-12 of the row's).
  /// Throws `usage_error` as `check(sparse_rows)`, and for no rows.
  datasets::vectors fold_in(context const& ctx, sparse_rows const& rows) const;

 private:
  std::uint32_t terms_ = 0;
  std::vector<double> singular_values_;
  std::vector<double> term_vectors_;
  std::size_t products_ = 0;
};

}  // namespace rulerank::knn
