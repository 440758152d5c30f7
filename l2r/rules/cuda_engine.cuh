#pragma once

#include "core/stream.hpp"
#include "l2r/rules/device_training.cuh"

#include <functional>
#include <memory>
#include <span>

// Shared code of the GPU engines. Each device has a copy of the training set. Documents are split
// evenly over the devices and sent in batches, each while the previous one is scored. Alternatively
// every device gets all documents and scores the itemsets whose first item is of some of the
// features.
namespace rulerank::inline v0::l2r {

/// Part `index` of `count` of the training set's features. Features are dealt in alternating
/// directions (0 1 2 2 1 0 0 1 2 ...), because the work of an itemset's first feature falls with
/// its number.
struct feature_slice {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  __host__ __device__ bool has(std::uint32_t feature) const {
    std::uint32_t const at = feature % (2 * count);
    return at == index || at == 2 * count - 1 - index;
  }
};

/// One engine on the device that was current when it was made. Calls are queued on a stream and do
/// not wait. Not thread-safe.
class device_scorer {
 public:
  virtual ~device_scorer() = default;
  /// Bytes of device memory per document of a batch, besides its codes and score.
  virtual std::size_t bytes_per_document() const { return 0; }
  /// Called before the first batch of a call, with the largest batch's number of documents.
  virtual void reserve(std::size_t documents) { static_cast<void>(documents); }
  virtual void score(document_view const& documents, double* scores, stream const& on) = 0;
  /// Whether all devices should score this many documents together, each for some of the features.
  virtual bool shares_features(std::size_t documents) const {
    static_cast<void>(documents);
    return false;
  }
  /// Sets `sums` [documents] to the contributions of the itemsets whose first item is in the part.
  virtual void score_part(document_view const& documents, feature_slice const& part,
                          score_sums<std::uint64_t>* sums, stream const& on) {
    static_cast<void>(documents), static_cast<void>(part), static_cast<void>(sums),
        static_cast<void>(on);
  }
  /// Adds counts since the last call (cache hits and misses); waits for the device.
  virtual void add_counts(scored& result) { static_cast<void>(result); }
};

using make_scorer =
    std::function<std::unique_ptr<device_scorer>(prepared_training const&, device_training const&)>;

/// An engine that scores on each of `devices` with a scorer from `make`.
std::unique_ptr<scoring_engine> on_devices(std::span<int const> devices,
                                           prepared_training const& training,
                                           make_scorer const& make);

}  // namespace rulerank::l2r
