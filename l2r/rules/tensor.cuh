#pragma once

#include "l2r/rules/cuda_engine.cuh"

// The two forms of `tensor` (docs/reference/modules/l2r.md): one scores documents one by one, for
// few documents; the other scores many together, item by item.
namespace rulerank::inline v0::l2r {

/// The form for few documents; has no limits.
std::unique_ptr<device_scorer> make_tensor_by_document(prepared_training const& training,
                                                       device_training const& on_device);

/// The form for many documents. Null if not supported: rules of more than three items, more than 15
/// items per feature or 16,384 in all, 128-bit sums, or more than 32 x 256 training documents.
std::unique_ptr<device_scorer> make_tensor_by_item(prepared_training const& training,
                                                   device_training const& on_device);

}  // namespace rulerank::l2r
