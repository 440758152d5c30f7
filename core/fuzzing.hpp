#pragma once
// Shared by the fuzz targets. A target is a file with LLVMFuzzerTestOneInput and seeds();
// core/fuzzing.cpp turns it into a program.

#include "core/context.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace rulerank::inline v0::fuzzing {

/// Ends the process if a required condition is false.
inline void require(bool good, char const* what) {
  if (good) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

inline context one_thread() {
  context ctx;
  ctx.threads = 1;
  return ctx;
}

inline std::span<std::byte> bytes_of(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

/// Bytes as a separate file in memory.
class memory_file {
 public:
  explicit memory_file(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_ >= 0 && ::write(descriptor_, bytes.data(), bytes.size()) ==
                                    static_cast<ssize_t>(bytes.size()),
            "no memory file");
  }
  ~memory_file() { ::close(descriptor_); }
  memory_file(memory_file const&) = delete;
  memory_file& operator=(memory_file const&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// The initial inputs, defined by each target.
std::vector<std::string> seeds();

}  // namespace rulerank::fuzzing
