#pragma once

#include "core/stream.hpp"
#include "l2r/rules/cuda_engine.cuh"

#include <cstdint>

// What the sources of `tensor` for many documents share (docs/reference/modules/l2r.md, "tensor"):
// how the documents of a batch lie in the device's memory, and what a block works on.
namespace rulerank::inline v0::l2r::by_item {

using sums = score_sums<std::uint64_t>;

/// An item of a feature is a slot, 0 .. 14; the last slot stands for "no item", and adds nothing.
inline constexpr std::uint32_t slots = 16;
inline constexpr std::uint32_t no_slot = slots - 1;

/// A document's slots are read so many at a time, and a table begins at such a step.
struct alignas(8) slot_words {
  static constexpr std::uint32_t words = 2;  // of eight slots, 4 bits each
  static constexpr std::uint32_t count = 8 * words;
  std::uint32_t word[words];
};

/// What a block works on: an item x of a feature, and a run of the documents that hold it.
struct alignas(16) work_item {
  std::uint32_t item;
  std::uint32_t feature;
  std::uint32_t begin;  ///< in the feature's order
  std::uint32_t size;   ///< of the run; 0: nothing to do
};

/// The documents of a batch in the order of each feature, in device memory. Features that are not
/// of the batch's part are left out.
struct document_order {
  std::uint32_t* slots;       ///< [documents][slot_stride] scratch: features side by side
  std::uint32_t* order;       ///< [features][documents] by slot
  std::uint32_t* slot_begin;  ///< [features][slots + 1] where a slot's documents begin in `order`
  slot_words* ordered_slots;  ///< [features][loads][documents] in `order`
  work_item* work;            ///< [work_items]
};

struct order_options {
  std::uint32_t const* item_begin;  ///< [features + 1]
  feature_slice part;
  std::uint32_t slot_stride;  ///< words of a document's slots, a multiple of 4
  std::uint32_t loads;        ///< slot_words of a document
  std::uint32_t largest;      ///< documents of a work item, at most
  std::uint32_t work_items;   ///< the last ones may be empty
};

/// Queues the work that fills `to`.
void order_documents(document_view const& documents, order_options const& how,
                     document_order const& to, stream const& on);

}  // namespace rulerank::l2r::by_item
