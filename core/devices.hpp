#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0 {

/// One CUDA device.
struct device {
  int ordinal = 0;
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  std::size_t memory = 0;    ///< bytes in all
  int multiprocessors = 0;
};

/// The CUDA devices of this machine that can run this program's kernels and, where there are none,
/// why.
struct device_list {
  std::vector<device> devices;
  std::vector<device> without_code;  ///< for which the program has no code
  std::string why_none;              ///< empty when `devices` has at least one
};

/// Lists the CUDA devices; never throws for a missing driver or a CPU-only build. From any thread.
device_list list_devices();

/// Whether a program compiled for `architectures`, as CMAKE_CUDA_ARCHITECTURES names them
/// ("80-real;90"), has code for a device of compute capability `major`.`minor`: machine code of the
/// same major version up to this minor version, or PTX up to this version. True for words that name
/// no version, such as "all".
bool has_code_for(std::string_view architectures, int major, int minor);

/// Why the program has no code for a device, and how to build a program that has.
std::string why_without_code(device const& one);

}  // namespace rulerank
