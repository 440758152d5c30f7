#pragma once

#include "core/cuda_check.hpp"

#include <cstddef>

// For sources that are compiled with CUDA.
namespace rulerank::inline v0 {

/// Lets launches of a kernel on the current device take as much dynamic shared memory as a block
/// can have; returns how many bytes that is. The limit belongs to the kernel, whoever launches it:
/// were it set to what one launch needs, another one that needs more would fail meanwhile.
template <class... Arguments>
std::size_t allow_all_shared_memory(void (*kernel)(Arguments...)) {
  auto const* const of = reinterpret_cast<void const*>(kernel);
  int device = 0;
  int most = 0;
  cudaFuncAttributes own{};
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  check_cuda(cudaFuncGetAttributes(&own, of));
  int const dynamic = most - static_cast<int>(own.sharedSizeBytes);
  check_cuda(cudaFuncSetAttribute(of, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic));
  return static_cast<std::size_t>(dynamic);
}

}  // namespace rulerank
