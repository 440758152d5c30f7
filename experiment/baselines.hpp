#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"
#include "experiment/report.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

// Baselines for selective sampling and rules.
namespace rulerank::inline v0::experiment {

/// Samples `size` of `documents` documents without replacement, ascending. Depends only on the
/// arguments; a smaller sample is a subset of a larger one.
std::vector<std::size_t> draw_documents(std::uint64_t seed, std::uint64_t fold, std::size_t draw,
                                        std::size_t documents, std::size_t size);

/// The listed feature and direction with the largest average of the measure; among equals the
/// smaller number, then highest first. Processes of the context call it together, and each tries a
/// share of the features. Throws `error` if no document lists a feature.
ranking_feature best_feature(context const& ctx, datasets::dataset const& vali,
                             eval::measure const& by, eval::profile const& p);

}  // namespace rulerank::experiment
