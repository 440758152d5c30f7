#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::l2r {

/// The squared loss of a card's points p as p^T A p - 2 b^T p + constant. For `pair`: the sum over
/// pairs with y_i > y_j of w_ij (1 - (s_i - s_j))^2, w_ij as in card_loss. For `point`: its own
/// loss. For `list`, which has no such form: that of `pair`. A is computed in blocks, one per pair
/// of features, because it may exceed memory.
///
/// Threads: const functions may be called from several threads at once.
class pair_system {
 public:
  /// Keeps a reference to `items`; `queries` cover it.
  pair_system(std::span<datasets::query_group const> queries, datasets::binned_dataset const& items,
              card_loss loss);

  /// Whether the loss depends on the points.
  bool learns() const noexcept { return learns_; }
  /// The block of A for features f and g, [bins of f][bins of g].
  std::vector<double> block(std::size_t f, std::size_t g) const;
  /// The part of b for a feature, [bins].
  std::vector<double> right_side(std::size_t f) const;

 private:
  struct label_class {
    std::size_t begin = 0, end = 0;  ///< range in documents_
    std::vector<double> weights;     ///< w between this class and each of the query's classes
  };
  struct compared_query {
    std::vector<label_class> classes;
  };

  void add_squares();
  void add_pairs(datasets::query_group const& group, double queries);

  datasets::binned_dataset const& items_;
  std::vector<std::size_t> documents_;   // of the queries with pairs, sorted by label within each
  std::vector<compared_query> queries_;  // those with pairs
  std::vector<double> own_;              // [documents of items] diagonal weights
  std::vector<double> pull_;             // [documents of items] contributions to b
  bool learns_ = false;
};

}  // namespace rulerank::l2r
