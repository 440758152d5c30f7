#include "apps/shared/session/verb_process.hpp"

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rulerank::inline v0::apps {

std::string shell_line(std::vector<std::string> const& words) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  std::string line = "rulerank";
  for (std::string const& word : words) {
    line += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == word.npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (char const c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

namespace {

/// The new process ends with this one, and has no blocked signals: in this process a thread awaits
/// them.
pid_t start_verb(std::vector<std::string> words, bool output_to_error) {
  std::string name = "rulerank";
  std::vector<char*> arguments{name.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  sigset_t none;
  sigemptyset(&none);
  pid_t const child = ::fork();
  if (child < 0)
    throw std::runtime_error(fmt::format("cannot start {} ({})", shell_line(words),
                                         std::generic_category().message(errno)));
  if (child > 0) return child;
  // After fork, a multi-threaded process may only make async-signal-safe calls before exec.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (output_to_error) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::execv("/proc/self/exe", arguments.data());
  ::_exit(127);
}

}  // namespace

int run_verb(context const& ctx, std::vector<std::string> const& words, bool output_to_error) {
  pid_t const child = start_verb(words, output_to_error);
  bool asked = false;
  for (int status = 0;;) {
    if (::waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ctx.stop.stop_requested() && !asked) {
      asked = true;
      ::kill(child, SIGTERM);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace rulerank::apps
