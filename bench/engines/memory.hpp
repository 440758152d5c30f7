#pragma once

#include <cstddef>
#include <fstream>
#include <span>
#include <string>

#include <malloc.h>

#ifdef RULERANK_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

// The memory of engines, in bytes, as reported by the operating system and the driver.
namespace rulerank::inline v0::bench {

/// Returns a line of /proc/self/status in bytes.
inline std::size_t own_status(std::string const& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) * 1024;
  return 0;
}

/// Measures the maximum growth of this process's memory since construction.
class memory_growth {
 public:
  memory_growth() {
    // Lets large arrays come from the system and return to it, regardless of earlier allocations.
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
    before_ = own_status("VmRSS");
  }
  std::size_t peak() const {
    std::size_t const peak = own_status("VmHWM");
    return peak > before_ ? peak - before_ : 0;
  }

 private:
  std::size_t before_ = 0;
};

/// Returns the total free memory of some GPUs.
inline std::size_t free_on(std::span<int const> devices) {
  std::size_t all = 0;
#ifdef RULERANK_HAS_CUDA
  for (int const ordinal : devices) {
    std::size_t free = 0;
    std::size_t total = 0;
    if (cudaSetDevice(ordinal) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess)
      all += free;
  }
#else
  static_cast<void>(devices);
#endif
  return all;
}

}  // namespace rulerank::bench
