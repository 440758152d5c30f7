// The program `rulerank`: finds the verb and turns what it throws into an exit code.
// 0 done; 1 an output cannot be written, or no memory or thread is left; 2 wrong usage; 3 bad input
// data; 4 device trouble; 5 labels are wanted; 130 interrupted.
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

/// The first failure of the process is what it says; a later one, such as the signal with which
/// `mpirun` ends what is left of a failed job, waits until that is said and adds nothing.
int fail(int code, std::string_view message) noexcept {
  static std::once_flag said;
  std::call_once(said, [&] {
    try {
      write_to_standard_error(fmt::format("rulerank: error: {}\n", printable(message)));
    } catch (std::exception const&) {  // no memory for the line
      write_to_standard_error("rulerank: error\n");
    }
  });
  return code;
}

/// The signals that stop the program, blocked in this thread and all that it starts.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

/// Turns SIGINT and SIGTERM into a stop request. The signals are blocked in every thread and
/// awaited in one, so that the request is made in ordinary code. The process ends within a second
/// even where the work does not look at its stop token, and at once on a second signal: an output
/// file is in its place whole or not there at all, whenever the process ends. Ranks that gave the
/// job up are ended by `mpirun`, and why has been said.
void stop_on_signal(sigset_t signals, session& owner, mpi::communicator const& ranks) {
  auto const wait_and_stop = [&owner, signals, is_first = ranks.is_first(),
                              gave_up = ranks.gave_up()] {
    int received = 0;
    sigwait(&signals, &received);
    if (gave_up.stop_requested()) ::_exit(interrupted_code);
    owner.request_stop();
    timespec const patience{0, 800'000'000};
    sigtimedwait(&signals, nullptr, &patience);
    if (is_first && !gave_up.stop_requested()) fail(interrupted_code, "interrupted");
    ::_exit(interrupted_code);
  };
  try {
    std::thread(wait_and_stop).detach();
  } catch (std::system_error const& e) {
    throw std::runtime_error(fmt::format("no thread can be started ({})", e.code().message()));
  }
}

/// A standard descriptor that the caller closed must not become that of an output file: it is
/// opened the wrong way round, so that using it is still an error.
void occupy_standard_descriptors() {
  for (int const descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0)
      ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// What --help and --version print is a result like any other: one that is not written is an error.
int show(CLI::App const& program, session const& owner, CLI::Success const& what) {
  std::ostringstream text;
  int const code = program.exit(what, text);
  write_file(owner.destination("-"), text.str());
  return code;
}

/// Runs the verb that the line names; everything that goes wrong is thrown.
int obey(CLI::App& program, session& owner, int argc, char** argv) {
  try {
    std::vector<std::string> line =
        with_current_names(program, {argv + std::min(argc, 1), argv + argc},
                           [&](std::string const& message) { owner.say_at_start(message); });
    if (line.empty()) line = {"--help"};
    std::ranges::reverse(line);  // as CLI11 wants it
    program.parse(std::move(line));
    return owner.exit_code();
  } catch (CLI::Success const& help_or_version) {
    return show(program, owner, help_or_version);
  } catch (CLI::ParseError const&) {
    expect_known_words(program);  // a word that is not known explains what else is wrong
    throw;
  }
}

std::string version_text() {
  return fmt::format(
      "rulerank {}\ncommit {}\ncompiler {}\nbuild {}\nCUDA {}\nMPI {}\ninstruction set {}", version,
      commit(), compiler, build_type, *cuda_compiler ? cuda_compiler : "none", mpi::mpi_name(),
      bitmaps::instruction_set());
}

/// What was wrong with the line, and the verb whose --help explains it.
std::string usage_message(CLI::App const& program, std::string_view what) {
  std::string verb;
  for (auto at = program.get_subcommands(); !at.empty(); at = at.front()->get_subcommands())
    verb += " " + at.front()->get_name();
  return fmt::format("{}; see rulerank{} --help", what, verb);
}

/// Adds the verb that `word` names: building the options of all verbs costs some milliseconds. Adds
/// all verbs, in the order in which they are used, for a verb that shows the program (help, for
/// example) and for any other word.
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
  std::vector<verb_group> const groups{
      {"Begin", {{"start", add_start}}},
      {"Prepare data sets",
       {{"sample", add_sample},
        {"split", add_split},
        {"discretize", add_discretize},
        {"judgments", add_judgments}}},
      {"Choose training documents, learn, rank",
       {{"reduce", add_reduce},
        {"label", add_label},
        {"tune", add_tune},
        {"fit", add_fit},
        {"rank", add_rank},
        {"explain", add_explain},
        {"inspect", add_inspect},
        {"export", add_export}}},
      {"Judge",
       {{"evaluate", add_evaluate}, {"experiment", add_experiment}, {"report", add_report}}},
      {"Search text, rank its documents",
       {{"search", add_search},
        {"vectors", add_vectors},
        {"fuse", add_fuse},
        {"features", add_features},
        {"pipeline", add_pipeline}}},
      {"Mine itemsets and rules", {{"mine", add_mine}}},
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

/// The exit code and the message of the exception in flight. `owner`: null before a session.
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
    // An overwritten index gives, for example, lengths beyond all memory.
    try {
      if (owner != nullptr) owner->expect_unchanged_inputs();
    } catch (error const& changed) {
      return {3, changed.what()};
    }
    return {1, dynamic_cast<std::bad_alloc const*>(&e) ? "out of memory" : e.what()};
  }
}

/// The program on one rank. Whichever of them fails, all end with the same exit code, and the first
/// one says why.
int run_rank(CLI::App& program, mpi::communicator const& ranks, sigset_t signals, int argc,
             char** argv) {
  auto const fail_all = [&](mpi::failure const& agreed) {
    return ranks.is_first() ? fail(agreed.code, agreed.message) : agreed.code;
  };
  session* begun = nullptr;
  try {
    // Leaked on purpose: the signal thread may look at it until the process ends.
    session& owner = *(begun = new session(std::vector<std::string>(argv, argv + argc), ranks));
    stop_on_signal(signals, owner, ranks);
    program.set_version_flag(
        "-V,--version", [] { return version_text(); },
        "Version, commit, compiler, CUDA, MPI and instruction set");
    program.require_subcommand(1);
    program.formatter(std::make_shared<help_formatter>());
    program.footer(
        "rulerank fit train.txt --model card.model\n"
        "  fits a card of ten features at most; rulerank inspect card.model shows it on a page\n"
        "rulerank rank test.txt --model card.model --out scores.txt\n"
        "  scores the documents of other queries\n"
        "rulerank evaluate --test test.txt --scores scores.txt\n"
        "  prints MAP and NDCG");
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
  // A file that may not grow further is an error where it is written, as a full disk is.
  ::signal(SIGXFSZ, SIG_IGN);
  sigset_t const signals = block_signals();  // before MPI starts threads
  CLI::App program{"Learning to rank from few labels, with models a person can read", "rulerank"};
  try {
    mpi::communicator const ranks;
    return run_rank(program, ranks, signals, argc, argv);
  } catch (...) {  // it is no rank, and has none to tell
    mpi::failure const own = failure_of(program, nullptr);
    return fail(own.code, own.message);
  }
}

}  // namespace
}  // namespace rulerank::apps

int main(int argc, char** argv) {
  return rulerank::apps::run(argc, argv);
}
