#pragma once

#include "core/error.hpp"

#include <source_location>
#include <string>

#include <cuda_runtime_api.h>

// For CUDA sources.
namespace rulerank::inline v0 {

/// Throws `device_error` with the failure, the device, and the file and line of the call.
[[noreturn]] inline void throw_device_error(cudaError_t status, std::source_location where) {
  int device = -1;
  cudaGetDevice(&device);
  std::string const file = where.file_name();
  throw device_error("CUDA device " + std::to_string(device) + ": " + cudaGetErrorString(status) +
                     " (" + file.substr(file.find_last_of('/') + 1) + ":" +
                     std::to_string(where.line()) + ")");
}

/// Throws if a call of the CUDA runtime failed. Every call is checked, except those in destructors.
inline void check_cuda(cudaError_t status,
                       std::source_location where = std::source_location::current()) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error, unless it is sticky
  throw_device_error(status, where);
}

/// Throws if the preceding kernel launch failed to start.
inline void check_launch(std::source_location where = std::source_location::current()) {
  check_cuda(cudaGetLastError(), where);
}

}  // namespace rulerank
