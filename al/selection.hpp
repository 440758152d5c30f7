#pragma once

#include "al/engine.hpp"
#include "al/labelling.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

// The driver of every sampling: documents, or whole queries, are chosen one after the other under a
// budget, for as long as their labels are known.
namespace rulerank::inline v0::al {

/// Where a selection gets the labels of the documents it is about to choose.
class label_source {
 public:
  virtual ~label_source() = default;
  /// Whether `label` has a label for every document and may be called from several threads at once.
  /// Then no document is left out.
  virtual bool knows_all() const = 0;
  /// The label of a document that is chosen if there is one; none: the selection has to wait.
  /// Throws where a source that knows all has none.
  virtual std::optional<std::int32_t> label(std::size_t document) = 0;
  /// Whether the document is never to be chosen. It has no label then.
  virtual bool left_out(std::size_t document) const = 0;
};

/// A sampling that goes on as labels come. What it chooses depends on the labels alone, not on when
/// they are there. One call at a time; const members from several threads.
class selection {
 public:
  virtual ~selection() = default;
  /// Chooses as far as the labels are known and the budget allows. One source for all calls.
  virtual void advance(label_source& labels) = 0;
  /// The documents whose labels it waits for, in the order in which they would be chosen; empty
  /// when the sample is complete.
  std::vector<question> const& wanted() const noexcept { return wanted_; }
  /// Valid rules over the sample; counted by `delta` alone, others give 0.
  virtual std::uint64_t rules_in_sample() const = 0;
  /// All but `ran`.
  virtual sample take() const = 0;

 protected:
  std::vector<question> wanted_;
};

/// Documents, or queries where the options have some: those on the CPU and with `parts`. What is
/// referred to outlives it. Throws `usage_error` for a budget smaller than the first query.
std::unique_ptr<selection> make_selection(sampling_setup const& setup,
                                          sampling_engine const& engine, shared_partitions parts);

}  // namespace rulerank::al
