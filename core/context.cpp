#include "core/context.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <thread>

#include <sched.h>

namespace rulerank::inline v0 {

int context::thread_count() const noexcept {
  if (threads > 0) return threads;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

void context::check_stop() const {
  if (stop.stop_requested()) throw interrupted();
}

void context::report(std::string_view stage, std::uint64_t done, std::uint64_t total) const {
  check_stop();
  if (progress && !progress(stage, done, total)) throw interrupted();
}

}  // namespace rulerank
