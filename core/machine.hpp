#pragma once

#include <cstdint>
#include <string>

namespace rulerank::inline v0 {

/// The commit this was built from, `-dirty` behind it when tracked files differed from it;
/// "unknown" when the sources did not lie in a git checkout of their own.
char const* commit() noexcept;

/// The machine that the process runs on; what is not known is empty or 0.
struct machine {
  std::string cpu;           ///< the model, as /proc/cpuinfo names it
  int cores = 0;             ///< logical processors that the process may use
  std::uint64_t memory = 0;  ///< bytes in all
};

/// Reads what the system reports. From any thread.
machine this_machine();

/// Bytes that the process can still take: what the machine has free or can free, no more than the
/// limits on the process (address space) and on its control group leave. The largest number where
/// none of that is known. From any thread.
std::uint64_t free_memory();

}  // namespace rulerank
