#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

// Items as text: `BM25 of title in [0.42, 0.61)`. Threads: any thread may call these functions at
// any time. Several threads may read an object at once, or one may change it.
namespace rulerank::inline v0::datasets {

/// Reads lines with a feature's number and name, separated by spaces or a tab; trims names. Plain,
/// .gz or .zst; empty lines and lines that begin with `#` are ignored. Throws `error` with line and
/// column for an invalid number, a number without a name, a feature named twice, and a file without
/// names.
feature_names read_feature_names(context const& ctx, std::string const& path);

/// The values of an item: low <= value < high, or missing.
struct item_range {
  std::uint32_t feature = 0;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool missing = false;
  /// The bounds are values of the file, or round numbers (`binning::capped`). Rounding such bounds
  /// would move values to their other side.
  bool whole = false;
};

/// Returns the range of every item of a binned set made by `fitted`. Throws `usage_error` if a
/// column's feature has no cuts or other cuts there.
std::vector<item_range> item_ranges(binned_dataset const& data, discretizer const& fitted);

/// Returns `NAME in [0.42, 0.61)`, `NAME < 0.42`, `NAME >= 0.61` or `NAME missing`; a feature
/// without a name is `feature 12`. Bounds that are `whole` have ten significant digits, or all
/// digits from 1e10 on. Other bounds have six, or all digits if the bounds would look equal.
std::string words_of(item_range const& range, feature_names const& names);

/// Returns the name of a feature, or `feature 12`.
std::string feature_text(std::uint32_t feature, feature_names const& names);
/// Returns a rule as text: `X and Y -> 2`; `antecedent` has indexes into `ranges` [items].
std::string words_of_rule(std::span<std::uint32_t const> antecedent, std::int32_t label,
                          std::span<item_range const> ranges, feature_names const& names);

}  // namespace rulerank::datasets
