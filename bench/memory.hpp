#pragma once

#include <cstddef>
#include <fstream>
#include <span>
#include <string>

#include <malloc.h>

#ifdef RULERANK_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

// What engines take, by the operating system's and the driver's account, in bytes.
namespace rulerank::inline v0::bench {

/// A line of /proc/self/status in kB, as bytes.
inline std::size_t own_status(std::string const& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) * 1024;
  return 0;
}

/// How far the memory of this process grows at most, from when this was made.
class memory_growth {
 public:
  memory_growth() {
    // Large arrays come from the system and go back to it, whatever was freed before.
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // begins the peak anew
    before_ = own_status("VmRSS");
  }
  std::size_t peak() const {
    std::size_t const peak = own_status("VmHWM");
    return peak > before_ ? peak - before_ : 0;
  }

 private:
  std::size_t before_ = 0;
};

/// Free memory of some GPUs together.
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
