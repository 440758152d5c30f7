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

/// Partition loops on GPUs. Not thread-safe.
using sampler_on_devices = partition_loops;

/// `delta` on the context's GPUs, in builds with CUDA: all partitions run concurrently, with the
/// documents of each split evenly over the devices. `labels`: [documents of the data set] if known
/// in advance; empty: each is requested through `chosen`. Throws `device_error` if the supports of
/// a partition's itemsets do not fit, `usage_error` for partitions of more than 64 features and
/// itemsets of more than 8 items. Kernels of several devices wait for each other, so at most one
/// such sampler may run on the same devices at a time.
std::unique_ptr<sampler_on_devices> make_delta_on_devices(
    context const& ctx, std::vector<partition> parts, std::size_t max_items,
    rules::validity const& valid, bool stop_rule, std::vector<std::int32_t> const& labels);

}  // namespace rulerank::al
