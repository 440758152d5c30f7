#include "l2r/rules/tensor_documents.cuh"

namespace rulerank::inline v0::l2r::by_document {

std::unique_ptr<device_scorer> make_wide_scorer(prepared_training const& training,
                                                device_training const& on_device) {
  return std::make_unique<tensor_scorer<wide_sum>>(training, on_device);
}

}  // namespace rulerank::l2r::by_document
