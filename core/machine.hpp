#pragma once

#include <cstdint>
#include <string>

namespace rulerank::inline v0 {

/// The commit of the sources, with suffix `-dirty` if tracked files differed from it; "unknown" if
/// the sources were not in their own git checkout.
char const* commit() noexcept;

/// The machine that the process runs on; unknown values are empty or 0.
struct machine {
  std::string cpu;           ///< model name in /proc/cpuinfo
  int cores = 0;             ///< logical processors that the process may use
  std::uint64_t memory = 0;  ///< total bytes
};

/// Any thread may call it.
machine this_machine();

/// Returns the bytes that the process can still allocate: the machine's free and reclaimable
/// memory, within the limits of the process (address space) and of its control group. The largest
/// number if none of them is known. Any thread may call it.
std::uint64_t free_memory();

}  // namespace rulerank
