#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"
#include "experiment/report.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

// What selective sampling and rules are compared with.
namespace rulerank::inline v0::experiment {

/// `size` of `documents` documents drawn without replacement, ascending. A function of its
/// arguments alone; of two sizes the smaller draw is part of the larger.
std::vector<std::size_t> draw_documents(std::uint64_t seed, std::uint64_t fold, std::size_t draw,
                                        std::size_t documents, std::size_t size);

/// The listed feature and the direction with the largest average of the measure; among equals the
/// smaller number, then highest first. Over the context's processes, which call it together, each
/// tries a share of the features. Throws `error` when no document lists a feature.
ranking_feature best_feature(context const& ctx, datasets::dataset const& vali,
                             eval::measure const& by, eval::profile const& p);

}  // namespace rulerank::experiment
