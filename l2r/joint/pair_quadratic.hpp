#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "l2r/joint/joint.hpp"
#include "l2r/linear/cholesky.hpp"
#include "l2r/model/model.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

// The systems of linear equations that fit a joint member.
namespace rulerank::inline v0::l2r {

/// Documents as rows over the unknowns: for each feature its z-score, then 1 at its bin, then for
/// each table 1 at the document's cell.
class joint_design {
 public:
  /// Keeps a reference to the documents.
  explicit joint_design(joint_documents const& documents);
  void add_table(std::size_t first, std::size_t second);

  std::size_t documents() const noexcept { return documents_.items.documents; }
  std::size_t features() const noexcept { return documents_.items.feature_count(); }
  std::size_t unknowns() const noexcept { return unknowns_; }
  /// The bin of each feature, then the cell of each table.
  std::size_t columns() const noexcept { return columns_.size(); }
  /// The unknown of column k for document d; `unknowns()`: none.
  std::uint32_t unknown(std::size_t k, std::size_t d) const { return columns_[k][d]; }
  double const* z(std::size_t d) const { return documents_.z_of(d); }

  /// Adds the penalties to the diagonal and to the entries of neighbouring bins.
  void penalize(joint_penalties const& by, double scale, symmetric_matrix& to) const;
  /// The scores [documents] for the given values of the unknowns; unknowns beyond x count as 0.
  std::vector<double> scores(context const& ctx, std::span<double const> x) const;

 private:
  joint_documents const& documents_;
  std::size_t unknowns_ = 0;
  std::vector<std::vector<std::uint32_t>> columns_;  // [columns][documents]
};

/// The function x^T A x - 2 b^T x.
struct quadratic {
  explicit quadratic(std::size_t unknowns) : a(unknowns), b(unknowns) {}
  symmetric_matrix a;
  std::vector<double> b;
  void add(quadratic const& other);
};

/// Weights of a query's pairs: w(i, j) > 0 if document i should rank above j, else 0.
class pair_weights {
 public:
  explicit pair_weights(std::size_t size) : size_(size), values_(size * size) {}
  std::size_t size() const noexcept { return size_; }
  double& operator()(std::size_t i, std::size_t j) { return values_[i * size_ + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i * size_ + j]; }
  double sum() const;

 private:
  std::size_t size_;
  std::vector<double> values_;
};

/// 2^y_i - 2^y_j, scaled to sum to 1; all 0 if the labels are equal.
pair_weights gain_weights(std::span<std::int32_t const> labels);

/// NDCG-Loss2++ (Wang et al., The LambdaLoss framework for ranking metric optimization, CIKM 2018):
/// (2^y_i - 2^y_j) / (ideal DCG) times rho_ij + 5 delta_ij. With r the ranks by score, from 1, ties
/// in document order, and D(r) = log2(1 + r): rho_ij = |1 / D(r_i) - 1 / D(r_j)|, delta_ij =
/// 1 / D(k) - 1 / D(k + 1)|, k = |r_i - r_j|.
pair_weights lambda_weights(std::span<std::int32_t const> labels, std::span<double const> scores);

/// The losses of a joint fit as quadratics in the unknowns; sums run in a fixed order. `queries`:
/// indices into `all`.
struct joint_queries {
  std::span<datasets::query_group const> all;
  std::span<std::int32_t const> labels;
  std::vector<std::size_t> chosen;
};

/// The sum over pairs of w_ij (1 - (s_i - s_j))^2 with gain_weights, divided by `counted`. `known`:
/// the same quadratic for a leading part of the unknowns, computed before; it is reused.
quadratic squared_pairs(context const& ctx, joint_design const& design, joint_queries const& of,
                        double counted, quadratic const& known = quadratic(0));
/// The sum over documents of (s - (y - mean))^2, divided by `scale`; `known` as above.
quadratic squares(context const& ctx, joint_design const& design, joint_queries const& of,
                  double mean, double scale, quadratic const& known = quadratic(0));
/// The second-order expansion at `scores` of the sum over pairs of w_ij log(1 + exp(s_j - s_i)),
/// with lambda_weights scaled to sum to 1 over all queries: A holds the second derivatives, and A x
/// - b is the gradient at the x of the scores.
quadratic logistic_pairs(context const& ctx, joint_design const& design, joint_queries const& of,
                         std::span<double const> scores);

/// The minimizer of x^T A x - 2 b^T x plus `scale` times the penalties.
std::vector<double> smallest(context const& ctx, joint_design const& design, quadratic const& of,
                             joint_penalties const& penalties, double scale);

}  // namespace rulerank::l2r
