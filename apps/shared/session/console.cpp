#include "apps/shared/session/console.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace rulerank::inline v0::apps {

namespace {

/// The stage that counts bytes; other stages count items.
constexpr std::string_view bytes_stage = "read";

/// Writes without raising SIGPIPE, which would end the process.
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

/// Whether a bar is displayed; global because standard error is.
std::atomic<bool> bar_shown = false;

void clear_bar() noexcept {
  if (bar_shown.exchange(false)) write_without_sigpipe("\r\033[K");
}

/// A byte count such as `12.3 MB`; other counts unchanged.
std::string amount(std::string_view stage, std::uint64_t count) {
  if (stage != bytes_stage) return fmt::format("{}", count);
  constexpr char const* units[] = {"B", "kB", "MB", "GB", "TB"};
  double size = static_cast<double>(count);
  std::size_t unit = 0;
  for (; size >= 999.5 && unit + 1 < std::size(units); ++unit) size /= 1000;
  return fmt::format("{:.{}f} {}", size, unit == 0 || size >= 99.95 ? 0 : 1, units[unit]);
}

/// For example `, 12 s left`, extrapolated from the completed share and its time; empty if too
/// early to estimate.
std::string time_left(double share, double seconds) {
  if (share < 0.02 || seconds < 1) return {};
  return fmt::format(", {} left", length_of_time(seconds * (1 - share) / share));
}

}  // namespace

std::string length_of_time(double seconds) {
  double const whole = std::ceil(seconds);
  if (whole < 100) return fmt::format("{:.0f} s", whole);
  if (whole < 100 * 60) return fmt::format("{:.0f} min", std::floor((whole + 30) / 60));
  return fmt::format("{:.1f} h", whole / 3600);
}

void write_to_standard_error(std::string_view text) noexcept {
  int const error = errno;
  clear_bar();
  write_without_sigpipe(text);
  errno = error;
}

console::console()
    : terminal_(::isatty(STDERR_FILENO) != 0),
      interval_(std::chrono::milliseconds(terminal_ ? 100 : 10'000)) {}

void console::message(std::string_view text) {
  std::lock_guard const lock(mutex_);
  write_to_standard_error(fmt::format("rulerank: {}\n", printable(text)));
}

void console::progress(std::string_view stage, std::uint64_t done, std::uint64_t total) {
  std::lock_guard const lock(mutex_);
  auto const now = clock::now();
  if (stage != stage_) {
    stage_ = stage;
    begin_ = now;
  }
  if (now - shown_ < interval_) return;
  shown_ = now;
  double const share =
      total == 0 ? 0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  std::string text = fmt::format("{}: {}", printable(stage), amount(stage, done));
  if (total != 0)
    text += fmt::format(" of {} ({:.0f} %{})", amount(stage, total), 100 * share,
                        time_left(share, std::chrono::duration<double>(now - begin_).count()));
  if (!terminal_) return write_to_standard_error(fmt::format("rulerank: {}\n", text));
  if (total != 0)
    text =
        fmt::format("[{:-<30}] {}", std::string(static_cast<std::size_t>(30 * share), '#'), text);
  write_to_standard_error(fmt::format("\r\033[K{}", text));
  bar_shown = true;
}

void console::end_progress() {
  std::lock_guard const lock(mutex_);
  write_to_standard_error({});
}

}  // namespace rulerank::apps
