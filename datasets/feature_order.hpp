#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::datasets {

/// The order in which features are assigned to partitions (docs/reference/definitions.md,
/// Sampling).
enum class feature_order {
  chi2,   ///< mean Cramer's V with the other features, descending
  label,  ///< chi2 against the label, descending
  none,   ///< their given order
  file,   ///< from a file: one feature per line, by number, or by name if features have names
};

/// Returns a permutation of 0..F-1 (columns of `data`), ties by index. `path` is read for
/// `feature_order::file`: empty lines, text after a `#`, and features that are not a column
/// (without cuts) are ignored. Throws `error` for a malformed or repeated number or name, for a
/// file without features, and for a file that lacks a column. With several processes the call is
/// collective, with the same documents, and divides the pairs of features.
std::vector<std::size_t> order_features(context const& ctx, binned_dataset const& data,
                                        feature_order order, std::string const& path = {});

/// Returns the columns, in their order, of the first `share` of the features (0 to 1, rounded up,
/// at least one) by `feature_order::label`. 1: all columns.
binned_dataset best_features(context const& ctx, binned_dataset const& data, double share);

/// Returns Cramér's V of two columns, over the documents with a value in both ("missing" is no
/// value): sqrt(chi2 / (N (min(non-empty bins) - 1))), or 0 if a column has a single non-empty bin.
double cramers_v(binned_dataset const& data, std::size_t f, std::size_t g);

feature_order feature_order_from(std::string_view name);
std::string_view name_of(feature_order);

}  // namespace rulerank::datasets
