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

/// The items of a set, each with whether the next one is a neighbouring bin of the same feature.
std::vector<bool> neighbours_of(datasets::binned_dataset const& items);

/// A convex function that `smallest_points` makes smallest.
class convex_function {
 public:
  virtual ~convex_function() = default;
  virtual std::size_t unknowns() const noexcept = 0;
  /// The bin codes that a step goes through: documents times features.
  virtual std::size_t codes() const noexcept = 0;
  /// Whether the loss depends on the unknowns.
  virtual bool learns() const noexcept = 0;

  /// The value at `x`; its gradient goes to `gradient`. What `multiply` and
  /// `prepare_preconditioner` need is kept.
  virtual double evaluate(context const& ctx, std::span<double const> x,
                          std::span<double> gradient) = 0;
  /// The matrix of second derivatives at the `x` last evaluated, times `v`.
  virtual void multiply(context const& ctx, std::span<double const> v,
                        std::span<double> product) = 0;
  /// Makes `precondition` that of the `x` last evaluated.
  virtual void prepare_preconditioner(context const& ctx) = 0;
  /// Solves M x = r for a matrix M that is near that of the second derivatives.
  virtual void precondition(std::span<double const> r, std::span<double> x) const = 0;
};

/// What the points of a card make smallest (scorecard_options), as a function of the points before
/// they are rounded, one an item of the training documents. All sums run in a fixed order.
///
/// The documents of a query lie by label, largest first, so that those that a document is to be
/// above follow each other. Documents that have no part in the loss are left out.
class points_objective final : public convex_function {
 public:
  /// `queries` cover `training`, which has labels. Throws `usage_error` for too many pairs.
  points_objective(std::span<datasets::query_group const> queries,
                   datasets::binned_dataset const& training, scorecard_options const& options);

  std::size_t unknowns() const noexcept override { return next_.size(); }
  std::size_t codes() const noexcept override { return codes_.size(); }
  bool learns() const noexcept override { return !queries_.empty(); }
  /// The number of queries that the loss is a mean over; of `point` that of the queries alone.
  std::size_t queries_counted() const noexcept { return counted_; }
  /// From now on these penalties count, instead of those of the options.
  void penalize(double points_penalty, double smoothness);

  /// The loss alone at these points. What `evaluate` kept is lost.
  double loss(context const& ctx, std::span<double const> points);

  double evaluate(context const& ctx, std::span<double const> points,
                  std::span<double> gradient) override;
  void multiply(context const& ctx, std::span<double const> v, std::span<double> product) override;
  void prepare_preconditioner(context const& ctx) override;
  /// M has of the second derivatives the penalties and the loss's diagonal, as if no two documents
  /// were compared.
  void precondition(std::span<double const> r, std::span<double> x) const override;

 private:
  struct group {
    std::size_t begin = 0, end = 0;
    std::size_t pairs = 0;  ///< the first of its pairs
    double weight = 0;      ///< of the query's pairs, or of its loss
  };

  std::vector<std::size_t> choose(std::span<datasets::query_group const> queries,
                                  std::vector<std::int32_t> const& labels);
  void keep_codes(datasets::binned_dataset const& training, std::vector<std::size_t> const& chosen);
  void weigh_pairs(std::vector<std::int32_t> const& labels, std::size_t all_queries);
  void weigh_lists(std::vector<std::int32_t> const& labels);
  void weigh_documents(std::vector<std::int32_t> const& labels);
  /// Sums v by the items of each document to `to`, a piece of queries after another, and calls
  /// work(q) for each query of it.
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
  /// Of the penalties: the value; the gradient is added.
  double penalty(std::span<double const> p, std::span<double> gradient) const;

  scorecard_options options_;
  std::vector<bool> next_;            // [items]
  std::vector<std::uint32_t> slots_;  // [F + 1] first of a feature: its items and one for none
  std::vector<std::uint8_t> codes_;   // [F x documents] of the documents that count
  std::size_t documents_ = 0;         // these
  std::vector<group> queries_;        // those that count
  std::size_t counted_ = 0;           // queries that the mean is over
  std::vector<std::size_t> pieces_;   // the first query of each piece of work, and the end
  std::vector<std::size_t> lower_;    // [documents] the first of the query with a smaller label
  std::vector<double> gain_;          // [documents] what the loss has of the labels
  std::vector<double> score_, slope_, curve_;  // [documents] s; first, second derivative by s
  std::vector<double> mixed_;                  // pair: [pairs] second derivatives; list: softmax
  std::vector<double> moved_, product_;        // [documents] of `multiply`
  std::vector<double> diagonal_, below_;       // [items] of the preconditioner, factored
};

/// The `x` of the smallest value, to a gradient of length `to`, by Newton's method; each step by
/// conjugate gradients (Dembo and Steihaug, Truncated-Newton algorithms for large-scale
/// unconstrained optimization, 1983). `from`: where to begin; without any at 0.
std::vector<double> smallest_points(context const& ctx, convex_function& of, double to = 1e-9,
                                    std::vector<double> from = {});

/// Throws `usage_error` for training documents without a label or without items, and for queries
/// that do not cover them.
void expect_training(std::span<datasets::query_group const> queries,
                     datasets::binned_dataset const& training);

/// Throws `usage_error` where `least_squares` takes no system of so many items; gives their number
/// back.
std::size_t expect_least_squares(std::size_t items);

/// The linear system of the loss `point`, for any penalties.
class least_squares {
 public:
  least_squares(context const& ctx, datasets::binned_dataset const& training);
  /// By Cholesky's method.
  std::vector<double> points(context const& ctx, double points_penalty, double smoothness) const;

 private:
  symmetric_matrix system_;  // without penalties
  std::vector<double> by_label_;
  std::vector<bool> next_;
  bool learns_ = false;
};

/// The points of the loss `point`, by its system.
std::vector<double> least_squares_points(context const& ctx,
                                         datasets::binned_dataset const& training,
                                         scorecard_options const& options);

}  // namespace rulerank::l2r
