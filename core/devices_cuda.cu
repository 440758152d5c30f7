#include "core/devices.hpp"

#include <cuda_runtime.h>

namespace rulerank::inline v0 {

device_list list_cuda_devices() {
  int count = 0;
  cudaError_t const status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return {{}, {}, cudaGetErrorString(status)};
  if (count == 0) return {{}, {}, "no CUDA device"};
  device_list list;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) continue;
    list.devices.push_back({.ordinal = ordinal,
                            .name = properties.name,
                            .major = properties.major,
                            .minor = properties.minor,
                            .memory = properties.totalGlobalMem,
                            .multiprocessors = properties.multiProcessorCount});
  }
  if (list.devices.empty()) list.why_none = "no CUDA device responds";
  return list;
}

std::optional<device_memory_use> memory_use_of(int ordinal) {
  int before = 0;
  if (cudaGetDevice(&before) != cudaSuccess) return {};
  std::size_t free = 0, total = 0;
  bool const responds =
      cudaSetDevice(ordinal) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess;
  cudaSetDevice(before);
  cudaGetLastError();  // forgets a failure
  if (!responds) return {};
  return device_memory_use{total - free, total};
}

}  // namespace rulerank
