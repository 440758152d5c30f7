#pragma once

#include "al/sampler.hpp"
#include "core/memory_gate.hpp"

#include <cstddef>
#include <limits>
#include <vector>

namespace rulerank::inline v0::al {

/// What all partitions of one sampling share. Constant but for the gate, which has its own lock:
/// any number of threads may use one.
struct sampling_setup {
  /// What is referred to outlives it. Throws `usage_error` for options that make no sense for the
  /// data.
  sampling_setup(context const& ctx, datasets::binned_dataset const& data,
                 sampler_options const& options);

  std::size_t max_items() const noexcept { return options.rule_size - 1; }

  context const& ctx;
  datasets::binned_dataset const& data;
  sampler_options options;
  /// Not 0: the stop rule is off, and a partition ends after so many documents.
  std::size_t fixed_iterations = 0;
  /// Whether the labels are those of `data`, so that none is asked for.
  bool labels_known = false;
  /// Whether the context's processes share out the partitions. Those from `first_of_all_processes`
  /// on are done by all of them together, a share of the documents each, the others by one each.
  bool over_processes = false;
  std::size_t first_of_all_processes = std::numeric_limits<std::size_t>::max();
  rules::validity valid;
  /// All documents, those that go first among equals first; empty: the larger index first.
  std::vector<std::uint32_t> ties;
  std::vector<std::vector<std::size_t>> features;  ///< of each partition: columns of `data`
  memory_gate mutable memory;
};

}  // namespace rulerank::al
