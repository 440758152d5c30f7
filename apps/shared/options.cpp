#include "apps/shared/options.hpp"

#include "core/error.hpp"

#include <charconv>
#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::apps {

namespace {

/// A verb, which knows where the engines that its options choose from run.
class verb_app final : public CLI::App {
 public:
  verb_app(std::string const& name, std::string const& description, CLI::App& program)
      : CLI::App(description, name, &program) {}

  runs_on engines = runs_on::nowhere;
};

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

CLI::Option* expect_path(CLI::Option* option) {
  CLI::Validator const not_empty(
      [](std::string& path) {
        return std::string(path.empty() ? "the path is empty, expected the name of a file or folder"
                                        : "");
      },
      "");
  return option->check(not_empty);
}

}  // namespace

CLI::App* add_verb(CLI::App& program, session& owner, std::string const& name,
                   std::string const& description, std::string const& example,
                   std::function<void()> body) {
  auto const made = std::make_shared<verb_app>(name, description, program);
  program.add_subcommand(made);
  verb_app* const verb = made.get();  // the program owns it
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
  path_option(*verb, "--manifest", owner.run.manifest, "Write what was run to this JSON file")
      ->group(group);
  verb->callback([body = std::move(body), &owner, verb] {
    check_counts(std::as_const(*verb).get_options());
    owner.start(verb->engines);
    body();
    owner.finish();
  });
  return verb;
}

CLI::Option* path_option(CLI::App& verb, std::string name, std::string& path,
                         std::string description) {
  return expect_path(verb.add_option(std::move(name), path, std::move(description)));
}

CLI::Option* path_option(CLI::App& verb, std::string name, std::vector<std::string>& paths,
                         std::string description) {
  return expect_path(verb.add_option(std::move(name), paths, std::move(description)));
}

CLI::Option* engine_option(CLI::App& verb, std::string name, std::string& engine,
                           std::string description, std::vector<std::string_view> const& engines,
                           runs_on where) {
  auto& owner = dynamic_cast<verb_app&>(verb);
  owner.engines = either(owner.engines, where);
  description +=
      fmt::format("{}auto, {}", description.empty() ? "" : ": ", fmt::join(engines, ", "));
  return verb.add_option(std::move(name), engine, std::move(description))->capture_default_str();
}

}  // namespace rulerank::apps
