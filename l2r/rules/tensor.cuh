#pragma once

#include "l2r/rules/cuda_engine.cuh"

// The two forms of `tensor` (docs/reference/modules/l2r.md): few documents are scored one by one,
// many together, item by item.
namespace rulerank::inline v0::l2r {

/// Scores any number of documents of any shape.
std::unique_ptr<device_scorer> make_tensor_by_document(prepared_training const& training,
                                                       device_training const& on_device);

/// The form for many documents, or null where it does not apply: rules of more than three items,
/// more than 15 items of a feature or 16,384 in all, 128-bit sums, more training documents than
/// 32 x 256.
std::unique_ptr<device_scorer> make_tensor_by_item(prepared_training const& training,
                                                   device_training const& on_device);

}  // namespace rulerank::l2r
