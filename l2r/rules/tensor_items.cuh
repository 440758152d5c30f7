#pragma once

#include "core/stream.hpp"
#include "l2r/rules/cuda_engine.cuh"

#include <cstdint>

// Shared by the sources of `tensor` for many documents (docs/reference/modules/l2r.md, "tensor"):
// the layout of a batch's documents in device memory, and a block's work items.
namespace rulerank::inline v0::l2r::by_item {

using sums = score_sums<std::uint64_t>;

/// A feature's items are slots 0 .. 14; the last slot means "no item" and adds nothing.
inline constexpr std::uint32_t slots = 16;
inline constexpr std::uint32_t no_slot = slots - 1;

/// A document's slots are read in this unit, and a table begins at a multiple of it.
struct alignas(8) slot_words {
  static constexpr std::uint32_t words = 2;  // eight slots each, 4 bits per slot
  static constexpr std::uint32_t count = 8 * words;
  std::uint32_t word[words];
};

/// A block's work: an item x of a feature, and a run of the documents that hold it.
struct alignas(16) work_item {
  std::uint32_t item;
  std::uint32_t feature;
  std::uint32_t begin;  ///< index in the feature's order
  std::uint32_t size;   ///< of the run; 0: no work
};

/// A batch's documents in the order of each feature, in device memory. Only features of the batch's
/// part have entries.
struct document_order {
  std::uint32_t* slots;       ///< [documents][slot_stride] scratch: features side by side
  std::uint32_t* order;       ///< [features][documents] sorted by slot
  std::uint32_t* slot_begin;  ///< [features][slots + 1] where a slot's documents begin in `order`
  slot_words* ordered_slots;  ///< [features][loads][documents] in `order`
  work_item* work;            ///< [work_items]
};

struct order_options {
  std::uint32_t const* item_begin;  ///< [features + 1]
  feature_slice part;
  std::uint32_t slot_stride;  ///< words per document, a multiple of 4
  std::uint32_t loads;        ///< slot_words per document
  std::uint32_t largest;      ///< maximum number of documents in a work item
  std::uint32_t work_items;   ///< trailing ones may be empty
};

/// Queues the kernels that fill `to`.
void order_documents(document_view const& documents, order_options const& how,
                     document_order const& to, stream const& on);

}  // namespace rulerank::l2r::by_item
