// The program `rulerank`: finds the verb, turns what it throws into an exit code.
// 0 done, 1 output cannot be written or out of memory, 2 wrong usage, 3 bad input data,
// 4 device trouble, 130 interrupted.
#include "apps/session.hpp"
#include "apps/verbs.hpp"
#include "core/error.hpp"
#include "core/version.hpp"

#include <new>
#include <thread>

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

namespace rulerank::apps {
namespace {

/// Turns SIGINT and SIGTERM into a stop request. The signals are blocked in every thread and
/// awaited in one, so that the request is made in ordinary code.
void stop_on_signal(session& owner) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([&owner, signals] {
    int received = 0;
    while (sigwait(&signals, &received) == 0) owner.request_stop();
  }).detach();
}

int fail(int code, std::string_view message) {
  fmt::print(stderr, "rulerank: error: {}\n", message);
  return code;
}

int run(int argc, char** argv) {
  // Leaked on purpose: the signal thread may look at it until the process ends.
  session& owner = *new session(std::vector<std::string>(argv, argv + argc));
  stop_on_signal(owner);
  CLI::App program{"Learning to rank and active learning with association rules", "rulerank"};
  program.set_version_flag(
      "--version", fmt::format("rulerank {}\ncompiler {}\nbuild {}\nCUDA {}", version, compiler,
                               build_type, *cuda_compiler ? cuda_compiler : "none"));
  program.require_subcommand(1);
  add_devices(program, owner);
  try {
    program.parse(argc, argv);
    return 0;
  } catch (CLI::ParseError const& e) {
    int const code = program.exit(e);
    return code == 0 ? 0 : 2;
  } catch (interrupted const&) {
    return fail(130, "interrupted");
  } catch (usage_error const& e) {
    return fail(2, e.what());
  } catch (error const& e) {
    return fail(3, e.what());
  } catch (device_error const& e) {
    return fail(4, e.what());
  } catch (std::bad_alloc const&) {
    return fail(1, "out of memory");
  } catch (std::exception const& e) {
    return fail(1, e.what());
  }
}

}  // namespace
}  // namespace rulerank::apps

int main(int argc, char** argv) {
  return rulerank::apps::run(argc, argv);
}
