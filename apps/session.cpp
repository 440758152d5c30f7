#include "apps/session.hpp"

#include "core/devices.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/sha256.hpp"
#include "core/version.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <mutex>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rulerank::apps {

namespace {
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// A bar on a terminal, a line every 10 s elsewhere.
class progress_display {
 public:
  bool operator()(std::string_view stage, std::uint64_t done, std::uint64_t total) {
    std::lock_guard const lock(mutex_);
    auto const now = clock::now();
    bool const terminal = ::isatty(STDERR_FILENO) != 0;
    double const since = std::chrono::duration<double>(now - shown_).count();
    if (since < (terminal ? 0.1 : 10.0)) return true;
    shown_ = now;
    std::string text =
        total == 0 ? fmt::format("{}: {}", stage, done)
                   : fmt::format("{}: {}/{} ({:.0f} %)", stage, done, total,
                                 100.0 * static_cast<double>(done) / static_cast<double>(total));
    if (terminal && total != 0) {
      auto const filled =
          static_cast<std::size_t>(30.0 * static_cast<double>(done) / static_cast<double>(total));
      text = fmt::format("[{:-<30}] {}", std::string(std::min<std::size_t>(filled, 30), '#'), text);
    }
    if (terminal)
      fmt::print(stderr, "\r\033[K{}", text);
    else
      fmt::print(stderr, "rulerank: {}\n", text);
    std::fflush(stderr);
    drawn_ = terminal;
    return true;
  }
  void clear() {
    std::lock_guard const lock(mutex_);
    if (std::exchange(drawn_, false)) fmt::print(stderr, "\r\033[K");
  }

 private:
  std::mutex mutex_;
  clock::time_point shown_ = clock::now();
  bool drawn_ = false;
};

}  // namespace

struct session::state {
  std::vector<std::string> command;
  clock::time_point begin = clock::now();
  std::optional<context> ctx;
  std::stop_source stop;
  std::string device_used = "cpu";
  progress_display progress;
  std::set<std::string> inputs;
  nlohmann::ordered_json notes = nlohmann::ordered_json::object();
  nlohmann::ordered_json timings = nlohmann::ordered_json::object();
};

session::session(std::vector<std::string> command) : state_(std::make_unique<state>()) {
  state_->command = std::move(command);
}
session::~session() {
  state_->progress.clear();
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
      return state_->progress(stage, done, total);
    };
  if (run.device == "auto") {
    for (device const& d : list_devices().devices) ctx.devices.push_back(d.ordinal);
  } else if (run.device == "cuda" || run.device.starts_with("cuda:")) {
    device_list const list = list_devices();
    if (list.devices.empty())
      throw device_error(fmt::format("--device {}: {}", run.device, list.why_none));
    if (run.device == "cuda") {
      for (device const& d : list.devices) ctx.devices.push_back(d.ordinal);
    } else {
      for (std::string const& word : split_list(run.device.substr(5))) {
        int ordinal = -1;
        auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), ordinal);
        if (status != std::errc{} || end != word.data() + word.size() || ordinal < 0)
          throw usage_error(
              fmt::format("--device {}: '{}' is not a device number", run.device, word));
        if (std::none_of(list.devices.begin(), list.devices.end(),
                         [&](device const& d) { return d.ordinal == ordinal; }))
          throw device_error(
              fmt::format("--device {}: there is no CUDA device {}", run.device, ordinal));
        ctx.devices.push_back(ordinal);
      }
    }
  } else if (run.device != "cpu") {
    throw usage_error(
        fmt::format("--device {}: expected auto, cpu, cuda or cuda:0,1,...", run.device));
  }
  if (!ctx.devices.empty())
    state_->device_used = fmt::format("cuda:{}", fmt::join(ctx.devices, ","));
  state_->ctx = std::move(ctx);
  return *state_->ctx;
}

std::string const& session::input(std::string const& path) {
  if (!path.empty() && path != "-") state_->inputs.insert(path);
  return path;
}

void session::warn(std::string const& message) {
  if (!run.quiet) say("warning: " + message);
}

void session::say(std::string const& message) {
  if (run.quiet) return;
  state_->progress.clear();
  fmt::print(stderr, "rulerank: {}\n", message);
}

void session::note(std::string const& key, nlohmann::json value) {
  state_->notes[key] = std::move(value);
}

session::stage_timer::stage_timer(session& owner, std::string name)
    : owner_(owner), name_(std::move(name)), begin_(clock::now()) {}

session::stage_timer::~stage_timer() {
  auto& slot = owner_.state_->timings[name_];
  slot = (slot.is_number() ? slot.get<double>() : 0.0) + seconds_since(begin_);
}

nlohmann::json session::timings() const {
  return state_->timings;
}

void session::finish() {
  state_->progress.clear();
  if (run.manifest.empty()) return;
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  nlohmann::ordered_json json;
  json["command"] = state_->command;
  json["version"] = version;
  json["compiler"] = compiler;
  json["build_type"] = build_type;
  json["device"] = ctx().devices.empty() ? "cpu" : state_->device_used;
  json["threads"] = ctx().thread_count();
  json["seed"] = run.seed;
  json["inputs"] = nlohmann::ordered_json::array();
  for (std::string const& path : state_->inputs)
    json["inputs"].push_back({{"path", path}, {"sha256", sha256_of_file(path)}});
  for (auto const& [key, value] : state_->notes.items()) json[key] = value;
  json["seconds"] = state_->timings;
  json["seconds"]["total"] = seconds_since(state_->begin);
  json["peak_memory_bytes"] = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  write_file(run.manifest, json.dump(2) + "\n");
}

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
  verb->callback([body = std::move(body), &owner] {
    body();
    owner.finish();
  });
  return verb;
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
