#pragma once
// Measures the time that a test takes by itself, independent of other processes; not installed.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <unistd.h>

namespace rulerank::inline v0::testing_tools {

/// The seconds since construction in which the busiest thread of this process has a processor, plus
/// those in which all threads sleep. On an idle machine this is the wall time. Time does not count
/// while the process is stopped, or waits for a processor or a disk.
class own_time {
 public:
  own_time() : watcher_([this](std::stop_token const& stop) { watch(stop); }) {}
  own_time(own_time const&) = delete;
  own_time& operator=(own_time const&) = delete;

  double seconds() const { return seconds_; }

 private:
  using clock = std::chrono::steady_clock;

  struct threads {
    std::map<std::string, double> seconds;  ///< processor seconds by thread number
    bool asleep = true;
  };

  /// Returns the state of all threads of the process except the watcher.
  static threads look() {
    threads found;
    std::string const own = std::to_string(::gettid());
    std::error_code gone;
    for (auto const& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
      std::string const name = task.path().filename().string();
      std::string line;
      if (name == own || !std::getline(std::ifstream(task.path() / "stat"), line)) continue;
      // The state follows the name; the processor's ticks follow 11 and 12 words later.
      std::istringstream words(line.substr(line.rfind(')') + 1));
      std::string state, skipped;
      double user = 0, system = 0;
      words >> state;
      for (int i = 0; i < 10; ++i) words >> skipped;
      words >> user >> system;
      found.seconds[name] = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
      double nanoseconds = 0;
      if (std::ifstream(task.path() / "schedstat") >> nanoseconds)  // the same time, exactly
        found.seconds[name] = nanoseconds / 1e9;
      found.asleep = found.asleep && (state == "S" || state == "I");
    }
    return found;
  }

  void watch(std::stop_token const& stop) {
    constexpr std::chrono::milliseconds apart(5);
    constexpr double most = 0.05;  // longest sleep; a longer one means that the watcher was delayed
    clock::time_point last = clock::now();
    for (threads before = look(); !stop.stop_requested();) {
      std::this_thread::sleep_for(apart);
      clock::time_point const now = clock::now();
      threads found = look();
      double spent = 0;
      for (auto const& [name, seconds] : found.seconds)
        spent = std::max(spent, seconds - before.seconds[name]);
      if (before.asleep && found.asleep)
        spent = std::max(spent, std::min(most, std::chrono::duration<double>(now - last).count()));
      seconds_ = seconds_ + spent;
      last = now;
      before = std::move(found);
    }
  }

  std::atomic<double> seconds_ = 0;
  std::jthread watcher_;
};

}  // namespace rulerank::testing_tools
