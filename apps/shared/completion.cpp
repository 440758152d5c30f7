#include "apps/shared/completion.hpp"

#include "apps/shared/help.hpp"
#include "apps/shared/options.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::apps {

namespace {

struct completed_option {
  std::vector<std::string> names;
  std::string what;
  bool takes_value = false;
  bool again = false;  ///< takes several values
  value_words values;
};

/// A verb, or what verbs stand below.
struct completed_verb {
  std::string path;  ///< `search text` without the program's name; the program itself: empty
  std::string what;
  std::vector<std::string> below;  ///< the words that may follow
  std::vector<completed_option> options;
};

completed_option option_of(CLI::App const& app, CLI::Option const& option) {
  completed_option found;
  for (std::string const& name : option.get_lnames()) found.names.push_back("--" + name);
  for (std::string const& name : option.get_snames()) found.names.push_back("-" + name);
  found.what = option.get_description();
  found.takes_value = option.get_type_size() != 0;
  found.again = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  if (auto const* const verb = dynamic_cast<verb_app const*>(&app))
    if (auto const at = verb->values.find(option.get_name()); at != verb->values.end())
      found.values = at->second;
  return found;
}

void add_verbs(CLI::App const& app, std::vector<completed_verb>& verbs) {
  completed_verb verb{full_name(app), app.get_description(), {}, {}};
  verb.path.erase(0, std::min(verb.path.size(), verb.path.find(' ')));
  verb.path.erase(0, verb.path.starts_with(' ') ? 1 : 0);
  for (CLI::App const* below : shown_verbs(app)) verb.below.push_back(below->get_name());
  for (CLI::Option const* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) {  // `help VERB`, `completion SHELL`
      if (app.get_name() == "completion") verb.below = {"bash", "zsh", "fish"};
      if (app.get_name() == "help")
        for (CLI::App const* other : shown_verbs(*app.get_parent()))
          verb.below.push_back(other->get_name());
    } else {
      verb.options.push_back(option_of(app, *option));
    }
  }
  verbs.push_back(std::move(verb));
  for (CLI::App const* below : shown_verbs(app)) add_verbs(*below, verbs);
}

std::vector<completed_verb> verbs_of(CLI::App const& program) {
  std::vector<completed_verb> verbs;
  add_verbs(program, verbs);
  return verbs;
}

/// One word of a POSIX shell or of zsh.
std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (char const c : text) word += c == '\'' ? "'\\''" : std::string(1, c == '\n' ? ' ' : c);
  return word + "'";
}

/// What bash does for the value of one of these options.
std::string bash_case(completed_option const& option) {
  if (!option.takes_value) return {};
  std::string action = "return";
  if (option.values.files)
    action = "_rulerank_files";
  else if (!option.values.words.empty())
    action = fmt::format("{} {}", option.values.list ? "_rulerank_list" : "_rulerank_words",
                         shell_word(fmt::format("{}", fmt::join(option.values.words, " "))));
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
    std::string const words = fmt::format("{}", fmt::join(option.values.words, " "));
    spec += option.values.files  ? ":file:_files"
            : words.empty()      ? ":value: "
            : option.values.list ? fmt::format(":words:_values -s , word {}", words)
                                 : fmt::format(":word:({})", words);
  }
  return shell_word(spec);
}

/// One word of fish.
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
    std::vector<std::string> words = verb.below;
    std::string cases;
    for (completed_option const& option : verb.options) {
      words.insert(words.end(), option.names.begin(), option.names.end());
      cases += bash_case(option);
    }
    script += fmt::format("    {})\n", shell_word(verb.path));
    if (!cases.empty())
      script +=
          fmt::format("      case $prev in\n{}        *) _rulerank_words {} ;;\n      esac ;;\n",
                      cases, shell_word(fmt::format("{}", fmt::join(words, " "))));
    else
      script += fmt::format("      _rulerank_words {} ;;\n",
                            shell_word(fmt::format("{}", fmt::join(words, " "))));
  }
  return script + "  esac\n}\ncomplete -F _rulerank rulerank\n";
}

std::string zsh_completion(CLI::App const& program) {
  auto const verbs = verbs_of(program);
  auto const path_of = [](completed_verb const& above, std::string const& word) {
    return above.path.empty() ? word : above.path + " " + word;
  };
  std::string script =
      "#compdef rulerank\n_rulerank() {\n  local verb= i\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n    [[ $words[i] == -* ]] && break\n"
      "    verb+=\"${verb:+ }$words[i]\"\n  done\n  case $verb in\n";
  for (completed_verb const& verb : verbs) {
    script += fmt::format("    {})\n", shell_word(verb.path));
    std::string specs;
    for (completed_option const& option : verb.options)
      for (std::string const& name : option.names)
        specs += fmt::format(" \\\n        {}", zsh_option(option, name));
    if (!verb.below.empty()) {
      std::string described;
      for (std::string const& word : verb.below) {
        auto const at = std::ranges::find(verbs, path_of(verb, word), &completed_verb::path);
        described +=
            " " + shell_word(at == verbs.end() ? word : word + ":" + zsh_escaped(at->what));
      }
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
  auto const verbs = verbs_of(program);
  for (completed_verb const& verb : verbs) {
    std::string const when = fish_word("__rulerank_verb " + fish_word(verb.path));
    for (std::string const& word : verb.below) {
      auto const at = std::ranges::find(verbs, verb.path.empty() ? word : verb.path + " " + word,
                                        &completed_verb::path);
      script += fmt::format("complete -c rulerank -n {} -a {} -d {}\n", when, word,
                            fish_word(at == verbs.end() ? "" : at->what));
    }
    for (completed_option const& option : verb.options) {
      std::string names;
      for (std::string const& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      std::string value;
      if (option.values.files)
        value = " -rF";
      else if (option.takes_value)
        value = fmt::format(" -x -a {}",
                            fish_word(fmt::format("{}", fmt::join(option.values.words, " "))));
      script += fmt::format("complete -c rulerank -n {}{}{} -d {}\n", when, names, value,
                            fish_word(option.what));
    }
  }
  return script;
}

}  // namespace rulerank::apps
