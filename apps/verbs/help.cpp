#include "apps/shared/options/help.hpp"

#include "apps/shared/options/completion.hpp"
#include "apps/shared/options/suggestions.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/json_text.hpp"
#include "core/named_values.hpp"
#include "core/output_file.hpp"
#include "core/version.hpp"
#include "datasets/forms.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

// The verbs that describe the program itself: help, completion, and pages and forms, which the
// build and the documentation's tests use.
namespace rulerank::inline v0::apps {
namespace {

/// The app that words such as `search text` name. Throws `usage_error`.
CLI::App const& app_named(CLI::App const& program, std::vector<std::string> const& words) {
  CLI::App const* app = &program;
  for (std::string const& word : words) {
    auto const names = verb_names(*app);
    if (names.empty()) throw unknown_name("found", word, "nothing after " + words.front());
    if (std::ranges::find(names, word) == names.end())
      throw unknown_name("found", word, "a verb" + did_you_mean(word, names));
    app = app->get_subcommand(word);
  }
  return *app;
}

void write_into(std::filesystem::path const& folder, std::string const& name,
                std::string_view text) {
  make_folders(folder.string());
  write_file((folder / name).string(), text);
}

/// Writes a page for the program and one for each of its verbs.
void write_manual(CLI::App const& app, std::filesystem::path const& folder) {
  write_into(folder, page_name(app) + ".1", manual_page(app, version));
  for (CLI::App const* verb : shown_verbs(app)) write_manual(*verb, folder);
}

}  // namespace

void add_help(CLI::App& program, session&) {
  auto const words = std::make_shared<std::vector<std::string>>();
  CLI::App* const verb =
      program.add_subcommand("help", "Show the help of a verb, as rulerank VERB --help");
  verb->footer("rulerank help search text");
  verb->add_option("VERB", *words, "Verb to show; without it, all verbs are listed");
  verb->callback([words, &program] {
    write_file("-", help_text(app_named(program, *words), terminal_width()));
  });
}

void add_completion(CLI::App& program, session&) {
  auto const shell = std::make_shared<std::string>();
  CLI::App* const verb =
      program.add_subcommand("completion", "Print a completion script for bash, zsh or fish");
  verb->footer("rulerank completion bash > ~/.local/share/bash-completion/completions/rulerank");
  verb->add_option("SHELL", *shell, "Shell: bash, zsh or fish")->required();
  verb->callback([shell, &program] {
    std::vector<std::string> const shells{"bash", "zsh", "fish"};
    if (std::ranges::find(shells, *shell) == shells.end())
      throw unknown_name(
          "found", *shell,
          list_of_names(shells, name_list::alternatives) + did_you_mean(*shell, shells));
    write_file("-", *shell == "bash"  ? bash_completion(program)
                    : *shell == "zsh" ? zsh_completion(program)
                                      : fish_completion(program));
  });
}

void add_pages(CLI::App& program, session&) {
  auto const folder = std::make_shared<std::string>();
  CLI::App* const verb = program.add_subcommand("pages",
                                                "Write the manual pages and the completion scripts "
                                                "into the layout of an installation's share/");
  verb->group("");
  verb->add_option("FOLDER", *folder, "Folder for the files, created if missing")->required();
  verb->callback([folder, &program] {
    std::filesystem::path const share = *folder;
    write_manual(program, share / "man/man1");
    write_into(share / "bash-completion/completions", "rulerank", bash_completion(program));
    write_into(share / "zsh/site-functions", "_rulerank", zsh_completion(program));
    write_into(share / "fish/vendor_completions.d", "rulerank.fish", fish_completion(program));
  });
}

void add_forms(CLI::App& program, session&) {
  CLI::App* const verb = program.add_subcommand(
      "forms", "Print the forms of input files as JSON, for the tables of docs/reference/forms.md");
  verb->group("");
  verb->callback([] {
    auto json = nlohmann::ordered_json::array();
    for (datasets::file_form const& form : datasets::file_forms())
      json.push_back({{"input", form.input},
                      {"name", form.name},
                      {"recognized_by", form.recognized_by},
                      {"read", form.read},
                      {"options", form.options},
                      {"refused", form.refused}});
    write_file("-", json_text_of(json));
  });
}

}  // namespace rulerank::apps
