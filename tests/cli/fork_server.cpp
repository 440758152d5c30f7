// A library for LD_PRELOAD: the program loads once and forks for each command, so that a command
// costs no loading and linking of libraries.
//
// The descriptor that $RULERANK_FORK_SERVER names is a socket of packets. A packet holds the
// arguments of a command, a zero byte after each, and passes four descriptors: the working folder,
// standard input, standard output and standard error. The library answers with the wait status of
// the command, four bytes. The first packet that it sends, before any command, is empty of meaning:
// the program has loaded. The process ends when the other end of the socket closes.
#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using main_function = int (*)(int, char**, char**);
using start_function = int (*)(main_function, int, char**, void (*)(), void (*)(), void (*)(),
                               void*);

main_function program = nullptr;

constexpr std::size_t descriptors = 4;

/// Runs the command of a packet in this process, which is a fresh child.
int run(char* words, std::size_t bytes, char* name, std::array<int, descriptors> const& given,
        char** environment) {
  std::vector<char*> arguments{name};
  for (char* word = words; word < words + bytes; word += std::strlen(word) + 1)
    arguments.push_back(word);
  arguments.push_back(nullptr);
  if (::fchdir(given[0]) != 0) return 127;
  for (int i = 1; i < int(descriptors); ++i) ::dup2(given[std::size_t(i)], i - 1);
  for (int const descriptor : given) ::close(descriptor);
  return program(int(arguments.size()) - 1, arguments.data(), environment);
}

int serve(int, char** argv, char** environment) {
  int const socket = int(std::strtol(std::getenv("RULERANK_FORK_SERVER"), nullptr, 10));
  ::unsetenv("RULERANK_FORK_SERVER");
  ::unsetenv("LD_PRELOAD");
  std::vector<char> packet(1 << 17);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * descriptors)> passed{};
  int status = 0;
  while (::send(socket, &status, sizeof status, MSG_NOSIGNAL) == sizeof status) {
    iovec part{packet.data(), packet.size() - 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = passed.data();
    message.msg_controllen = passed.size();
    ssize_t const bytes = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    cmsghdr const* const head = CMSG_FIRSTHDR(&message);
    if (bytes <= 0 || head == nullptr || head->cmsg_len != CMSG_LEN(sizeof(int) * descriptors))
      return 0;
    std::array<int, descriptors> given{};
    std::memcpy(given.data(), CMSG_DATA(head), sizeof given);
    pid_t const child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(socket);
      return run(packet.data(), std::size_t(bytes), argv[0], given, environment);
    }
    for (int const descriptor : given) ::close(descriptor);
    if (child < 0 || ::waitpid(child, &status, 0) != child) return 1;
  }
  return 0;
}

}  // namespace

extern "C" int __libc_start_main(main_function main, int argc, char** argv, void (*init)(),
                                 void (*fini)(), void (*unload)(), void* stack_end) {
  auto const next = reinterpret_cast<start_function>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  program = main;
  bool const serves = std::getenv("RULERANK_FORK_SERVER") != nullptr;
  return next(serves ? serve : main, argc, argv, init, fini, unload, stack_end);
}
