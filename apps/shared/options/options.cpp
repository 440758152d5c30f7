#include "apps/shared/options/options.hpp"

#include "apps/shared/options/help.hpp"
#include "core/named_values.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::inline v0::apps {

std::string shown_words(std::vector<std::string> const& words) {
  constexpr std::size_t longest_words = 36;
  std::string const joined = fmt::format("{}", fmt::join(words, "|"));
  return joined.size() <= longest_words ? joined : "";
}

namespace {

verb_app& app_of(CLI::App& verb) {
  return dynamic_cast<verb_app&>(verb);
}

/// The apps of the command line: the program, then the verbs named.
std::vector<CLI::App const*> apps_of(CLI::App const& program) {
  std::vector<CLI::App const*> apps{&program};
  for (auto below = program.get_subcommands(); !below.empty();
       below = apps.back()->get_subcommands())
    apps.push_back(below.front());
  return apps;
}

std::vector<std::string> names_of_options(CLI::App const& app) {
  std::vector<std::string> names;
  for (CLI::Option const* option : app.get_options())
    for (std::string const& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

void add_common_options(CLI::App& verb, run_options& run) {
  {
    help_group const group(verb, machine_group);
    offer_words(verb,
                value_option(verb, "--device auto|cpu|cuda|cuda:0,1,...", run.device,
                             "Devices to run on: the CPU, all GPUs (cuda), or the GPUs with these "
                             "numbers; auto uses GPUs if there are any and the work is large"),
                {"auto", "cpu", "cuda", "cuda:0"});
    number_option(verb, "--threads", run.threads,
                  "Number of CPU threads, 4096 at most; 0: all that the process may use",
                  {0, 4096});
  }
  help_group const group(verb, general_group);
  for (char const* const name : {"--help", "--help-all"})
    verb.get_option(name)->group(general_group);
  number_option(verb, "--seed", run.seed, "Seed of all random choices");
  verb.add_flag("--quiet", run.quiet, "Print no progress, notes and warnings");
  verb.add_flag("--json", run.json, "Print results as JSON");
  path_option(verb, "--manifest", run.manifest,
              "Write the command, the versions, the inputs' checksums and the timings to this JSON "
              "file");
}

void expect_json(CLI::Option const& format) {
  if (format.count() > 0 && format.as<std::string>() != "json")
    throw usage_error(
        fmt::format("--json cannot be combined with --format {}, expected one of them",
                    format.as<std::string>()));
}

}  // namespace

CLI::App* add_verb(CLI::App& program, session& owner, std::string const& name,
                   std::string const& description, std::string const& example,
                   std::function<void()> body) {
  auto const made = std::make_shared<verb_app>(name, description, program);
  program.add_subcommand(made);
  verb_app* const verb = made.get();  // the program owns it
  verb->footer(example);
  verb->option_defaults()->always_capture_default();
  verb->callback([body = std::move(body), &owner, verb] {
    owner.start();
    if (owner.run.json && verb->format != nullptr) expect_json(*verb->format);
    if (!verb->over_ranks) owner.expect_one_process(verb->get_name());
    body();
    owner.finish();
  });
  add_common_options(*verb, owner.run);
  return verb;
}

void usual_options(CLI::App& verb, std::initializer_list<char const*> names) {
  for (char const* const name : names) app_of(verb).usual.push_back(verb.get_option(name));
}

CLI::Option* format_option(CLI::App& verb, CLI::Option* option) {
  app_of(verb).format = option;
  return option;
}

void runs_over_ranks(CLI::App& verb) {
  app_of(verb).over_ranks = true;
  verb.footer(
      verb.get_footer() +
      fmt::format(
          "\nmpirun -n 4 {} ...\n  divides the work among 4 processes, with the same results",
          full_name(verb)));
}

void renamed_option(CLI::App& verb, std::string const& before, std::string const& since,
                    CLI::Option const* now) {
  app_of(verb).renamed[before] = {now->get_name(), since};
}

void renamed_value(CLI::App& verb, CLI::Option const* option, std::string const& before,
                   std::string const& since, std::string const& now) {
  app_of(verb).renamed[option->get_name() + ' ' + before] = {now, since};
}

std::vector<std::string> with_current_names(CLI::App const& program, std::vector<std::string> line,
                                            std::function<void(std::string const&)> const& note) {
  CLI::App const* app = &program;
  std::string option;  // most recent one
  for (std::string& word : line) {
    auto const below =
        app->get_subcommands([&](CLI::App const* verb) { return verb->get_name() == word; });
    if (!below.empty()) {
      app = below.front();
      continue;
    }
    auto const* const verb = dynamic_cast<verb_app const*>(app);
    if (verb == nullptr) continue;
    auto const use_current = [&](std::string const& before, std::size_t begin, std::size_t count) {
      auto const found = verb->renamed.find(before);
      if (found == verb->renamed.end()) return;
      auto const& [now, since] = found->second;
      note(fmt::format("{} is deprecated since version {}; use {}", before, since, now));
      word.replace(begin, count, now);
    };
    std::size_t value = 0;  // its start
    if (word.starts_with("--")) {
      use_current(std::string(word, 0, word.find('=')), 0, std::min(word.find('='), word.size()));
      option = word.substr(0, word.find('='));
      value = std::min(option.size() + 1, word.size());
    }
    use_current(option + ' ' + word.substr(value), value, word.size() - value);
  }
  return line;
}

namespace {

/// The verb's name without the program's, such as ` search text`.
std::string behind(CLI::App const& program, CLI::App const& verb) {
  return full_name(verb).substr(full_name(program).size());
}

/// Splits CLI11's message at two texts into three parts; all empty if it lacks the texts in this
/// order.
std::array<std::string_view, 3> around(std::string_view message, std::string_view first,
                                       std::string_view second) {
  std::size_t const end = message.rfind(second);
  std::size_t const begin = end == message.npos ? end : message.rfind(first, end);
  if (begin == message.npos || begin + first.size() > end) return {};
  return {message.substr(0, begin),
          message.substr(begin + first.size(), end - begin - first.size()),
          message.substr(end + second.size())};
}

}  // namespace

void expect_known_words(CLI::App const& program) {
  for (CLI::App const* app : apps_of(program)) {
    std::vector<std::string> const rest = app->remaining();
    if (rest.empty()) continue;
    bool const verbs = app->get_require_subcommand_min() > 0 && app->get_subcommands().empty() &&
                       !rest.front().starts_with('-');
    auto const option =
        std::ranges::find_if(rest, [](std::string const& word) { return word.starts_with('-'); });
    std::string const& word = verbs || option == rest.end() ? rest.front() : *option;
    std::vector<std::string> const below = verb_names(*app);
    if (verbs)
      throw unknown_name(
          "found", word,
          (app == &program ? "a verb" : list_of_names(below, name_list::alternatives)) +
              did_you_mean(word, below));
    throw unknown_name("found", word,
                       "an option" + (app == &program ? "" : " of" + behind(program, *app)) +
                           option_meant(word, names_of_options(*app)));
  }
  CLI::App const* const last = apps_of(program).back();
  if (last->get_require_subcommand_min() > 0)
    throw usage_error(fmt::format("found nothing after {}, expected {}", last->get_name(),
                                  list_of_names(verb_names(*last), name_list::alternatives)));
}

std::string words_of(CLI::ParseError const& wrong) {
  std::string const text = wrong.what();
  if (auto const [option, most, found] = around(text, ": At Most ", " required but received ");
      !option.empty())
    return fmt::format("{}: given {} times, expected {}", option, found,
                       most == "1" ? "once" : fmt::format("at most {} times", most));
  if (auto const [option, least, found] = around(text, ": At Least ", " required but received ");
      !option.empty())
    return fmt::format("{}: found {} values, expected {} or more", option, found, least);
  constexpr std::string_view missing = " missing";
  if (auto const [option, count, type] = around(text, ": ", " required ");
      !option.empty() && type.ends_with(missing)) {
    std::string_view const expected = type.substr(0, type.size() - missing.size());
    return fmt::format("{}: found nothing after it, expected {}", option,
                       expected.empty() ? "a value" : expected);
  }
  return text;
}

CLI::Option* expect_path(CLI::App& verb, CLI::Option* option) {
  auto const read = [](std::string const& path) {
    if (path.empty())
      throw usage_error("found an empty path, expected the name of a file or folder");
  };
  return offer_files(verb, expect_read(verb, option, read, {}));
}

void expect_none_of(CLI::App const& verb, std::vector<char const*> const& names,
                    std::string_view message) {
  for (char const* const name : names)
    if (auto const* const option = verb.get_option_no_throw(name);
        option != nullptr && option->count() > 0)
      throw usage_error(fmt::format(fmt::runtime(message), name));
}

CLI::Option* offer_files(CLI::App& verb, CLI::Option* option) {
  app_of(verb).values[option->get_name()].files = true;
  return option;
}

CLI::Option* offer_words(CLI::App& verb, CLI::Option* option, std::vector<std::string> words,
                         bool list) {
  app_of(verb).values[option->get_name()] = {false, std::move(words), list};
  return option;
}

CLI::Option* expect_words(CLI::App& verb, CLI::Option* option, std::vector<std::string> words,
                          bool list) {
  auto const read = [words](std::string const& word) {
    if (std::ranges::find(words, word) == words.end())
      throw unknown_name("found", word, list_of_names(words, name_list::alternatives));
  };
  return expect_read(verb, option, read, words, list);
}

CLI::Option* expect_read(CLI::App& verb, CLI::Option* option,
                         std::function<void(std::string const&)> read,
                         std::vector<std::string> words, bool list) {
  offer_words(verb, option, words, list);
  CLI::Validator const each(
      [list, read = std::move(read), words = std::move(words)](std::string& value) {
        for (std::string const& word : list ? split_list(value) : std::vector{value}) try {
            read(word);
          } catch (usage_error const& e) {
            return e.what() + did_you_mean(word, words);
          }
        return std::string();
      },
      "");
  return option->check(each);
}

CLI::Option* size_option(CLI::App& verb, std::string const& name, std::uint64_t& bytes,
                         std::string description) {
  CLI::Validator const plain(
      [](std::string& text) {
        std::size_t const end = std::min(text.find_first_not_of("0123456789"), text.size());
        bool const unit = std::all_of(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(),
                                      [](unsigned char c) { return std::isalpha(c) != 0; });
        return unit && read_number<std::uint64_t>(text.substr(0, end))
                   ? std::string()
                   : fmt::format("found '{}', expected a size such as 512MB", text);
      },
      "");
  CLI::Validator const units = CLI::AsSizeValue(false).description("");
  return verb.add_option(name, bytes, std::move(description))
      ->transform(units)
      ->transform(plain)  // the last one added runs first
      ->type_name("SIZE");
}

CLI::Option* engine_option(CLI::App& verb, std::string const& name, std::string& engine,
                           std::string description, std::vector<std::string> const& engines,
                           std::function<void(std::string const&)> read) {
  description += fmt::format(": {}", fmt::join(engines, ", "));
  auto* const option = value_option(verb, name, engine, std::move(description), "NAME");
  option->group(machine_group);
  return expect_read(verb, option, std::move(read), engines);
}

}  // namespace rulerank::apps
