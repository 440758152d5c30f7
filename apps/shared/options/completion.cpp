#include "apps/shared/options/completion.hpp"

#include "apps/shared/options/help.hpp"
#include "apps/shared/options/options.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::inline v0::apps {

namespace {

struct completed_option {
  std::vector<std::string> names;
  std::string what;
  bool takes_value;
  value_words values;
};

/// The program or one of its verbs.
struct completed_verb {
  std::string path;  ///< such as `search text`; empty for the program
  std::vector<std::pair<std::string, std::string>> below;  ///< possible next words, with
                                                           ///< descriptions
  std::vector<completed_option> options;
};

completed_option option_of(CLI::App const& app, CLI::Option const& option) {
  completed_option found{{}, option.get_description(), option.get_type_size() != 0, {}};
  for (std::string const& name : option.get_lnames()) found.names.push_back("--" + name);
  for (std::string const& name : option.get_snames()) found.names.push_back("-" + name);
  if (auto const* const verb = dynamic_cast<verb_app const*>(&app))
    if (auto const at = verb->values.find(option.get_name()); at != verb->values.end())
      found.values = at->second;
  return found;
}

/// The words that may follow `help` and `completion`.
std::vector<std::string> words_behind(CLI::App const& app) {
  return app.get_name() == "completion" ? std::vector<std::string>{"bash", "zsh", "fish"}
         : app.get_name() == "help"     ? verb_names(*app.get_parent())
                                        : std::vector<std::string>();
}

/// The app and all verbs below it.
std::vector<completed_verb> verbs_of(CLI::App const& app) {
  std::string const name = full_name(app);
  std::vector<completed_verb> verbs{
      {name.substr(std::min(name.find(' '), name.size() - 1) + 1), {}, {}}};
  for (CLI::Option const* option : app.get_options())
    if (!option->get_group().empty() && !option->get_lnames().empty())
      verbs.front().options.push_back(option_of(app, *option));
  for (std::string const& word : words_behind(app)) verbs.front().below.emplace_back(word, "");
  for (CLI::App const* below : shown_verbs(app)) {
    verbs.front().below.emplace_back(below->get_name(), below->get_description());
    std::ranges::move(verbs_of(*below), std::back_inserter(verbs));
  }
  return verbs;
}

std::string joined(std::vector<std::string> const& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// Quotes a word for a POSIX shell or zsh.
std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (char const c : text) word += c == '\'' ? "'\\''" : std::string(1, c == '\n' ? ' ' : c);
  return word + "'";
}

/// The bash code for the value of one of these options.
std::string bash_case(completed_option const& option) {
  if (!option.takes_value) return {};
  std::string action = "return";
  if (option.values.files)
    action = "_rulerank_files";
  else if (!option.values.words.empty())
    action = fmt::format("{} {}", option.values.list ? "_rulerank_list" : "_rulerank_words",
                         shell_word(joined(option.values.words)));
  return fmt::format("        {}) {} ;;\n", fmt::join(option.names, "|"), action);
}

constexpr char const* bash_head = R"(# bash completion of rulerank
_rulerank_files() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); }
_rulerank_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
# The last word of a list that is separated by commas
_rulerank_list() {
  local before=
  [[ $cur == *,* ]] && before=${cur%,*},
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${cur##*,}")
}
_rulerank() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb= word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    [[ $word == -* ]] && break
    verb+="${verb:+ }$word"
  done
  case $verb in
)";

std::string zsh_escaped(std::string_view text) {
  std::string safe;
  for (char const c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string zsh_option(completed_option const& option, std::string const& name) {
  std::string spec = fmt::format("*{}[{}]", name, zsh_escaped(option.what));
  if (option.takes_value) {
    std::string const words = joined(option.values.words);
    spec += option.values.files  ? ":file:_files"
            : words.empty()      ? ":value: "
            : option.values.list ? fmt::format(":words:_values -s , word {}", words)
                                 : fmt::format(":word:({})", words);
  }
  return shell_word(spec);
}

/// Quotes a word for fish.
std::string fish_word(std::string_view text) {
  std::string word = "'";
  for (char const c : text) {
    if (c == '\'' || c == '\\') word += '\\';
    word += c == '\n' ? ' ' : c;
  }
  return word + "'";
}

}  // namespace

std::string bash_completion(CLI::App const& program) {
  std::string script = bash_head;
  for (completed_verb const& verb : verbs_of(program)) {
    std::vector<std::string> words;
    for (auto const& [word, what] : verb.below) words.push_back(word);
    std::string cases;
    for (completed_option const& option : verb.options) {
      words.insert(words.end(), option.names.begin(), option.names.end());
      cases += bash_case(option);
    }
    script += fmt::format("    {})\n", shell_word(verb.path));
    std::string const action = fmt::format("_rulerank_words {} ;;", shell_word(joined(words)));
    script += cases.empty() ? fmt::format("      {}\n", action)
                            : fmt::format("      case $prev in\n{}        *) {}\n      esac ;;\n",
                                          cases, action);
  }
  return script + "  esac\n}\ncomplete -F _rulerank rulerank\n";
}

std::string zsh_completion(CLI::App const& program) {
  std::string script =
      "#compdef rulerank\n_rulerank() {\n  local verb= i\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n    [[ $words[i] == -* ]] && break\n"
      "    verb+=\"${verb:+ }$words[i]\"\n  done\n  case $verb in\n";
  for (completed_verb const& verb : verbs_of(program)) {
    script += fmt::format("    {})\n", shell_word(verb.path));
    std::string specs;
    for (completed_option const& option : verb.options)
      for (std::string const& name : option.names)
        specs += fmt::format(" \\\n        {}", zsh_option(option, name));
    if (!verb.below.empty()) {
      std::string described;
      for (auto const& [word, what] : verb.below)
        described += " " + shell_word(what.empty() ? word : word + ":" + zsh_escaped(what));
      script += fmt::format("      local -a below=({} )\n      _describe verb below\n", described);
    }
    if (!specs.empty()) script += fmt::format("      _arguments{}\n", specs);
    script += "      ;;\n";
  }
  return script +
         "  esac\n}\nif [[ $funcstack[1] == _rulerank ]]; then _rulerank \"$@\"; else compdef "
         "_rulerank rulerank; fi\n";
}

std::string fish_completion(CLI::App const& program) {
  std::string script =
      "# fish completion of rulerank\n"
      "function __rulerank_verb\n"
      "  set -l words (commandline -opc)\n  set -l verb\n  for word in $words[2..-1]\n"
      "    string match -q -- '-*' $word; and break\n    set -a verb $word\n  end\n"
      "  test \"$verb\" = \"$argv[1]\"\nend\ncomplete -c rulerank -f\n";
  for (completed_verb const& verb : verbs_of(program)) {
    std::string const when = fish_word("__rulerank_verb " + fish_word(verb.path));
    for (auto const& [word, what] : verb.below)
      script +=
          fmt::format("complete -c rulerank -n {} -a {} -d {}\n", when, word, fish_word(what));
    for (completed_option const& option : verb.options) {
      std::string names;
      for (std::string const& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      std::string value;
      if (option.values.files)
        value = " -rF";
      else if (option.takes_value)
        value = fmt::format(" -x -a {}", fish_word(joined(option.values.words)));
      script += fmt::format("complete -c rulerank -n {}{}{} -d {}\n", when, names, value,
                            fish_word(option.what));
    }
  }
  return script;
}

}  // namespace rulerank::apps
