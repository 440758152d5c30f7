#include "core/machine.hpp"

#include "core/context.hpp"

#include <fstream>
#include <string>

#include <unistd.h>

namespace rulerank {

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

}  // namespace rulerank
