#include "apps/shared/session.hpp"

#include "al/sampler.hpp"
#include "bitmaps/bit_kernels.hpp"
#include "core/devices.hpp"
#include "core/error.hpp"
#include "core/machine.hpp"
#include "core/output_file.hpp"
#include "core/sha256.hpp"
#include "core/version.hpp"
#include "l2r/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rulerank::apps {

namespace {
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// Standard error, shared by messages and progress: a bar on a terminal, a line every 10 s
/// elsewhere. Safe from any thread.
class console {
 public:
  void message(std::string_view text) {
    std::lock_guard const lock(mutex_);
    clear();
    fmt::print(stderr, "rulerank: {}\n", text);
  }
  void progress(std::string_view stage, std::uint64_t done, std::uint64_t total) {
    std::lock_guard const lock(mutex_);
    auto const now = clock::now();
    if (now - shown_ < interval_) return;
    shown_ = now;
    double const share =
        total == 0 ? 0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    std::string text = total == 0
                           ? fmt::format("{}: {}", stage, done)
                           : fmt::format("{}: {}/{} ({:.0f} %)", stage, done, total, 100 * share);
    if (!terminal_) {
      fmt::print(stderr, "rulerank: {}\n", text);
      return;
    }
    if (total != 0)
      text =
          fmt::format("[{:-<30}] {}", std::string(static_cast<std::size_t>(30 * share), '#'), text);
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
    drawn_ = true;
  }
  void end_progress() {
    std::lock_guard const lock(mutex_);
    clear();
  }

 private:
  void clear() {
    if (std::exchange(drawn_, false)) fmt::print(stderr, "\r\033[K");
  }

  std::mutex mutex_;
  bool const terminal_ = ::isatty(STDERR_FILENO) != 0;
  clock::duration const interval_ = std::chrono::milliseconds(terminal_ ? 100 : 10'000);
  clock::time_point shown_ = clock::now();
  bool drawn_ = false;
};

std::string device_name(std::vector<int> const& ordinals) {
  return ordinals.empty() ? "cpu" : fmt::format("cuda:{}", fmt::join(ordinals, ","));
}

/// The devices that a --device other than auto names.
std::vector<int> chosen_devices(std::string const& option) {
  if (option == "cpu") return {};
  if (option != "cuda" && !option.starts_with("cuda:"))
    throw usage_error(
        fmt::format("--device: found '{}', expected auto, cpu, cuda or cuda:0,1,...", option));
  std::vector<int> ordinals;
  if (option.starts_with("cuda:"))
    for (std::string const& word : split_list(option.substr(5))) {
      int ordinal = -1;
      auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), ordinal);
      if (status != std::errc{} || end != word.data() + word.size() || ordinal < 0)
        throw usage_error(
            fmt::format("--device {}: found '{}', expected a device number", option, word));
      if (std::find(ordinals.begin(), ordinals.end(), ordinal) != ordinals.end())
        throw usage_error(fmt::format("--device {}: device {} twice", option, ordinal));
      ordinals.push_back(ordinal);
    }
  device_list const list = list_devices();
  if (list.devices.empty())
    throw device_error(fmt::format("--device {}: no CUDA device: {}", option, list.why_none));
  for (int const ordinal : ordinals)
    if (std::none_of(list.devices.begin(), list.devices.end(),
                     [&](device const& d) { return d.ordinal == ordinal; }))
      throw device_error(fmt::format("--device {}: there is no CUDA device {}", option, ordinal));
  if (ordinals.empty())
    for (device const& d : list.devices) ordinals.push_back(d.ordinal);
  return ordinals;
}

/// Whether any engine that can be chosen runs on a GPU.
bool engines_on_gpu() {
  auto const on_gpu = [](auto const& engine) {
    if constexpr (requires { engine.where; })
      return includes(engine.where, runs_on::gpus);
    else
      return engine.runs_on.find("cuda") != engine.runs_on.npos;
  };
  return std::ranges::any_of(al::engines(), on_gpu) || std::ranges::any_of(l2r::engines(), on_gpu);
}

/// A pipe or standard input is gone once it was read: only what lies on disk has a checksum.
nlohmann::ordered_json input_entry(std::string const& path) {
  nlohmann::ordered_json entry{{"path", path}, {"sha256", nullptr}};
  std::error_code gone;
  if (path != "-" && std::filesystem::is_regular_file(path, gone))
    entry["sha256"] = sha256_of_file(path);
  return entry;
}

/// Whether two inputs are one stream, which can be read once.
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

}  // namespace

struct session::state {
  std::vector<std::string> command;
  clock::time_point begin = clock::now();
  std::optional<context> ctx;
  std::stop_source stop;
  bool engines = false;
  std::optional<output_file> manifest;
  console screen;
  std::set<std::string> inputs;
  std::vector<named_output> outputs;
  int exit_code = 0;
  bool prints = true;  // no output goes to standard output
  nlohmann::ordered_json notes = nlohmann::ordered_json::object();
  nlohmann::ordered_json timings = nlohmann::ordered_json::object();
};

session::session(std::vector<std::string> command) : state_(std::make_unique<state>()) {
  state_->command = std::move(command);
}
session::~session() {
  state_->screen.end_progress();
}

void session::start(bool engines) {
  state_->engines = engines;
  if (!run.manifest.empty()) state_->manifest.emplace(run.manifest);
}

void session::request_stop() {
  state_->stop.request_stop();
}

context const& session::ctx() {
  if (state_->ctx) return *state_->ctx;
  context ctx;
  ctx.threads = run.threads;
  ctx.seed = run.seed;
  ctx.stop = state_->stop.get_token();
  if (!run.quiet)
    ctx.progress = [this](std::string_view stage, std::uint64_t done, std::uint64_t total) {
      state_->screen.progress(stage, done, total);
      return true;
    };
  if (run.device == "auto") {
    if (state_->engines) {
      device_list const list = list_devices();
      if (engines_on_gpu())
        for (device const& d : list.devices) ctx.devices.push_back(d.ordinal);
      say(fmt::format("--device auto took {} ({})", device_name(ctx.devices),
                      list.devices.empty()  ? list.why_none
                      : ctx.devices.empty() ? "no engine of this version runs on a GPU"
                                            : list.devices.front().name));
    }
  } else {
    ctx.devices = chosen_devices(run.device);
    if (state_->engines && !ctx.devices.empty() && !engines_on_gpu())
      throw device_error(
          fmt::format("--device {}: no engine of this version runs on a GPU, expected auto or cpu",
                      run.device));
  }
  state_->ctx = std::move(ctx);
  return *state_->ctx;
}

std::string const& session::input(std::string const& path) {
  if (path.empty()) return path;
  state_->inputs.insert(path);
  for (named_output const& output : state_->outputs) expect_apart(path, output);
  if (state_->outputs.empty()) expect_apart(path, {"--manifest", run.manifest});
  return path;
}

void session::expect_apart(std::string const& input, named_output const& output) {
  std::error_code gone;  // what is no file cannot be overwritten
  if (output.path.empty() || input == "-" || !std::filesystem::is_regular_file(input, gone)) return;
  if (same_output(input, output.path))
    throw usage_error(
        fmt::format("{} {} is an input too, expected another file", output.option, output.path));
}

void session::inputs(std::vector<named_input> const& all) const {
  for (auto one = all.begin(); one != all.end(); ++one)
    for (auto other = all.begin(); other != one; ++other)
      if (same_stream(other->path, one->path)) {
        std::string const what = one->path == "-" ? "standard input" : one->path;
        throw usage_error(one->option == other->option
                              ? fmt::format("{} is {} twice, expected it once", one->option, what)
                              : fmt::format("{} and {} cannot both be {}, expected a file",
                                            other->option, one->option, what));
      }
}

void session::outputs(std::vector<named_output> const& all) {
  std::vector<named_output> seen;
  if (!run.manifest.empty()) seen.push_back({"--manifest", run.manifest});
  for (named_output const& output : all) {
    if (output.path.empty()) continue;
    for (named_output const& other : seen)
      if (same_output(output.path, other.path))
        throw usage_error(
            output.path == other.path
                ? fmt::format("{} and {} are both {}, expected different files", other.option,
                              output.option, output.path == "-" ? "standard output" : output.path)
                : fmt::format("{} {} and {} {} are the same, expected different files",
                              other.option, other.path, output.option, output.path));
    seen.push_back(output);
  }
  for (std::string const& input : state_->inputs)
    for (named_output const& output : seen) expect_apart(input, output);
  state_->outputs = seen;
  state_->prints = std::none_of(seen.begin(), seen.end(), [](named_output const& output) {
    return same_output(output.path, "-");
  });
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

void session::expect_device_for(std::string_view engine, std::string_view runs_on) const {
  if (run.device.starts_with("cuda") && runs_on.find("cuda") == runs_on.npos)
    throw device_error(
        fmt::format("--device {}: engine {} runs on {}", run.device, engine, runs_on));
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
    : owner_(owner), name_(std::move(name)), begin_(clock::now()) {}

session::stage_timer::~stage_timer() {
  owner_.took(name_, seconds_since(begin_));
}

void session::took(std::string const& stage, double seconds) {
  auto& slot = state_->timings[stage];
  slot = (slot.is_number() ? slot.get<double>() : 0.0) + seconds;
}

nlohmann::json session::timings() const {
  return state_->timings;
}

nlohmann::ordered_json session::manifest() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  machine const here = this_machine();
  nlohmann::ordered_json json;
  json["command"] = state_->command;
  json["version"] = version;
  json["commit"] = commit();
  json["compiler"] = compiler;
  json["build_type"] = build_type;
  json["machine"] = {{"cpu", here.cpu},
                     {"cores", here.cores},
                     {"memory_bytes", here.memory},
                     {"instruction_set", bitmaps::instruction_set()}};
  json["device"] = device_name(ctx().devices);
  json["threads"] = ctx().thread_count();
  json["seed"] = run.seed;
  json["inputs"] = nlohmann::ordered_json::array();
  for (std::string const& path : state_->inputs) json["inputs"].push_back(input_entry(path));
  for (auto const& [key, value] : state_->notes.items()) json[key] = value;
  json["seconds"] = state_->timings;
  json["seconds"]["total"] = seconds_since(state_->begin);
  json["peak_memory_bytes"] = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return json;
}

void session::finish() {
  state_->screen.end_progress();
  if (!state_->manifest) return;
  // A path need not be UTF-8; JSON must be.
  auto const replace = nlohmann::ordered_json::error_handler_t::replace;
  state_->manifest->write(manifest().dump(2, ' ', false, replace) + "\n");
  state_->manifest->commit();
}

namespace {

/// CLI11 lets strtoull read counts and seeds: "-1" would be a large number, "010" eight.
void check_counts(std::vector<CLI::Option const*> const& options) {
  for (CLI::Option const* option : options) {
    if (!option->get_type_name().starts_with("UINT")) continue;
    for (std::string const& word : option->results()) {
      std::uint64_t value = 0;
      auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (status != std::errc{} || end != word.data() + word.size() ||
          (word.size() > 1 && word.front() == '0'))
        throw usage_error(fmt::format("{}: found '{}', expected an integer of 0 or more",
                                      option->get_name(), word));
    }
  }
}

/// Options that name files and folders, whatever the verb. An empty --group is none for its input.
constexpr std::array path_options{
    "--train",    "--test",         "--apply",  "--in",      "--qrels",       "--run",
    "--scores",   "--folds",        "--model",  "--ids",     "--out",         "--out-dir",
    "--manifest", "--collection",   "--index",  "--queries", "--discretizer", "--classes",
    "--topics",   "--transactions", "--appear", "--names",   "--vali",        "--trials",
    "--resume",   "--settings",     "--pending"};

void check_paths(std::vector<CLI::Option const*> const& options) {
  for (CLI::Option const* option : options) {
    if (std::ranges::find(path_options, option->get_name()) == path_options.end()) continue;
    for (std::string const& path : option->results())
      if (path.empty())
        throw usage_error(fmt::format(
            "{}: the path is empty, expected the name of a file or folder", option->get_name()));
  }
}

bool has_engines(std::vector<CLI::Option const*> const& options) {
  return std::any_of(options.begin(), options.end(), [](CLI::Option const* option) {
    return option->get_name().ends_with("engine");
  });
}

}  // namespace

CLI::App* add_verb(CLI::App& program, session& owner, std::string const& name,
                   std::string const& description, std::string const& example,
                   std::function<void()> body) {
  CLI::App* verb = program.add_subcommand(name, description);
  verb->footer("Example:\n  " + example);
  std::string const group = "Common options";
  verb->add_option("--device", owner.run.device, "auto, cpu, cuda or cuda:0,1,...")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--threads", owner.run.threads, "CPU threads; 0: all there are")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str()
      ->group(group);
  verb->add_option("--seed", owner.run.seed, "Seed of whatever is drawn at random")
      ->capture_default_str()
      ->group(group);
  verb->add_flag("--quiet", owner.run.quiet, "Neither progress nor warnings")->group(group);
  verb->add_flag("--json", owner.run.json, "Results for machines")->group(group);
  verb->add_option("--manifest", owner.run.manifest, "Write what was run to this JSON file")
      ->group(group);
  verb->callback([body = std::move(body), &owner, verb] {
    auto const options = std::as_const(*verb).get_options();
    check_counts(options);
    check_paths(options);
    owner.start(has_engines(options));
    body();
    owner.finish();
  });
  return verb;
}

void expect_manifest_beside_folds(session& owner, std::string const& out_dir, std::size_t folds) {
  for (std::size_t fold = 1; fold <= folds; ++fold)
    for (char const* const part : {"train", "vali", "test"}) {
      std::string const name = fmt::format("Fold{}/{}.txt", fold, part);
      owner.outputs({{fmt::format("--out-dir's {}", name),
                      (std::filesystem::path(out_dir) / name).string()}});
    }
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
