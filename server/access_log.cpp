#include "server/access_log.hpp"

#include "core/append_format.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <unistd.h>

namespace rulerank::inline v0::server {

namespace {

constexpr std::size_t most_waiting = std::size_t{1} << 20;

/// For example `2026-11-30T07:05:01.250Z`.
std::string now_text() {
  auto const now = std::chrono::system_clock::now();
  std::time_t const seconds = std::chrono::system_clock::to_time_t(now);
  auto const thousandths = std::chrono::duration_cast<std::chrono::milliseconds>(
                               now - std::chrono::system_clock::from_time_t(seconds))
                               .count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     thousandths);
}

}  // namespace

std::string access_line(http_exchange const& exchange) {
  constexpr double thousand = 1000;
  std::string line =
      fmt::format(R"({{"time":"{}","remote":"{}","method":)", now_text(), exchange.remote);
  line += json_line_of(nlohmann::json(exchange.method)) +
          ",\"target\":" + json_line_of(nlohmann::json(exchange.target));
  append_format(line,
                ",\"status\":{},\"request_bytes\":{},\"response_bytes\":{},\"queue_ms\":{:.3f},"
                "\"total_ms\":{:.3f}}}\n",
                exchange.status, exchange.request_bytes, exchange.response_bytes,
                exchange.wait_s * thousand, exchange.total_s * thousand);
  return line;
}

access_log::access_log(std::string const& path) {
  constexpr int mode = 0640;
  descriptor_ = path == "-" ? ::dup(STDOUT_FILENO)
                            : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode);
  if (descriptor_ < 0)
    throw output_error(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  writer_ = std::thread([this] { write_lines(); });
}

access_log::~access_log() {
  {
    std::lock_guard const lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  writer_.join();
  ::close(descriptor_);
}

void access_log::add(http_exchange const& exchange) {
  std::string const line = access_line(exchange);
  {
    std::lock_guard const lock(mutex_);
    if (waiting_.size() + line.size() > most_waiting) {
      ++dropped_;
      return;
    }
    if (dropped_ > 0) append_format(waiting_, "{{\"dropped\":{}}}\n", std::exchange(dropped_, 0));
    waiting_ += line;
  }
  changed_.notify_one();
}

void access_log::write_lines() {
  // In this thread, a write to a pipe without a reader fails instead of ending the server.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::string const text = std::exchange(waiting_, {});
    lock.unlock();
    std::string_view left = text;
    while (!left.empty()) {
      ssize_t const written = ::write(descriptor_, left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) break;  // a full disk must not end the server
      left.remove_prefix(static_cast<std::size_t>(written));
    }
    lock.lock();
  }
}

}  // namespace rulerank::server
