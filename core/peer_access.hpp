#pragma once

#include "core/cuda_check.hpp"
#include "core/device_memory.hpp"

#include <span>

namespace rulerank {

/// Whether kernels of all of some devices can use memory of the first.
inline bool can_reach_first(std::span<int const> devices) {
  for (int const device : devices) {
    if (device == devices[0]) continue;
    int can = 0;
    check_cuda(cudaDeviceCanAccessPeer(&can, device, devices[0]));
    if (can == 0) return false;
  }
  return true;
}

/// Lets kernels of `device` use `memory`, which is `owner`'s, and the owner's other memory. It
/// stays so: somebody else may rely on it.
inline void let_reach(int device, void const* memory, int owner) {
  current_device const guard(device);
  cudaPointerAttributes seen{};
  check_cuda(cudaPointerGetAttributes(&seen, memory));
  if (seen.devicePointer == nullptr) check_cuda(cudaDeviceEnablePeerAccess(owner, 0));
}

}  // namespace rulerank
