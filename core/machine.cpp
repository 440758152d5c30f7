#include "core/machine.hpp"

#include "core/context.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace rulerank::inline v0 {

machine this_machine() {
  machine here;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
      here.cpu = line.substr(line.find(": ") + 2);
      break;
    }
  here.cores = context{}.thread_count();
  long const pages = ::sysconf(_SC_PHYS_PAGES);
  long const page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0)
    here.memory = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  return here;
}

std::uint64_t free_memory() {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::ifstream meminfo("/proc/meminfo");
  for (std::string word; meminfo >> word;)
    if (std::uint64_t kilobytes = 0; word == "MemAvailable:" && meminfo >> kilobytes)
      least = kilobytes * 1024;

  std::uint64_t mapped = 0, resident = 0;  // of this process, in pages
  if (!(std::ifstream("/proc/self/statm") >> mapped >> resident)) return least;
  auto const page = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 0L));
  auto const limit = [&](std::uint64_t most, std::uint64_t used) {
    least = std::min(least, most - std::min(most, used));
  };
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    limit(space.rlim_cur, mapped * page);
  for (char const* const path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (std::uint64_t most = 0; std::ifstream(path) >> most) limit(most, resident * page);
  return least;
}

}  // namespace rulerank
