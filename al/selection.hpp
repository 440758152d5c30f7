#pragma once

#include "al/engine.hpp"
#include "al/labelling.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

// The driver of all samplings: chooses documents, or whole queries, one by one within a budget, as
// far as labels are known.
namespace rulerank::inline v0::al {

/// The source of labels for the documents that a selection is about to choose.
class label_source {
 public:
  virtual ~label_source() = default;
  /// Whether `label` has a label for every document and may be called from several threads at once.
  /// Then no document is excluded.
  virtual bool knows_all() const = 0;
  /// The label of a document that is being chosen; empty: the selection must wait. A source that
  /// knows all labels throws instead.
  virtual std::optional<std::int32_t> label(std::size_t document) = 0;
  /// Whether the document must never be chosen; it then has no label.
  virtual bool left_out(std::size_t document) const = 0;
};

/// A sampling that advances as labels arrive. Its choices depend on the labels, not on their time.
/// No concurrent calls, except of const functions.
class selection {
 public:
  virtual ~selection() = default;
  /// Chooses as far as labels and budget allow. All calls must use the same source.
  virtual void advance(label_source& labels) = 0;
  /// The documents whose labels it waits for, in the order of their choice; empty if the sample is
  /// complete.
  std::vector<question> const& wanted() const noexcept { return wanted_; }
  /// The number of valid rules over the sample; 0 for engines other than `delta`.
  virtual std::uint64_t rules_in_sample() const = 0;
  /// Everything but `ran`.
  virtual sample take() const = 0;

 protected:
  std::vector<question> wanted_;
};

/// A selection of documents or, if the options have queries, of queries; queries run on the CPU and
/// need `parts`. Keeps references to the arguments. Throws `usage_error` for a budget smaller than
/// the first query.
std::unique_ptr<selection> make_selection(sampling_setup const& setup,
                                          sampling_engine const& engine, shared_partitions parts);

}  // namespace rulerank::al
