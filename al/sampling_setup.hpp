#pragma once

#include "al/sampler.hpp"
#include "core/memory_gate.hpp"

#include <cstddef>
#include <limits>
#include <vector>

namespace rulerank::inline v0::al {

/// Shared by all partitions of one sampling. Thread-safe: constant except for the gate, which has
/// its own lock.
struct sampling_setup {
  /// Keeps references to the arguments. Throws `usage_error` for options that are invalid for the
  /// data.
  sampling_setup(context const& ctx, datasets::binned_dataset const& data,
                 sampler_options const& options);

  std::size_t max_items() const noexcept { return options.rule_size - 1; }

  context const& ctx;
  datasets::binned_dataset const& data;
  sampler_options options;
  /// If not 0, the stop rule is off, and a partition ends after this many documents.
  std::size_t fixed_iterations = 0;
  /// Whether the labels of `data` are used, so that none is requested.
  bool labels_known = false;
  /// Whether the context's processes split the partitions. Partitions from `first_of_all_processes`
  /// on are processed by all processes together, each with a share of the documents; every other
  /// partition by one process.
  bool over_processes = false;
  std::size_t first_of_all_processes = std::numeric_limits<std::size_t>::max();
  rules::validity valid;
  /// All documents in tie order; empty: larger index first.
  std::vector<std::uint32_t> ties;
  std::vector<std::vector<std::size_t>> features;  ///< [partitions] columns of `data`
  memory_gate mutable memory;
};

}  // namespace rulerank::al
