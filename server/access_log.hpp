#pragma once

#include "server/http_server.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace rulerank::inline v0::server {

/// Appends a JSON line for each exchange to a file. A thread of its own writes, so a slow disk does
/// not delay responses; while 1 MiB waits, further lines are dropped and counted. Several threads
/// may call `add` at once.
class access_log {
 public:
  /// `path`: "-" is standard output. Throws `output_error` if it cannot be opened.
  explicit access_log(std::string const& path);
  /// Writes what waits.
  ~access_log();
  access_log(access_log const&) = delete;
  access_log& operator=(access_log const&) = delete;

  void add(http_exchange const& exchange);

 private:
  void write_lines();

  int descriptor_ = -1;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::string waiting_;
  std::uint64_t dropped_ = 0;
  bool ended_ = false;
  std::thread writer_;
};

/// The line of an exchange, with its line feed. Control characters in the target are escaped.
std::string access_line(http_exchange const& exchange);

}  // namespace rulerank::server
