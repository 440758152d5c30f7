#pragma once

#include "al/sampler.hpp"

#include <cstddef>

namespace rulerank::inline v0::al {

/// For benchmarks and tests: `reduce` without the stop rule. Each partition chooses exactly
/// `iterations` documents (fewer if it has fewer), minimizing over documents not yet chosen; its
/// report says where the stop rule would have ended it. `iterations` 0: `reduce`. Throws
/// `usage_error` for whole queries.
sample reduce_to_iterations(context const& ctx, datasets::binned_dataset const& data,
                            sampler_options const& options, std::size_t iterations,
                            oracle const& label_of = {});

}  // namespace rulerank::al
