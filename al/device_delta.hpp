#pragma once

#include "al/partition.hpp"
#include "core/context.hpp"
#include "rules/thresholds.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace rulerank::al {

/// A sampler that runs the loop of each partition on GPUs. One thread at a time may use it.
class sampler_on_devices {
 public:
  /// Called with each choice of a partition, in order; returns the document's label.
  using chosen_fn = std::function<std::int32_t(std::size_t partition, std::size_t document,
                                               std::size_t iteration, std::uint64_t rules)>;

  virtual ~sampler_on_devices() = default;
  /// Every partition goes on until it has chosen `iterations` documents (0: no limit) or is done.
  virtual void advance(context const& ctx, std::size_t iterations, chosen_fn const& chosen) = 0;
  /// One partition alone.
  virtual void advance(context const& ctx, std::size_t q, std::size_t iterations,
                       chosen_fn const& chosen) = 0;
  virtual bool done(std::size_t q) const = 0;
  /// The document that partition q would choose next, unless it is done.
  virtual std::size_t next_document(std::size_t q) const = 0;
  virtual partition_report const& report(std::size_t q) const = 0;
};

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
