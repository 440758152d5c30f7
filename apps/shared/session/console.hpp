#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace rulerank::inline v0::apps {

/// Writes to standard error, in the place of a bar that is shown there. What cannot be written
/// there (it is closed, its disk is full, nobody reads the pipe) is dropped: a message is no reason
/// to lose the work. Safe from any thread.
void write_to_standard_error(std::string_view text) noexcept;

/// `40 s`, `12 min`, `3.5 h`.
std::string length_of_time(double seconds);

/// Messages and progress on standard error: a bar on a terminal, a line every 10 s elsewhere, with
/// the time that is left where it can be told. Safe from any thread.
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

  std::mutex mutex_;
  bool const terminal_;
  clock::duration const interval_;
  clock::time_point shown_ = clock::now();
  std::string stage_;  ///< since `begin_`
  clock::time_point begin_;
};

}  // namespace rulerank::apps
