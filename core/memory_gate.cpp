#include "core/memory_gate.hpp"

#include "core/error.hpp"

#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0 {

namespace {

[[noreturn]] void refuse(memory_request const& request, std::string const& why) {
  throw usage_error(fmt::format("{} need {:.2f} GB more, {}; {}", request.who,
                                static_cast<double>(request.bytes) / 1e9, why, request.advice));
}

}  // namespace

memory_gate::memory_gate(std::function<std::uint64_t()> free_bytes, std::uint64_t unchecked)
    : free_bytes_(std::move(free_bytes)), unchecked_(unchecked) {}

void memory_gate::take(memory_request const& request, std::function<void()> const& allocate) {
  std::unique_lock lock(one_at_a_time_, std::defer_lock);
  if (request.bytes > unchecked_) {
    lock.lock();
    if (std::uint64_t const free = free_bytes_(); request.bytes > free)
      refuse(request, fmt::format("but {:.2f} GB are free", static_cast<double>(free) / 1e9));
  }
  try {
    allocate();
  } catch (std::bad_alloc const&) {
    refuse(request, "but the system refused this memory");
  }
}

}  // namespace rulerank
