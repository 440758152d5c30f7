#include "l2r/rules/tensor_documents.cuh"

namespace rulerank::inline v0::l2r {

std::unique_ptr<device_scorer> make_tensor_by_document(prepared_training const& training,
                                                       device_training const& on_device) {
  if (training.table.is_wide()) return by_document::make_wide_scorer(training, on_device);
  return std::make_unique<by_document::tensor_scorer<std::uint64_t>>(training, on_device);
}

}  // namespace rulerank::l2r
