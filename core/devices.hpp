#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0 {

/// One CUDA device.
struct device {
  int ordinal = 0;
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  std::size_t memory = 0;    ///< total bytes
  int multiprocessors = 0;
};

/// The CUDA devices of this machine that can run this program's kernels, or the reason why there
/// are none.
struct device_list {
  std::vector<device> devices;
  std::vector<device> without_code;  ///< devices that the program has no code for
  std::string why_none;              ///< empty when `devices` has at least one
};

/// Lists the CUDA devices. A missing driver or a CPU-only build is no error. Any thread may call
/// it.
device_list list_devices();

/// Memory of a device in bytes.
struct device_memory_use {
  std::size_t used = 0;  ///< by all programs
  std::size_t total = 0;
};

/// Returns the memory of a device; nothing if the device does not respond. Any thread may call it.
std::optional<device_memory_use> memory_use_of(int ordinal);

/// Returns whether a program compiled for `architectures` (as in CMAKE_CUDA_ARCHITECTURES:
/// "80-real;90") has code for a device of compute capability `major`.`minor`: machine code of the
/// same major version up to this minor version, or PTX up to this version. True for keywords
/// without a version, such as "all".
bool has_code_for(std::string_view architectures, int major, int minor);

/// Explains why the program has no code for a device, and how to build one that has.
std::string why_without_code(device const& one);

}  // namespace rulerank
