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
  /// Rows are divided by their norms first, as the cosine does; else they count as they are.
  bool unit_rows = true;
  /// Of an eigenvalue of the documents' products, relative to it, when it counts as found.
  double tolerance = 1e-10;
};

/// Latent semantic analysis (Deerwester, Dumais, Furnas, Landauer and Harshman 1990, Indexing by
/// latent semantic analysis): the truncated singular value decomposition A = U S V' of documents
/// [documents][terms], the largest singular values first.
///
/// V is of Spectra's Lanczos iteration with restarts on the smaller of A A' and A' A, whose start
/// is drawn from the context's seed; a side of up to 2,048 that this does not answer goes to
/// Eigen's dense solver. The component of each column of U that is largest whatever its sign is
/// positive, the first one of equals. Vectors of different seeds span the same space up to the
/// tolerance. The same bits for any number of threads.
///
/// Several threads may call all const functions at once.
class latent_space {
 public:
  static constexpr std::size_t most_dimensions = 2048;

  /// Throws `usage_error` for no dimensions or more than above, for more than the matrix's rank (a
  /// singular value of at most sqrt(n 2^-52) of the largest is 0, n being the smaller side), and
  /// for a decomposition that does not converge.
  latent_space(context const& ctx, sparse_index const& documents, latent_options const& options);

  std::size_t dimensions() const noexcept { return singular_values_.size(); }
  std::uint32_t terms() const noexcept { return terms_; }
  /// S, [dimensions], descending.
  std::span<double const> singular_values() const noexcept { return singular_values_; }
  /// V, [terms][dimensions]; its columns are orthonormal.
  std::span<double const> term_vectors() const noexcept { return term_vectors_; }
  /// Eigenvalues' products with A and its transpose that it took, each a pair.
  std::size_t products() const noexcept { return products_; }

  /// Rows q as vectors q V, divided by their norms: [rows][dimensions], float64. The documents
  /// themselves become U S so; other documents and queries are folded in. Terms that the space
  /// does not have count for nothing; a row without any other, and one that lies outside of the
  /// space (a norm of at most 1e-12 of the row's), becomes 0. Throws `usage_error` as
  /// `check(sparse_rows)` does, and for no rows.
  datasets::vectors fold_in(context const& ctx, sparse_rows const& rows) const;

 private:
  std::uint32_t terms_ = 0;
  std::vector<double> singular_values_;
  std::vector<double> term_vectors_;
  std::size_t products_ = 0;
};

}  // namespace rulerank::knn
