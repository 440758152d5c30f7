#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

namespace rulerank::datasets {

/// The data set with every feature normalised within every query, on its own, over the query's
/// present values: `query_minmax` gives (x - min) / (max - min), `query_zscore` gives
/// (x - mean) / sd with the sd of the n values themselves (divided by n). A feature that is
/// constant in a query becomes 0 there. Missing values stay missing. Where `unlisted` is zero, a
/// document that does not list a feature has the value 0, which counts and is normalised like any
/// other (it becomes a listed value where the result is not 0); where `missing` is zero, so has one
/// that lists it as missing. `none` copies. Ids, comments and lines are kept as they are.
dataset normalize(context const& ctx, dataset const& data, normalization how,
                  missing_values missing, unlisted_values unlisted);

}  // namespace rulerank::datasets
