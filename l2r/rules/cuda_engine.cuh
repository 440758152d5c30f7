#pragma once

#include "core/stream.hpp"
#include "l2r/rules/device_training.cuh"

#include <functional>
#include <memory>
#include <span>

// What the engines on GPUs share: a copy of the training set on each device, the documents split
// evenly over the devices, sent in batches while the batch before is scored. Or each device has all
// documents and does the itemsets that begin with some of the features.
namespace rulerank::inline v0::l2r {

/// Some of the training set's features. The work of an itemset's first feature falls with its
/// number, so the features go to the parts forwards and backwards in turn:
/// 0 1 2 2 1 0 0 1 2 ...
struct feature_slice {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  __host__ __device__ bool has(std::uint32_t feature) const {
    std::uint32_t const at = feature % (2 * count);
    return at == index || at == 2 * count - 1 - index;
  }
};

/// One engine on one device, the one that was current when it was made. Calls are queued on a
/// stream and do not wait. One thread at a time may use it.
class device_scorer {
 public:
  virtual ~device_scorer() = default;
  /// Bytes of device memory that a document of a batch takes besides its codes and score.
  virtual std::size_t bytes_per_document() const { return 0; }
  /// Before the first batch of a call, with the largest number of documents that will come.
  virtual void reserve(std::size_t documents) { static_cast<void>(documents); }
  virtual void score(document_view const& documents, double* scores, stream const& on) = 0;
  /// Whether all devices should score so many documents together, each some of the features.
  virtual bool shares_features(std::size_t documents) const {
    static_cast<void>(documents);
    return false;
  }
  /// What itemsets whose first item is of the part add to each document: sums [documents].
  virtual void score_part(document_view const& documents, feature_slice const& part,
                          score_sums<std::uint64_t>* sums, stream const& on) {
    static_cast<void>(documents), static_cast<void>(part), static_cast<void>(sums),
        static_cast<void>(on);
  }
  /// Adds what the engine counted since the last call (cache hits and misses); waits.
  virtual void add_counts(scored& result) { static_cast<void>(result); }
};

using make_scorer =
    std::function<std::unique_ptr<device_scorer>(prepared_training const&, device_training const&)>;

/// The engine that scores on each of `devices` with a scorer that `make` makes.
std::unique_ptr<scoring_engine> on_devices(std::span<int const> devices,
                                           prepared_training const& training,
                                           make_scorer const& make);

}  // namespace rulerank::l2r
