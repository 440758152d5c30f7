#include "l2r/rules/tensor_documents.cuh"

namespace rulerank::inline v0::l2r::by_document {

kernel_pointer<std::uint64_t> plain_kernel(bool rows_fit, bool factors_fit) {
  return kernel_of<std::uint64_t, true>(rows_fit, factors_fit);
}

}  // namespace rulerank::l2r::by_document
