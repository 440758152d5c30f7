#include "apps/shared/console.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace rulerank::apps {

namespace {

/// Without the signal that a pipe nobody reads would end the process with.
void write_without_sigpipe(std::string_view text) noexcept {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  bool const was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  while (!text.empty()) {
    ssize_t const written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      timespec const none{};
      if (errno == EPIPE && !was_pending) sigtimedwait(&pipe, nullptr, &none);
      break;
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void write_to_standard_error(std::string_view text) noexcept {
  int const error = errno;
  write_without_sigpipe(text);
  errno = error;
}

console::console()
    : terminal_(::isatty(STDERR_FILENO) != 0),
      interval_(std::chrono::milliseconds(terminal_ ? 100 : 10'000)) {}

void console::message(std::string_view text) {
  std::lock_guard const lock(mutex_);
  clear();
  write_to_standard_error(fmt::format("rulerank: {}\n", text));
}

void console::progress(std::string_view stage, std::uint64_t done, std::uint64_t total) {
  std::lock_guard const lock(mutex_);
  auto const now = clock::now();
  if (now - shown_ < interval_) return;
  shown_ = now;
  double const share =
      total == 0 ? 0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  std::string text = total == 0
                         ? fmt::format("{}: {}", stage, done)
                         : fmt::format("{}: {}/{} ({:.0f} %)", stage, done, total, 100 * share);
  if (!terminal_) return write_to_standard_error(fmt::format("rulerank: {}\n", text));
  if (total != 0)
    text =
        fmt::format("[{:-<30}] {}", std::string(static_cast<std::size_t>(30 * share), '#'), text);
  write_to_standard_error(fmt::format("\r\033[K{}", text));
  drawn_ = true;
}

void console::end_progress() {
  std::lock_guard const lock(mutex_);
  clear();
}

void console::clear() {
  if (std::exchange(drawn_, false)) write_to_standard_error("\r\033[K");
}

}  // namespace rulerank::apps
