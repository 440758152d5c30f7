#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rulerank {

/// One CUDA device.
struct device {
  int ordinal = 0;
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  std::size_t memory = 0;    ///< bytes in all
  int multiprocessors = 0;
};

/// The CUDA devices of this machine and, where there are none, why.
struct device_list {
  std::vector<device> devices;
  std::string why_none;  ///< empty when there is at least one
};

/// Lists the CUDA devices; never throws for a missing driver or a CPU-only build. From any thread.
device_list list_devices();

}  // namespace rulerank
