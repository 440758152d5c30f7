#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A score that is a weighted sum of a document's values, each standardized within the query or over
// all training documents (docs/reference/components.md).
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::l2r {

/// The documents whose deviations are the unit of a feature's values.
enum class linear_scale {
  query,  ///< those of the query: z-scores within it, so a score depends on the list
  pool    ///< all training documents: a score depends on the document's own values alone
};
std::string_view name_of(linear_scale scale);
linear_scale linear_scale_from(std::string_view name);
std::span<std::string_view const> linear_scale_names();

/// Ridge regression (Hoerl and Kennard, Ridge regression: biased estimation for nonorthogonal
/// problems, Technometrics 12, 1970) of labels on features within their query. A feature's value is
/// its z-score over the query's present values (datasets::normalize, query_zscore), 0 if missing. A
/// feature with missing values in labelled documents has a second weight for them. The weights w
/// minimize the sum of (y - mean y - w x)^2 over the labelled documents plus `strength` times the
/// sum of w^2. x is centred on its mean over all documents of the query, labelled or not. Labels
/// are not centred by query: if all documents have labels, the query's mean label does not affect
/// w. With linear_scale::pool, a fit uses differences to the query's mean, divided by their
/// standard deviation over all training documents; a score uses differences to the mean of all
/// training documents, divided by this standard deviation, from -1e6 to 1e6.
struct linear_options {
  /// Above 0, at most 1e9. 0: chosen from 3, 10, 30, 100, 300, 1000, 3000 by cross-fitting over
  /// `folds` folds of queries, dealt by the context's seed: the value with the smallest held-out
  /// sum of squares, of ties the largest. With fewer queries than folds, each query is a fold; with
  /// one query: 10.
  double strength = 10;
  std::size_t folds = 5;  ///< 2 or more
  /// Treatment of a listed NULL/nan. item: missing, with a weight; none: missing, without; zero: 0.
  datasets::missing_values missing = datasets::missing_values::item;
  datasets::unlisted_values unlisted = datasets::unlisted_values::zero;
  linear_scale scale = linear_scale::query;
};

/// Throws `usage_error` for invalid options.
void check(linear_options const& options);

/// Weights are integers in units of 2^-linear_bits.
inline constexpr int linear_bits = 32;

struct feature_weight {
  std::uint32_t feature = 0;
  std::int64_t weight = 0;   ///< of the z-score
  bool misses = false;       ///< some training document has no value
  std::int64_t missing = 0;  ///< weight of a missing value
  /// Mean absolute contribution to the scores of the labelled training documents; -1 if the model
  /// file does not store it.
  std::int64_t moved = -1;
  double mean = 0,
         deviation = 1;  ///< linear_scale::pool: the z-score of x is (x - mean) / deviation
};

/// The weight of a raw value; linear_scale::pool.
double raw_weight(feature_weight const& of);

struct linear_weights {
  linear_options options;                ///< with the strength that was used
  std::vector<feature_weight> features;  ///< ascending
  datasets::feature_names names;  ///< names of these features, if the training documents have names
};

/// Converts a weight to a double.
double value_of_weight(std::int64_t weight);

/// Fits the weights. Sums run in a fixed order: the same bits for any number of threads. All
/// weights are 0 if all labels are equal, or if all documents have labels and no query has
/// different ones. Throws `usage_error` for invalid options and for more than 2^14 weights, `error`
/// if no document has a label or none lists a feature.
linear_weights fit_linear(context const& ctx, datasets::dataset const& train,
                          linear_options const& options);

/// A feature's contribution to a document's score.
struct linear_part {
  double z = 0;  ///< the z-score; 0 where missing
  bool missing = false;
  double part = 0;  ///< z times the weight, or the weight of a missing value
};

/// The scores [documents] of whole queries: the sum of each document's parts, in the order of the
/// features, in double. Parts use additions, divisions and square roots in a fixed order without
/// contraction, so scores have the same bits on every machine and for any number of threads.
/// Features with names are matched by name; a feature that no document lists counts as unlisted.
std::vector<double> score(context const& ctx, linear_weights const& by,
                          datasets::dataset const& documents);

/// The parts of all documents [documents x features].
std::vector<linear_part> linear_parts(context const& ctx, linear_weights const& by,
                                      datasets::dataset const& documents);

}  // namespace rulerank::l2r
