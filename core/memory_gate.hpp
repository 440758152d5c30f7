#pragma once

#include "core/machine.hpp"

#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>

namespace rulerank::inline v0 {

/// Memory that a computation is about to take.
struct memory_request {
  std::uint64_t bytes = 0;
  std::string_view who;     ///< begins the message when it is refused: "rule size 7: its itemsets"
  std::string_view advice;  ///< ends it: "use smaller rules"
};

/// Admits the threads of one computation one after the other where each is about to take much
/// memory, so that no two of them count on the same free bytes. The computation that starts the
/// threads owns the gate and gives it to all of them; gates know nothing of each other.
///
/// Any number of threads may call `take` at once. A `take` inside a `take` of the same gate does
/// not return.
class memory_gate {
 public:
  /// `free_bytes` says how many bytes there are to take, at most one call at a time. Requests of up
  /// to `unchecked` bytes pass without a question and without waiting.
  explicit memory_gate(std::function<std::uint64_t()> free_bytes = free_memory,
                       std::uint64_t unchecked = std::uint64_t{64} << 20);

  /// Calls allocate(), which takes the bytes and writes to all of them, while no other thread is
  /// inside with a request that is checked. Throws `usage_error` where there are fewer bytes than
  /// requested, and where allocate() throws `std::bad_alloc`.
  void take(memory_request const& request, std::function<void()> const& allocate);

 private:
  std::function<std::uint64_t()> free_bytes_;
  std::uint64_t unchecked_;
  std::mutex one_at_a_time_;
};

}  // namespace rulerank
