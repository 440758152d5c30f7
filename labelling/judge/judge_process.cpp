#include "labelling/judge/judge_process.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace rulerank::inline v0::labelling {

namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20;
constexpr std::chrono::milliseconds between_stops{100};

/// A pipe whose ends no other process inherits.
struct pipe_ends {
  pipe_ends() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw output_error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    read = ends[0], write = ends[1];
  }
  ~pipe_ends() {
    for (int const end : {read, write})
      if (end >= 0) ::close(end);
  }
  pipe_ends(pipe_ends const&) = delete;
  pipe_ends& operator=(pipe_ends const&) = delete;

  int read = -1, write = -1;
};

/// Starts `/bin/sh -c COMMAND` with default signals, as the leader of a process group. Returns the
/// error number.
int spawn_shell(std::string command, int input, int output, pid_t& child) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  sigset_t none, pipe;
  sigemptyset(&none);
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &pipe);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string shell = "sh", option = "-c";
  char* arguments[] = {shell.data(), option.data(), command.data(), nullptr};
  int const status = ::posix_spawn(&child, "/bin/sh", &files, &how, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  return status;
}

/// Writes without raising SIGPIPE, which would end this process.
ssize_t write_quietly(int descriptor, std::string_view text) {
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  ssize_t const count = ::write(descriptor, text.data(), text.size());
  int const why = errno;
  timespec const now{};
  if (count < 0 && why == EPIPE) sigtimedwait(&pipe, nullptr, &now);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = why;
  return count;
}

}  // namespace

judge_process::judge_process(std::string const& command) {
  pipe_ends to, from;
  if (int const status = spawn_shell(command, to.read, from.write, child_); status != 0)
    throw output_error(fmt::format("cannot start '{}': {}", command, std::strerror(status)));
  input_ = std::exchange(to.write, -1);
  output_ = std::exchange(from.read, -1);
  for (int const end : {input_, output_}) ::fcntl(end, F_SETFL, O_NONBLOCK);
}

judge_process::~judge_process() {
  if (input_ >= 0) ::close(input_);
  if (output_ >= 0) ::close(output_);
  input_ = output_ = -1;
  for (int wait = 0; child_ > 0 && wait < 50; ++wait) {
    if (::waitpid(child_, nullptr, WNOHANG) == child_) {
      ::kill(-child_, SIGKILL);  // what it left running
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  how_it_ended();
}

void judge_process::send(std::string_view line) {
  unsent_ += line;
  unsent_ += '\n';
}

void judge_process::write_some() {
  ssize_t const count = write_quietly(input_, unsent_);
  if (count > 0) unsent_.erase(0, static_cast<std::size_t>(count));
  if (count >= 0 || errno == EAGAIN || errno == EINTR) return;
  // The program reads no more; it may still answer what it has read.
  ::close(input_);
  input_ = -1;
}

/// False at the end of the program's output.
bool judge_process::read_some() {
  char piece[1 << 16];
  ssize_t const count = ::read(output_, piece, sizeof piece);
  if (count > 0) unread_.append(piece, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

judge_process::event judge_process::next(context const& ctx, double seconds, std::string& line) {
  using clock = std::chrono::steady_clock;
  auto const until = clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    if (std::size_t const end = unread_.find('\n'); end != unread_.npos) {
      line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return event::line;
    }
    if (unread_.size() > longest_line) return event::end;
    ctx.check_stop();
    auto const left = std::chrono::duration<double>(until - clock::now()).count();
    if (left <= 0) return event::time_out;
    bool const writes = input_ >= 0 && !unsent_.empty();
    pollfd waiting[] = {{output_, POLLIN, 0}, {writes ? input_ : -1, POLLOUT, 0}};
    auto const most = static_cast<int>(between_stops.count());
    ::poll(waiting, 2, std::min(most, static_cast<int>(left * 1000) + 1));
    if (waiting[1].revents != 0) write_some();
    if (waiting[0].revents != 0 && !read_some()) return event::end;
  }
}

std::string judge_process::how_it_ended() {
  if (child_ <= 0) return "it did not run";
  int status = 0;
  pid_t ended = 0;
  // A program that has closed its output is about to end.
  for (int wait = 0; ended == 0 && wait < 20; ++wait) {
    ended = ::waitpid(child_, &status, WNOHANG);
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(-child_, SIGKILL);
  bool const killed = ended == 0;
  if (killed) ::waitpid(child_, &status, 0);
  child_ = -1;
  if (killed) return "it was ended";
  return WIFEXITED(status) ? fmt::format("exit status {}", WEXITSTATUS(status))
                           : fmt::format("signal {}", WTERMSIG(status));
}

}  // namespace rulerank::labelling
