#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/linear/cholesky.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::l2r {

/// For each item, whether the next item is a neighbouring bin of the same feature.
std::vector<bool> neighbours_of(datasets::binned_dataset const& items);

/// A convex function to be minimized by `smallest_points`.
class convex_function {
 public:
  virtual ~convex_function() = default;
  virtual std::size_t unknowns() const noexcept = 0;
  /// The number of bin codes read per step: documents times features.
  virtual std::size_t codes() const noexcept = 0;
  /// Whether the loss depends on the unknowns.
  virtual bool learns() const noexcept = 0;

  /// The value at `x`; writes the gradient to `gradient`. Keeps the state that `multiply` and
  /// `prepare_preconditioner` need.
  virtual double evaluate(context const& ctx, std::span<double const> x,
                          std::span<double> gradient) = 0;
  /// The Hessian at the `x` last evaluated, times `v`.
  virtual void multiply(context const& ctx, std::span<double const> v,
                        std::span<double> product) = 0;
  /// Prepares `precondition` for the `x` last evaluated.
  virtual void prepare_preconditioner(context const& ctx) = 0;
  /// Solves M x = r for an approximation M of the Hessian.
  virtual void precondition(std::span<double const> r, std::span<double> x) const = 0;
};

/// The objective of a card's points (scorecard_options), as a function of the unrounded points, one
/// per item of the training documents. Sums run in a fixed order.
///
/// Documents of a query are sorted by label, largest first, so that the documents that a document
/// should rank above are contiguous. Documents without effect on the loss are left out.
class points_objective final : public convex_function {
 public:
  /// `queries` cover `training`, which has labels. Throws `usage_error` for too many pairs.
  points_objective(std::span<datasets::query_group const> queries,
                   datasets::binned_dataset const& training, scorecard_options const& options);

  std::size_t unknowns() const noexcept override { return next_.size(); }
  std::size_t codes() const noexcept override { return codes_.size(); }
  bool learns() const noexcept override { return !queries_.empty(); }
  /// The number of queries in the loss's mean; for `point`, the number of queries.
  std::size_t queries_counted() const noexcept { return counted_; }
  /// Replaces the penalties of the options.
  void penalize(double points_penalty, double smoothness);

  /// The loss without penalties at these points. Discards the state kept by `evaluate`.
  double loss(context const& ctx, std::span<double const> points);

  double evaluate(context const& ctx, std::span<double const> points,
                  std::span<double> gradient) override;
  void multiply(context const& ctx, std::span<double const> v, std::span<double> product) override;
  void prepare_preconditioner(context const& ctx) override;
  /// M consists of the penalties' second derivatives and the loss's diagonal, as if documents were
  /// independent.
  void precondition(std::span<double const> r, std::span<double> x) const override;

 private:
  struct group {
    std::size_t begin = 0, end = 0;
    std::size_t pairs = 0;  ///< index of its first pair
    double weight = 0;      ///< of the query's pairs, or of its loss
  };

  std::vector<std::size_t> choose(std::span<datasets::query_group const> queries,
                                  std::vector<std::int32_t> const& labels);
  void keep_codes(datasets::binned_dataset const& training, std::vector<std::size_t> const& chosen);
  void weigh_pairs(std::vector<std::int32_t> const& labels, std::size_t all_queries);
  void weigh_lists(std::vector<std::int32_t> const& labels);
  void weigh_documents(std::vector<std::int32_t> const& labels);
  /// Sums v over the items of each document into `to`, for one piece of queries after another, and
  /// calls work(q) for each query of the piece.
  template <class Work>
  void for_queries(context const& ctx, std::span<double const> v, std::vector<double>& to,
                   Work const& work);
  void sum_by_item(context const& ctx, std::vector<double> const& of_documents,
                   std::span<double> sums) const;
  double pair_loss(group const& q);
  double list_loss(group const& q);
  double point_loss(group const& q);
  void pair_product(group const& q);
  void list_product(group const& q);
  /// The value of the penalties; adds their gradient.
  double penalty(std::span<double const> p, std::span<double> gradient) const;

  scorecard_options options_;
  std::vector<bool> next_;            // [items]
  std::vector<std::uint32_t> slots_;  // [F + 1] a feature's first slot: one per item, and one for
                                      // no item
  std::vector<std::uint8_t> codes_;   // [F x documents] of the documents that count
  std::size_t documents_ = 0;         // number of documents that count
  std::vector<group> queries_;        // queries that count
  std::size_t counted_ = 0;           // number of queries in the mean
  std::vector<std::size_t> pieces_;   // the first query of each piece of work, and the end
  std::vector<std::size_t> lower_;    // [documents] index of the query's first document with a
                                      // smaller label
  std::vector<double> gain_;          // [documents] label gains in the loss
  std::vector<double> score_, slope_, curve_;  // [documents] s; first and second derivative by s
  std::vector<double> mixed_;                  // pair: [pairs] second derivatives; list: softmax
  std::vector<double> moved_, product_;        // [documents] buffers of `multiply`
  std::vector<double> diagonal_, below_;       // [items] of the preconditioner, factored
};

/// The minimizer `x`, up to a gradient of length `to`, by Newton's method with conjugate gradients
/// in each step (Dembo and Steihaug, Truncated-Newton algorithms for large-scale unconstrained
/// optimization, 1983). `from`: the start; empty: 0.
std::vector<double> smallest_points(context const& ctx, convex_function& of, double to = 1e-9,
                                    std::vector<double> from = {});

/// Throws `usage_error` for training documents without a label or without items, and for queries
/// that do not cover them.
void expect_training(std::span<datasets::query_group const> queries,
                     datasets::binned_dataset const& training);

/// Returns `items`; throws `usage_error` if that is too large a system for `least_squares`.
std::size_t expect_least_squares(std::size_t items);

/// The linear system of the loss `point`, for any penalties.
class least_squares {
 public:
  least_squares(context const& ctx, datasets::binned_dataset const& training);
  /// Solves it by Cholesky's method.
  std::vector<double> points(context const& ctx, double points_penalty, double smoothness) const;

 private:
  symmetric_matrix system_;  // without penalties
  std::vector<double> by_label_;
  std::vector<bool> next_;
  bool learns_ = false;
};

/// The points that minimize the loss `point`.
std::vector<double> least_squares_points(context const& ctx,
                                         datasets::binned_dataset const& training,
                                         scorecard_options const& options);

}  // namespace rulerank::l2r
