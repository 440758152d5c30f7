#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace rulerank::inline v0::apps {

/// Writes to standard error, replacing a displayed progress bar. Output that cannot be written
/// (closed, disk full, broken pipe) is dropped: a message must not end the work. Thread-safe.
void write_to_standard_error(std::string_view text) noexcept;

/// For example `40 s`, `12 min`, `3.5 h`.
std::string length_of_time(double seconds);

/// Messages and progress on standard error: a bar on a terminal, otherwise a line every 10 s, with
/// the remaining time if it can be estimated. Thread-safe.
class console {
 public:
  console();
  /// Writes `rulerank: TEXT`, replacing a displayed bar.
  void message(std::string_view text);
  void progress(std::string_view stage, std::uint64_t done, std::uint64_t total);
  /// Removes a displayed bar.
  void end_progress();

 private:
  using clock = std::chrono::steady_clock;

  std::mutex mutex_;
  bool const terminal_;
  clock::duration const interval_;
  clock::time_point shown_ = clock::now();
  std::string stage_;  ///< current stage, since `begin_`
  clock::time_point begin_;
};

}  // namespace rulerank::apps
