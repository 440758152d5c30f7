#pragma once

#include "core/machine.hpp"

#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>

namespace rulerank::inline v0 {

/// Memory that a computation is about to allocate.
struct memory_request {
  std::uint64_t bytes = 0;
  std::string_view who;     ///< begins the error message: "rule size 7: its itemsets"
  std::string_view advice;  ///< ends the error message: "use smaller rules"
};

/// Serializes the large allocations of one computation's threads, so that no two threads count on
/// the same free bytes. The computation that starts the threads owns the gate and shares it with
/// them; gates are independent.
///
/// Any number of threads may call `take` at once. A `take` inside a `take` of the same gate
/// deadlocks.
class memory_gate {
 public:
  /// `free_bytes` returns the bytes that can still be allocated; the gate makes one call at a time.
  /// Requests of at most `unchecked` bytes pass without a check and without waiting.
  explicit memory_gate(std::function<std::uint64_t()> free_bytes = free_memory,
                       std::uint64_t unchecked = std::uint64_t{64} << 20);

  /// Calls allocate(), which allocates the bytes and writes to all of them, while no other checked
  /// request is inside. Throws `usage_error` if fewer bytes are free than requested, or if
  /// allocate() throws `std::bad_alloc`.
  void take(memory_request const& request, std::function<void()> const& allocate);

 private:
  std::function<std::uint64_t()> free_bytes_;
  std::uint64_t unchecked_;
  std::mutex one_at_a_time_;
};

}  // namespace rulerank
