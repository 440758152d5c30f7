#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace rulerank::apps {

/// Writes to standard error. What cannot be written there (it is closed, its disk is full, nobody
/// reads the pipe) is dropped: a message is no reason to lose the work. Safe from any thread.
void write_to_standard_error(std::string_view text) noexcept;

/// Messages and progress on standard error: a bar on a terminal, a line every 10 s elsewhere. Safe
/// from any thread.
class console {
 public:
  console();
  /// `rulerank: TEXT`, in the place of a bar that is shown.
  void message(std::string_view text);
  void progress(std::string_view stage, std::uint64_t done, std::uint64_t total);
  /// Removes a bar that is shown.
  void end_progress();

 private:
  using clock = std::chrono::steady_clock;
  void clear();

  std::mutex mutex_;
  bool const terminal_;
  clock::duration const interval_;
  clock::time_point shown_ = clock::now();
  bool drawn_ = false;
};

}  // namespace rulerank::apps
