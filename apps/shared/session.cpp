#include "apps/shared/session.hpp"

#include "apps/shared/console.hpp"
#include "apps/shared/device_option.hpp"
#include "apps/shared/manifest.hpp"
#include "core/devices.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rulerank::apps {

namespace {
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
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
  runs_on engines = runs_on::nowhere;
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

void session::start(runs_on engines) {
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
  if (run.device != "auto") {
    ctx.devices = devices_named(run.device);
  } else if (includes(state_->engines, runs_on::gpus)) {
    device_list const list = list_devices();
    for (device const& d : list.devices) ctx.devices.push_back(d.ordinal);
    if (!list.devices.empty())
      say(fmt::format("--device auto took {} ({})", name_of_devices(ctx.devices),
                      list.devices.front().name));
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

void session::expect_device_for(std::string_view engine, runs_on where,
                                std::string_view when) const {
  if (run.device.starts_with("cuda") && !includes(where, runs_on::gpus))
    throw device_error(fmt::format("--device {}: engine {} runs on {}{}{}", run.device, engine,
                                   name_of(where), when.empty() ? "" : " ", when));
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
  nlohmann::ordered_json json = manifest_of(state_->command, ctx(), state_->inputs);
  for (auto const& [key, value] : state_->notes.items()) json[key] = value;
  json["seconds"] = state_->timings;
  json["seconds"]["total"] = seconds_since(state_->begin);
  json["peak_memory_bytes"] = peak_memory_bytes();
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
