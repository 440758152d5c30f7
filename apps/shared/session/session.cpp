#include "apps/shared/session/session.hpp"

#include "apps/shared/options/device_option.hpp"
#include "apps/shared/session/console.hpp"
#include "apps/shared/session/manifest.hpp"
#include "core/device_rule.hpp"
#include "core/devices.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/machine.hpp"
#include "core/output_file.hpp"
#include "core/section_file.hpp"
#include "core/sha256.hpp"
#include "core/version.hpp"
#include "mpi/agreement.hpp"
#include "mpi/rank_devices.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace rulerank::inline v0::apps {

namespace {
/// Whether two inputs are the same stream, which can be read only once.
bool same_stream(std::string const& a, std::string const& b) {
  if (a == "-" && b == "-") return true;
  auto const stream = [](std::string const& path, struct stat& status) {
    int const failed = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
    return failed == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
  };
  struct stat first {
  }, second{};
  return stream(a, first) && stream(b, second) && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

void add_seconds(nlohmann::ordered_json& timings, std::string const& stage, double seconds) {
  auto& slot = timings[stage];
  slot = (slot.is_number() ? slot.get<double>() : 0.0) + seconds;
}

/// CPU seconds of all processors for this process so far.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

struct session::state {
  state(std::vector<std::string> line, mpi::communicator const& of_job)
      : command(std::move(line)), ranks(of_job) {}

  std::vector<std::string> command;
  mpi::communicator const& ranks;
  std::set<std::string> agreed;              // inputs verified equal on all ranks
  std::set<std::string> indexes;             // inputs opened as indexes
  std::map<std::string, std::string> known;  // SHA-256 of inputs that ranks have read
  stopwatch watch;
  std::optional<context> ctx;
  std::stop_source stop;
  std::atomic<std::chrono::milliseconds> patience{std::chrono::milliseconds{800}};
  std::optional<output_file> manifest;
  console screen;
  std::map<std::string, file_state> inputs;  // state at registration
  std::vector<named_output> outputs;
  std::vector<std::string> at_start;
  int exit_code = 0;
  bool prints = true;  // no output goes to standard output
  nlohmann::ordered_json notes = nlohmann::ordered_json::object();
  nlohmann::ordered_json timings = nlohmann::ordered_json::object();
  nlohmann::ordered_json cpu_timings = nlohmann::ordered_json::object();

  /// Identifies an input. For an index, hashes only the header, because the file can be as large as
  /// the collection; opening it verifies the rest against the header.
  std::string sum_of(std::string const& path) {
    std::error_code gone;
    if (!std::filesystem::is_regular_file(path, gone)) return "no file";
    if (indexes.contains(path))
      if (std::string const sum = sha256_of_section_header(path); !sum.empty())
        return "header " + sum;
    return known[path] = sha256_of_file(path);
  }
};

namespace {

// Used by the handler below.
std::map<std::string, file_state> const* inputs_of_the_run = nullptr;
int rank_of_the_run = -1;  // -1 unless there are several ranks

/// Signals that reading a file can raise while it is modified. A truncated file has unreadable
/// pages (SIGBUS); an overwritten mapped text or matrix can cause any of them.
struct fatal_signal {
  int number;
  void (*before)(int) = nullptr;  ///< previous handler
};
fatal_signal fatal_signals[] = {{SIGBUS}, {SIGSEGV}, {SIGABRT}, {SIGFPE}};

/// Ends with the name of the changed input. If no input changed, the fault is the program's own:
/// restores the previous handler, and the signal is raised again. Outputs are whole or absent.
/// Several threads may get here; one reports. Each of several ranks may report, because none can
/// wait for another here.
void end_on_changed_input(int number) {
  static std::atomic_flag said;
  while (said.test_and_set()) ::pause();
  constexpr int bad_input = 3;
  std::string_view found, what = "changed";
  for (auto const& [path, then] : *inputs_of_the_run) {
    file_state const now = file_state_of(path);
    if (then == file_state() || now == then) continue;
    found = path;
    if (now.size < then.size) what = "cut short";
  }
  if (found.empty()) {
    for (fatal_signal const& one : fatal_signals)
      if (one.number == number) ::signal(number, one.before);
    said.clear();
    return;
  }
  std::string const who = rank_of_the_run < 0 ? "" : fmt::format("rank {}: ", rank_of_the_run);
  write_to_standard_error(
      fmt::format("rulerank: error: {}{}: was {} while it was read, "
                  "expected the same file to the end\n",
                  who, printable(found), what));
  ::_exit(bad_input);
}

}  // namespace

session::session(std::vector<std::string> command, mpi::communicator const& ranks)
    : state_(std::make_unique<state>(std::move(command), ranks)) {
  inputs_of_the_run = &state_->inputs;
  if (ranks.size() > 1) rank_of_the_run = ranks.rank();
  for (fatal_signal& one : fatal_signals) one.before = ::signal(one.number, end_on_changed_input);
}
session::~session() {
  for (fatal_signal const& one : fatal_signals) ::signal(one.number, one.before);
  state_->screen.end_progress();
}

void session::start() {
  mpi::communicator const& ranks = state_->ranks;
  if (ranks.size() > 1) {
    // Short enough for the message format that all versions share.
    mpi::expect_same(ranks, "version", version);
    mpi::expect_same(ranks, "commit", commit());
    auto const words = std::span(state_->command).subspan(1);  // without the program's path
    mpi::expect_same(ranks, "command line", fmt::format("{}", fmt::join(words, " ")));
    note("ranks", ranks.size());
  }
  if (!ranks.is_first()) {
    run.quiet = true;
    run.json = false;
  }
  for (std::string const& message : state_->at_start) say(message);
  if (!run.manifest.empty() && ranks.is_first()) state_->manifest.emplace(run.manifest);
}

mpi::communicator const& session::ranks() {
  if (state_->ranks.size() == 1) return state_->ranks;
  for (auto const& [path, then] : state_->inputs) {
    if (!state_->agreed.insert(path).second) continue;
    if (mpi::find_one_file(state_->ranks, path)) continue;
    // The files of a folder are registered too, or read by all ranks alike. A rank without the file
    // still takes part in the comparison.
    mpi::expect_same(state_->ranks, "SHA-256 of " + path, state_->sum_of(path));
  }
  return state_->ranks;
}

std::vector<std::string> session::deal(std::size_t tasks, process_group::task_fn const& task,
                                       process_group::keep_fn const& keep) {
  mpi::communicator const& all = ranks();
  auto const to_sum = value_from_first(all, [&] {
    std::vector<std::string> paths;
    if (!run.manifest.empty())
      for (auto const& [path, then] : state_->inputs)
        if (then != file_state() && !state_->known.contains(path)) paths.push_back(path);
    return paths;
  });
  std::size_t const before = to_sum.size();
  auto kept = all.deal(
      before + tasks,
      [&](std::size_t t) { return t < before ? sha256_of_file(to_sum[t]) : task(t - before); },
      [&](std::size_t t, std::string result) {
        return t < before ? std::move(result) : keep(t - before, std::move(result));
      });
  for (std::size_t i = 0; i < before; ++i) state_->known[to_sum[i]] = kept[i];
  kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(before));
  return kept;
}

void session::expect_one_process(std::string_view what) const {
  if (state_->ranks.size() > 1)
    throw usage_error(
        fmt::format("{} does not run over MPI ranks: found {} ranks, expected one process", what,
                    state_->ranks.size()));
}

std::string session::destination(std::string const& path) const {
  return path.empty() || state_->ranks.is_first() ? path : "/dev/null";
}

void session::meet() const {
  expect_unchanged_inputs();
  state_->ranks.meet();
}

void session::expect_unchanged_inputs() const {
  for (auto const& [path, then] : state_->inputs)
    if (then != file_state() && file_state_of(path) != then)
      throw error({path, 0, 0}, "was changed since it was read, expected the same file to the end");
}

void session::request_stop() {
  state_->stop.request_stop();
}

std::chrono::milliseconds session::patience() const {
  return state_->patience;
}

void session::set_patience(std::chrono::milliseconds time) {
  state_->patience = time;
}

context const& session::ctx() {
  if (state_->ctx) return *state_->ctx;
  context ctx;
  ctx.threads = run.threads;
  ctx.seed = run.seed;
  ctx.stop = state_->stop.get_token();
  if (state_->ranks.size() > 1) ctx.processes = &state_->ranks;
  if (!run.quiet)
    ctx.progress = [this](std::string_view stage, std::uint64_t done, std::uint64_t total) {
      state_->screen.progress(stage, done, total);
      return true;
    };
  if (run.device != "auto") ctx.devices = of_this_rank(devices_named(run.device));
  state_->ctx = std::move(ctx);
  return *state_->ctx;
}

std::vector<int> session::of_this_rank(std::vector<int> const& devices) const {
  return mpi::devices_of_rank(devices, state_->ranks.rank_here(), state_->ranks.size_here());
}

void session::choose_device(runs_on engine, double thread_seconds, double gpu_seconds) {
  if (run.device != "auto" || !includes(engine, runs_on::gpus)) return;
  bool const either = includes(engine, runs_on::cpu);
  if (either && state_->ranks.size() > 1) return;  // ranks would have to agree
  if (either && !has_gpu()) return;
  ctx();
  std::vector<int>& devices = state_->ctx->devices;
  if (!devices.empty()) return;  // earlier work has started CUDA
  if (either && !worth_gpus(thread_seconds, state_->ctx->thread_count(), gpu_seconds))
    return say("--device auto selected the CPU: starting CUDA would take longer than it saves");
  device_list const list = list_devices();
  for (device const& d : list.devices) devices.push_back(d.ordinal);
  devices = of_this_rank(devices);
  if (!list.devices.empty())
    say(fmt::format("--device auto selected {} ({})", name_of_devices(devices),
                    list.devices.front().name));
}

std::string const& session::input(std::string const& path) {
  if (path.empty()) return path;
  std::error_code gone;
  if (path == "-" || std::filesystem::is_fifo(path, gone))
    expect_one_process(path == "-" ? "standard input" : path);
  state_->inputs.try_emplace(path, path == "-" ? file_state{} : file_state_of(path));
  for (named_output const& output : state_->outputs) expect_apart({{"", path}}, {output});
  if (state_->outputs.empty()) expect_apart({{"", path}}, {{"--manifest", run.manifest}});
  return path;
}

std::string const& session::index(std::string const& path) {
  state_->indexes.insert(path);
  return input(path);
}

void session::inputs(std::vector<named_input> const& all) const {
  for (auto one = all.begin(); one != all.end(); ++one)
    for (auto other = all.begin(); other != one; ++other)
      if (same_stream(other->path, one->path)) {
        std::string const what = one->path == "-" ? "standard input" : one->path;
        throw usage_error(
            one->option == other->option
                ? fmt::format("{}: found {} twice, expected it once", one->option, what)
                : fmt::format("{} and {} cannot both be {}, expected a file for one of them",
                              other->option, one->option, what));
      }
}

namespace {

/// Throws `output_error` if a file cannot be created at the path. Does not open devices and pipes:
/// closing would signal their end to the reader.
void expect_writable(std::string const& path) {
  std::error_code absent;
  auto const type = std::filesystem::status(path, absent).type();
  using enum std::filesystem::file_type;
  if (path.empty() || path == "-" || (type != regular && type != directory && type != not_found))
    return;
  output_file const unused(path);
}

}  // namespace

void session::outputs(std::vector<named_output> const& all, std::string const& made,
                      std::string_view json_output) {
  std::vector<named_output> with_manifest{{"--manifest", run.manifest}};
  with_manifest.insert(with_manifest.end(), all.begin(), all.end());
  expect_apart({}, with_manifest);
  outputs_in_folder(all);
  if (!state_->ranks.is_first()) return;
  for (named_output const& output : all) {
    bool const is_option =
        output.name.starts_with("--") && output.name.find_first_of(" '") == std::string::npos;
    if (run.json && is_option && output.name != json_output && !output.path.empty() &&
        same_output(output.path, "-"))
      throw usage_error(fmt::format(
          "--json needs {} FILE, because both would write to standard output", output.name));
    bool const is_in_made = !made.empty() && output.path.starts_with(made + "/");
    if (is_option && !is_in_made) expect_writable(output.path);
  }
}

void session::outputs_in_folder(std::vector<named_output> const& all) {
  std::vector<named_path> inputs;
  for (auto const& input : state_->inputs) inputs.push_back({"", input.first});
  named_output const manifest{"--manifest", run.manifest};
  expect_apart(inputs, {manifest});
  for (named_output const& output : all) {
    expect_apart(inputs, {output});
    expect_apart({}, {manifest, output});
  }
  state_->outputs = all;
  state_->outputs.push_back(manifest);
  state_->prints = std::ranges::none_of(state_->outputs, [](named_output const& output) {
    return !output.path.empty() && same_output(output.path, "-");
  });
}

folder_lock session::hold(std::string const& folder) const {
  make_folders(folder);
  return folder_lock(folder);
}

bool session::prints_json() const {
  return run.json && state_->prints;
}

void session::warn(std::string const& message) {
  say("warning: " + message);
}

void session::say(std::string const& message) {
  if (!run.quiet) state_->screen.message(message);
}

void session::say_at_start(std::string message) {
  state_->at_start.push_back(std::move(message));
}

void session::expect_device_for(std::string_view engine, runs_on where,
                                std::string_view when) const {
  if (run.device.starts_with("cuda") && !includes(where, runs_on::gpus))
    throw device_error(fmt::format("--device {}: engine {} runs on {} alone{}{}", run.device,
                                   engine, name_of(where), when.empty() ? "" : " ", when));
}

void session::exit_with(int code) {
  state_->exit_code = code;
}

int session::exit_code() const {
  return state_->exit_code;
}

void session::note(std::string const& key, nlohmann::ordered_json value) {
  state_->notes[key] = std::move(value);
}

session::stage_timer::stage_timer(session& owner, std::string name)
    : owner_(owner), name_(std::move(name)), cpu_begin_(cpu_seconds()) {}

session::stage_timer::~stage_timer() {
  owner_.took(name_, watch_.seconds());
  add_seconds(owner_.state_->cpu_timings, name_, cpu_seconds() - cpu_begin_);
}

void session::took(std::string const& stage, double seconds) {
  add_seconds(state_->timings, stage, seconds);
}

nlohmann::json session::timings() const {
  return state_->timings;
}

nlohmann::ordered_json session::manifest() {
  nlohmann::ordered_json json = manifest_of(state_->command, ctx(), state_->inputs, state_->known);
  for (auto const& [key, value] : state_->notes.items()) json[key] = value;
  json["seconds"] = state_->timings;
  json["seconds"]["total"] = state_->watch.seconds();
  json["cpu_seconds"] = state_->cpu_timings;
  json["cpu_seconds"]["total"] = cpu_seconds();
  json["peak_memory_bytes"] = peak_memory_bytes();
  return json;
}

void session::finish() {
  state_->screen.end_progress();
  expect_unchanged_inputs();
  if (!run.manifest.empty() && state_->ranks.size() > 1) {
    mpi::traffic const traffic = state_->ranks.exchanged();
    note("exchanges", traffic.exchanges);
    note("exchanged_bytes", traffic.bytes);
    note("peak_memory_bytes_of_ranks", gather_values(state_->ranks, peak_memory_bytes()));
  }
  if (!state_->manifest) return;
  state_->manifest->write(json_text_of(manifest()));
  state_->manifest->commit();
}

std::vector<std::string> split_list(std::string const& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    std::size_t const end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace rulerank::apps
