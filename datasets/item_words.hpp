#pragma once

#include "core/context.hpp"
#include "datasets/discretizer.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

// Items as people read them: `BM25 of title in [0.42, 0.61)`.
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::datasets {

/// Reads lines of a feature's number and its name, blanks or a tab between; blanks around a name
/// go, those in it stay. Plain, .gz or .zst; blank lines and those that begin with `#` are passed
/// over. Throws `error` with line and column for what is no number, a number without a name, a
/// feature named twice, and a file that names none.
feature_names read_feature_names(context const& ctx, std::string const& path);

/// The values that an item stands for: low <= value < high, or none at all.
struct item_range {
  std::uint32_t feature = 0;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool missing = false;
  /// The bounds are of values as files have them, or round numbers (`binning::capped`): rounded
  /// bounds would have such values on their other side.
  bool whole = false;
};

/// The range of every item of a binned set; `fitted` is what made it. Throws `usage_error` where a
/// column's feature has no cuts there, or others.
std::vector<item_range> item_ranges(binned_dataset const& data, discretizer const& fitted);

/// `NAME in [0.42, 0.61)`, `NAME < 0.42`, `NAME >= 0.61` or `NAME missing`, a feature without a
/// name being `feature 12`. Bounds have ten significant digits where they are `whole`, all of
/// theirs from 1e10 on, else six, or all where they would look alike.
std::string words_of(item_range const& range, feature_names const& names);

/// What a feature is called, or `feature 12`.
std::string feature_text(std::uint32_t feature, feature_names const& names);
/// A rule: `X and Y -> 2`; `antecedent` numbers the items of `ranges` [items].
std::string words_of_rule(std::span<std::uint32_t const> antecedent, std::int32_t label,
                          std::span<item_range const> ranges, feature_names const& names);

}  // namespace rulerank::datasets
