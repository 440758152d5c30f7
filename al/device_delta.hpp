#pragma once

#include "al/partition.hpp"
#include "al/partition_loops.hpp"
#include "core/context.hpp"
#include "rules/thresholds.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace rulerank::inline v0::al {

/// Loops that run on GPUs. One thread at a time may use them.
using sampler_on_devices = partition_loops;

/// `delta` on the context's GPUs: all partitions side by side, the documents of each split evenly
/// over the devices; in builds with CUDA. `labels`: of the data set's documents, where they are
/// known beforehand; empty: `chosen` is asked for each. Throws
/// `device_error` when the supports of a partition's itemsets do not fit, `usage_error` for
/// partitions of more than 64 features and itemsets of more than 8 items. The kernels of several
/// devices wait for each other, so only one such sampler may run on the same devices at a time.
std::unique_ptr<sampler_on_devices> make_delta_on_devices(
    context const& ctx, std::vector<partition> parts, std::size_t max_items,
    rules::validity const& valid, bool stop_rule, std::vector<std::int32_t> const& labels);

}  // namespace rulerank::al
