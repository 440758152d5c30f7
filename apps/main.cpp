// The program `rulerank`: runs the verb and maps exceptions to exit codes. 0 success; 1 an output
// cannot be written, or memory or threads are exhausted; 2 wrong usage; 3 bad input data; 4 device
// trouble; 5 labels are needed; 130 interrupted.
#include "al/published/engines.hpp"
#include "apps/shared/options/help.hpp"
#include "apps/shared/options/options.hpp"
#include "apps/shared/session/console.hpp"
#include "apps/shared/session/session.hpp"
#include "apps/verbs/verbs.hpp"
#include "bitmaps/bit_kernels.hpp"
#include "core/error.hpp"
#include "core/machine.hpp"
#include "core/output_file.hpp"
#include "core/version.hpp"
#include "knn/dense/published/engines.hpp"
#include "knn/metric/published/engines.hpp"
#include "knn/sparse/published/engines.hpp"
#include "l2r/published/engines.hpp"
#include "mpi/communicator.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace rulerank::inline v0::apps {
namespace {

constexpr int interrupted_code = 130;

/// Reports the process's first failure. A later one, such as the signal with which `mpirun` ends a
/// failed job, waits until that report is complete and adds nothing.
int fail(int code, std::string_view message) noexcept {
  static std::once_flag said;
  std::call_once(said, [&] {
    try {
      write_to_standard_error(fmt::format("rulerank: error: {}\n", printable(message)));
    } catch (std::exception const&) {  // no memory for the message
      write_to_standard_error("rulerank: error\n");
    }
  });
  return code;
}

/// Blocks the signals that stop the program, in this thread and all threads that it starts.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

/// Waits for one of the signals, at most for `time`; continues after the process was stopped
/// (Ctrl-Z).
void wait_for_signal(sigset_t const& signals, std::chrono::milliseconds time) {
  auto const end = std::chrono::steady_clock::now() + time;
  for (;;) {
    auto const rest = std::max(std::chrono::nanoseconds(end - std::chrono::steady_clock::now()),
                               std::chrono::nanoseconds{0});
    timespec const wait{rest.count() / 1'000'000'000, rest.count() % 1'000'000'000};
    if (sigtimedwait(&signals, nullptr, &wait) > 0 || errno != EINTR) return;
  }
}

/// Turns SIGINT and SIGTERM into a stop request. The signals are blocked in all threads and awaited
/// in one, so that ordinary code makes the request. The process ends within a second even if the
/// work ignores its stop token, and at once on a second signal: output files are always whole or
/// absent. After a rank gave up the job, `mpirun` ends the others, and the reason has been
/// reported.
void stop_on_signal(sigset_t signals, session& owner, mpi::communicator const& ranks) {
  auto const wait_and_stop = [&owner, signals, is_first = ranks.is_first(),
                              gave_up = ranks.gave_up()] {
    int received = 0;
    sigwait(&signals, &received);
    if (gave_up.stop_requested()) ::_exit(interrupted_code);
    owner.request_stop();
    wait_for_signal(signals, owner.patience());
    if (is_first && !gave_up.stop_requested()) fail(interrupted_code, "interrupted");
    ::_exit(interrupted_code);
  };
  try {
    std::thread(wait_and_stop).detach();
  } catch (std::system_error const& e) {
    throw std::runtime_error(fmt::format("cannot start a thread ({})", e.code().message()));
  }
}

/// Prevents an output file from getting a standard descriptor that the caller closed: opens the
/// descriptor in the wrong mode, so that using it remains an error.
void occupy_standard_descriptors() {
  for (int const descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0)
      ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// The text of --help and --version is a result: failing to write it is an error.
int show(CLI::App const& program, session const& owner, CLI::Success const& what) {
  std::ostringstream text;
  int const code = program.exit(what, text);
  write_file(owner.destination("-"), text.str());
  return code;
}

/// Runs the verb of the command line; throws on any failure.
int obey(CLI::App& program, session& owner, int argc, char** argv) {
  try {
    std::vector<std::string> line =
        with_current_names(program, {argv + std::min(argc, 1), argv + argc},
                           [&](std::string const& message) { owner.say_at_start(message); });
    if (line.empty()) line = {"--help"};
    std::ranges::reverse(line);  // CLI11 expects the reverse order
    program.parse(std::move(line));
    return owner.exit_code();
  } catch (CLI::Success const& help_or_version) {
    return show(program, owner, help_or_version);
  } catch (CLI::ParseError const&) {
    expect_known_words(program);  // an unknown word explains later errors
    throw;
  }
}

std::string version_text() {
  return fmt::format(
      "rulerank {}\ncommit {}\ncompiler {}\nbuild {}\nCUDA {}\nMPI {}\ninstruction set {}", version,
      commit(), compiler, build_type, *cuda_compiler ? cuda_compiler : "none", mpi::mpi_name(),
      bitmaps::instruction_set());
}

/// The message for a wrong command line, with the verb whose --help explains it.
std::string usage_message(CLI::App const& program, std::string_view what) {
  std::string verb;
  for (auto at = program.get_subcommands(); !at.empty(); at = at.front()->get_subcommands())
    verb += " " + at.front()->get_name();
  return fmt::format("{}; see rulerank{} --help", what, verb);
}

/// Adds the verb that `word` names, because building the options of all verbs takes some
/// milliseconds. Adds all verbs, in the order of use, for a verb that describes the program (such
/// as help) and for any other word.
void add_verbs(CLI::App& program, session& owner, std::string_view word) {
  struct verb {
    char const* name;
    void (*add)(CLI::App&, session&);
  };
  struct verb_group {
    char const* name;
    std::vector<verb> verbs;
    bool shows_program = false;
  };
  std::vector<verb_group> const groups{{"Begin, prepare data sets",
                                        {{"start", add_start},
                                         {"sample", add_sample},
                                         {"split", add_split},
                                         {"discretize", add_discretize},
                                         {"judgments", add_judgments},
                                         {"agreement", add_agreement}}},
                                       {"Choose training documents, learn, rank, judge",
                                        {{"reduce", add_reduce},
                                         {"label", add_label},
                                         {"tune", add_tune},
                                         {"fit", add_fit},
                                         {"rank", add_rank},
                                         {"explain", add_explain},
                                         {"inspect", add_inspect},
                                         {"export", add_export},
                                         {"serve", add_serve},
                                         {"evaluate", add_evaluate},
                                         {"experiment", add_experiment},
                                         {"report", add_report}}},
                                       {"Search text and rank its documents, mine rules",
                                        {{"search", add_search},
                                         {"vectors", add_vectors},
                                         {"fuse", add_fuse},
                                         {"features", add_features},
                                         {"pipeline", add_pipeline},
                                         {"mine", add_mine}}},
                                       {"The program",
                                        {{"engines", add_engines},
                                         {"devices", add_devices},
                                         {"help", add_help},
                                         {"completion", add_completion}},
                                        true},
                                       {"", {{"pages", add_pages}, {"forms", add_forms}}, true}};
  auto const add = [&](verb_group const& group, verb const& one) {
    one.add(program, owner);
    program.get_subcommands({}).back()->group(group.name);
  };
  for (verb_group const& group : groups)
    for (verb const& one : group.verbs)
      if (one.name == word && !group.shows_program) return add(group, one);
  for (verb_group const& group : groups)
    for (verb const& one : group.verbs) add(group, one);
}

/// The exit code and message of the current exception. `owner`: null before a session.
mpi::failure failure_of(CLI::App const& program, session const* owner) {
  try {
    throw;
  } catch (CLI::ParseError const& e) {
    return {2, usage_message(program, words_of(e))};
  } catch (interrupted const&) {
    return {interrupted_code, "interrupted"};
  } catch (usage_error const& e) {
    return {2, usage_message(program, e.what())};
  } catch (error const& e) {
    return {3, e.what()};
  } catch (device_error const& e) {
    return {4, e.what()};
  } catch (output_error const& e) {
    return {1, e.what()};
  } catch (std::exception const& e) {
    // An overwritten index can give, for example, lengths beyond all memory.
    try {
      if (owner != nullptr) owner->expect_unchanged_inputs();
    } catch (error const& changed) {
      return {3, changed.what()};
    }
    return {1, dynamic_cast<std::bad_alloc const*>(&e) ? "out of memory" : e.what()};
  }
}

/// Runs the program on one rank. If any rank fails, all end with the same exit code, and the first
/// one reports why.
int run_rank(CLI::App& program, mpi::communicator const& ranks, sigset_t signals, int argc,
             char** argv) {
  auto const fail_all = [&](mpi::failure const& agreed) {
    return ranks.is_first() ? fail(agreed.code, agreed.message) : agreed.code;
  };
  session* begun = nullptr;
  try {
    // Leaked on purpose: the signal thread may use it until the process ends.
    session& owner = *(begun = new session(std::vector<std::string>(argv, argv + argc), ranks));
    stop_on_signal(signals, owner, ranks);
    program.set_version_flag(
        "-V,--version", [] { return version_text(); },
        "Show version, commit, compiler and instruction set");
    program.set_help_flag("-h,--help", "Show this help");
    program.set_help_all_flag("--help-all", "Show all options, in groups");
    program.require_subcommand(1);
    program.formatter(std::make_shared<help_formatter>());
    program.footer(
        "rulerank fit train.txt --model card.model\n"
        "rulerank rank test.txt --model card.model --out scores.txt\n"
        "rulerank evaluate --test test.txt --scores scores.txt");
    add_verbs(program, owner, argc > 1 ? argv[1] : "");
    int const code = obey(program, owner, argc, argv);
    ranks.meet();
    return code;
  } catch (mpi::job_failed const& e) {
    return fail_all(e.agreed());
  } catch (...) {
    return fail_all(ranks.fail(failure_of(program, begun)));
  }
}

void add_published_engines() {
  al::add_published_engines();
  l2r::add_published_engines();
  knn::add_published_dense_engines();
  knn::add_published_metric_engines();
  knn::add_published_sparse_engines();
}

int run(int argc, char** argv) {
  add_published_engines();
  occupy_standard_descriptors();
  // Makes exceeding the file size limit a write error, like a full disk.
  ::signal(SIGXFSZ, SIG_IGN);
  sigset_t const signals = block_signals();  // before MPI starts threads
  CLI::App program{"Learning to rank from few labels, with models a person can read", "rulerank"};
  try {
    mpi::communicator const ranks;
    return run_rank(program, ranks, signals, argc, argv);
  } catch (...) {  // MPI is not initialized: there are no other ranks to notify
    mpi::failure const own = failure_of(program, nullptr);
    return fail(own.code, own.message);
  }
}

}  // namespace
}  // namespace rulerank::apps

int main(int argc, char** argv) {
  return rulerank::apps::run(argc, argv);
}
