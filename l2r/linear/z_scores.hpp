#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

namespace rulerank::inline v0::l2r {

/// The documents with z-scores within their query as values (datasets::normalize) and features
/// renumbered as in `names`. Throws `error` if both have names and none in common.
datasets::dataset z_scores(context const& ctx, datasets::dataset const& documents,
                           datasets::feature_names const& names, datasets::missing_values missing,
                           datasets::unlisted_values unlisted);

}  // namespace rulerank::l2r
