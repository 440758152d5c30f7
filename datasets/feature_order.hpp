#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::datasets {

/// In which order features are dealt into partitions (docs/reference/definitions.md, Sampling).
enum class feature_order {
  chi2,   ///< mean Cramer's V with the other features, descending
  label,  ///< chi2 against the label, descending
  none,   ///< as they come
  file,   ///< from a file: one feature a line, its number, or its name where features have names
};

/// A permutation of 0..F-1 (columns of `data`), ties by index. `path` is read for
/// `feature_order::file`: blank lines and what follows a `#` are skipped, a feature that is not a
/// column (it has no cuts) is passed over. Throws `error` for a malformed or repeated number or
/// name, for a file that names none, and for one that does not name every column. With a context of
/// several processes all call it with the same documents, and share out the pairs of features.
std::vector<std::size_t> order_features(context const& ctx, binned_dataset const& data,
                                        feature_order order, std::string const& path = {});

/// The columns, in their order, of the `share` of the features (0 to 1, rounded up, at least one)
/// that come first by `feature_order::label`. 1: all of them.
binned_dataset best_features(context const& ctx, binned_dataset const& data, double share);

/// Cramer's V of two columns, over the documents that have a value in both ("missing" is none):
/// sqrt(chi2 / (N (min(non-empty bins) - 1))), 0 where one of them has a single non-empty bin.
double cramers_v(binned_dataset const& data, std::size_t f, std::size_t g);

feature_order feature_order_from(std::string_view name);
std::string_view name_of(feature_order);

}  // namespace rulerank::datasets
