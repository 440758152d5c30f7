#pragma once

#include "core/context.hpp"
#include "datasets/arrays.hpp"
#include "datasets/discretizer.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace rulerank::inline v0::datasets {

/// Returns apply_discretizer(ctx, make_dataset(ctx, rows, about), fitted) without a data set in
/// between, for scoring: reads only the columns of features that have cuts, and sets no labels.
/// `features` are the numbers of the columns, ascending; empty: 1, 2, ... Returns nothing where a
/// value is infinite, which make_dataset reports. `fitted` does not normalize; features are matched
/// by number. Several threads may call it at once.
template <class Value>
std::optional<binned_dataset> binned_rows(context const& ctx, dense_rows<Value> const& rows,
                                          std::span<std::uint32_t const> features,
                                          discretizer const& fitted);

}  // namespace rulerank::datasets
