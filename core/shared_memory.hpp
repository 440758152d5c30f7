#pragma once

#include "core/cuda_check.hpp"

#include <cstddef>

// For CUDA sources.
namespace rulerank::inline v0 {

/// Allows launches of a kernel on the current device to use as much dynamic shared memory as a
/// block can have; returns that number of bytes. The limit belongs to the kernel, not the launch:
/// with a limit for one launch, a concurrent launch that needs more would fail.
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
