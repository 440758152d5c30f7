#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// A score that is a weighted sum of a document's values, each against those of its query
// (docs/reference/components.md).
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::l2r {

/// Ridge regression (Hoerl and Kennard, Ridge regression: biased estimation for nonorthogonal
/// problems, Technometrics 12, 1970) of labels on features within their query. A feature's value is
/// its z-score over the query's present values (datasets::normalize, query_zscore), 0 where it is
/// missing; a feature that misses values in labelled documents has a second weight, for that. The
/// weights w have the smallest sum of (y - mean y - w x)^2 over the labelled documents, plus
/// `strength` times the sum of all w^2. x is less its mean over the query, of all its documents,
/// labelled or not; so the labels need not be less their query's mean, which w x has no part in
/// where all are labelled.
struct linear_options {
  /// Above 0, at most 1e9; 0: the one of 3, 10, 30, 100, 300, 1000, 3000 with the smallest sum of
  /// squares on documents left out, of equals the largest, by fits in `folds` folds of queries that
  /// the context's seed deals. Fewer queries than folds make a fold each; one query: 10.
  double strength = 10;
  std::size_t folds = 5;  ///< 2 or more
  /// What a listed NULL/nan is: item: a missing value, with a weight; none: one without; zero: 0.
  datasets::missing_values missing = datasets::missing_values::item;
  datasets::unlisted_values unlisted = datasets::unlisted_values::zero;
};

/// Throws `usage_error` for what makes no sense.
void check(linear_options const& options);

/// Weights are whole numbers in units of 2^-linear_bits.
inline constexpr int linear_bits = 32;

struct feature_weight {
  std::uint32_t feature = 0;
  std::int64_t weight = 0;   ///< of its z-score
  bool misses = false;       ///< a training document misses it
  std::int64_t missing = 0;  ///< the weight of that
  /// The mean over the labelled training documents of the size of what it adds to their scores; -1
  /// where a model file does not say.
  std::int64_t moved = -1;
};

struct linear_weights {
  linear_options options;                ///< with the strength that was used
  std::vector<feature_weight> features;  ///< ascending
  datasets::feature_names names;         ///< of these, where the training documents have names
};

/// The number that a weight stands for.
double value_of_weight(std::int64_t weight);

/// Sums run in a fixed order: the same bits for any number of threads. Where all labels are equal,
/// and where all documents have labels and no query has different ones, all weights are 0. Throws
/// `usage_error` for options that make no sense and for more than 2^14 weights, `error` where no
/// document has a label and where none lists a feature.
linear_weights fit_linear(context const& ctx, datasets::dataset const& train,
                          linear_options const& options);

/// What a feature of a document adds to its score.
struct linear_part {
  double z = 0;  ///< the z-score; 0 where missing
  bool missing = false;
  double part = 0;  ///< z times the weight, or the weight of a missing value
};

/// The scores [documents] of the documents of whole queries: of each the parts, added in the order
/// of the features in double. The parts come of additions, divisions and square roots in a fixed
/// order, without contraction, so that scores have the same bits on any machine and any number of
/// threads. Features that have names are found by these; one that no document lists is as unlisted.
std::vector<double> score(context const& ctx, linear_weights const& by,
                          datasets::dataset const& documents);

/// The parts of all documents [documents x features].
std::vector<linear_part> linear_parts(context const& ctx, linear_weights const& by,
                                      datasets::dataset const& documents);

}  // namespace rulerank::l2r
