#pragma once

#include "core/stream.hpp"
#include "l2r/device_training.cuh"

#include <functional>
#include <memory>
#include <span>

// What the engines on GPUs share: a copy of the training set on each device, the documents split
// evenly over the devices, sent in batches while the batch before is scored. Or each device has all
// documents and does some of the items.
namespace rulerank::l2r {

/// Some of the training items: those with x % count == index.
struct item_part {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
};

/// One engine on one device, the one that was current when it was made. Calls are queued on a
/// stream and do not wait.
class device_scorer {
 public:
  virtual ~device_scorer() = default;
  /// Bytes of device memory that a document of a batch takes besides its codes and score.
  virtual std::size_t bytes_per_document() const { return 0; }
  /// Before the first batch of a call, with the largest number of documents that will come.
  virtual void reserve(std::size_t documents) { static_cast<void>(documents); }
  virtual void score(document_view const& documents, double* scores, stream const& on) = 0;
  /// Whether devices should do so many documents together, each some of the items.
  virtual bool shares_items(std::size_t documents) const {
    static_cast<void>(documents);
    return false;
  }
  /// What itemsets whose first item is of the part bring each document: sums [documents].
  virtual void score_part(document_view const& documents, item_part const& part,
                          score_sums<std::uint64_t>* sums, stream const& on) {
    static_cast<void>(documents), static_cast<void>(part), static_cast<void>(sums),
        static_cast<void>(on);
  }
  /// Adds what the engine counted since the last call (cache hits and misses); waits.
  virtual void add_counts(scored& result) { static_cast<void>(result); }
};

using make_scorer =
    std::function<std::unique_ptr<device_scorer>(prepared_training const&, device_training const&)>;

/// The engine whose work on each of `devices` is done by what `make` makes.
std::unique_ptr<scoring_engine> on_devices(std::span<int const> devices,
                                           prepared_training const& training,
                                           make_scorer const& make);

}  // namespace rulerank::l2r
