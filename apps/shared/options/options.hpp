#pragma once

#include "apps/shared/options/numbers.hpp"
#include "apps/shared/options/suggestions.hpp"
#include "apps/shared/session/session.hpp"
#include "core/engine_registry.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Verbs, and options by the type of their values: numbers, keywords, engines, files and folders.
// The parser checks values against the type, and shell completions offer them.
namespace rulerank::inline v0::apps {

/// The values that a completion offers for an option.
struct value_words {
  bool files = false;              ///< paths of files and folders
  std::vector<std::string> words;  ///< or these keywords; empty: none
  bool list = false;               ///< several, separated by commas
};

/// A verb, with information about its options beyond CLI11.
class verb_app final : public CLI::App {
 public:
  verb_app(std::string const& name, std::string const& description, CLI::App& above)
      : CLI::App(description, name, &above) {}

  std::map<std::string, value_words> values;  ///< by the option's name
  std::vector<CLI::Option const*> usual;      ///< `usual_options`
  bool over_ranks = false;                    ///< `runs_over_ranks`
  CLI::Option const* format = nullptr;        ///< `format_option`
  struct current_name {
    std::string now;    ///< such as "--new" or "new"
    std::string since;  ///< version that renamed it
  };
  std::map<std::string, current_name> renamed;  ///< by old name, "--old" or "--option old"
};

/// Adds a verb with the common options. `body` runs if the command line names it; its exception
/// determines the exit code (see main.cpp). `example`: a command line and lines that explain it,
/// for --help.
CLI::App* add_verb(CLI::App& program, session& owner, std::string const& name,
                   std::string const& description, std::string const& example,
                   std::function<void()> body);

/// A verb with its own arguments: runs `body(owner, arguments)`, or `body(owner, arguments, verb)`
/// if it needs the parsed command line.
template <class Arguments, class Body>
std::pair<CLI::App&, Arguments&> add_verb(CLI::App& program, session& owner,
                                          std::string const& name, std::string const& description,
                                          std::string const& example, Body body) {
  auto const arguments = std::make_shared<Arguments>();
  CLI::App* const verb = add_verb(
      program, owner, name, description, example, [&program, &owner, name, arguments, body] {
        if constexpr (std::is_invocable_v<Body, session&, Arguments&, CLI::App const&>)
          body(owner, *arguments, *program.get_subcommand(name));
        else
          static_cast<void>(program), body(owner, *arguments);  // not every body takes the verb
      });
  return {*verb, *arguments};
}

/// Says which options --help shows, in this order; --help-all shows all, in their groups. Without a
/// call, --help shows all too. To be called when the verb has its options: a name that is none of
/// them throws.
void usual_options(CLI::App& verb, std::initializer_list<char const*> names);

// Groups that verbs share; the groups of a method have names of their own.
inline constexpr char const* input_group = "Input";
inline constexpr char const* input_format_group = "Input format";
inline constexpr char const* output_group = "Output";
inline constexpr char const* machine_group = "Machine";
inline constexpr char const* general_group = "General";

/// While it lives, options that the verb gets are in this group of its help.
class help_group {
 public:
  help_group(CLI::App& verb, std::string const& name)
      : defaults_(*verb.option_defaults()), before_(defaults_.get_group()) {
    defaults_.group(name);
  }
  ~help_group() { defaults_.group(before_); }
  help_group(help_group const&) = delete;
  help_group& operator=(help_group const&) = delete;

 private:
  CLI::OptionDefaults& defaults_;
  std::string before_;
};

/// Declares that a verb splits its work over MPI ranks; other verbs refuse several ranks.
void runs_over_ranks(CLI::App& verb);

/// Accepts an option's old name, which version `since` replaced. The help omits it; its use prints
/// a note to standard error.
void renamed_option(CLI::App& verb, std::string const& before, std::string const& since,
                    CLI::Option const* now);

/// As above, for a value of an option.
void renamed_value(CLI::App& verb, CLI::Option const* option, std::string const& before,
                   std::string const& since, std::string const& now);

/// The command line with old names of options and values replaced; calls `note` with a message for
/// each.
std::vector<std::string> with_current_names(CLI::App const& program, std::vector<std::string> line,
                                            std::function<void(std::string const&)> const& note);

/// Throws `usage_error` for the first word of a parsed line that is neither a verb nor an option,
/// with a suggestion.
void expect_known_words(CLI::App const& program);

/// Translates a parse error of CLI11 into the program's wording.
std::string words_of(CLI::ParseError const& wrong);

/// An option `--name` or `--name VALUE`, where VALUE is the value's name in the help. Without one
/// the name is `otherwise`, unless that is empty.
template <class Value>
CLI::Option* value_option(CLI::App& verb, std::string const& name, Value& value,
                          std::string description, std::string const& otherwise = {}) {
  std::size_t const end = std::min(name.find(' '), name.size());
  auto* const option = verb.add_option(name.substr(0, end), value, std::move(description));
  std::string const called = end < name.size() ? name.substr(end + 1) : otherwise;
  return called.empty() ? option : option->type_name(called);
}

/// Lets completions offer files and folders for an option, and rejects an empty path.
CLI::Option* expect_path(CLI::App& verb, CLI::Option* option);

/// An option with one or more paths; rejects an empty path.
template <class Paths>
CLI::Option* path_option(CLI::App& verb, std::string const& name, Paths& paths,
                         std::string description) {
  auto* const option = value_option(verb, name, paths, std::move(description), "FILE");
  if constexpr (!std::is_same_v<Paths, std::string>) option->default_str("");
  return expect_path(verb, option);
}

/// Throws `usage_error` for the first given one of these options; {} in `message` is its name. The
/// verb need not have all of them.
void expect_none_of(CLI::App const& verb, std::vector<char const*> const& names,
                    std::string_view message);

/// Lets completions offer files and folders for an option that may be empty.
CLI::Option* offer_files(CLI::App& verb, CLI::Option* option);

/// Lets completions offer these keywords for an option that also takes other values.
CLI::Option* offer_words(CLI::App& verb, CLI::Option* option, std::vector<std::string> words,
                         bool list = false);

/// Restricts an option's value to one of these keywords or, with `list`, to several separated by
/// commas.
CLI::Option* expect_words(CLI::App& verb, CLI::Option* option, std::vector<std::string> words,
                          bool list = false);

/// The keywords as shown in the help instead of the value's name; empty if they are too long.
std::string shown_words(std::vector<std::string> const& words);

/// The strings of a range, or the names of its entries.
template <class Range>
std::vector<std::string> words_in(Range const& range) {
  std::vector<std::string> words;
  for (auto const& entry : range)
    if constexpr (std::is_constructible_v<std::string, decltype(entry)>)
      words.emplace_back(entry);
    else if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(entry)>>)
      words.emplace_back(entry->name);
    else
      words.emplace_back(entry.name);
  return words;
}

/// The names of a module's entries, after `auto`.
template <class Entries>
std::vector<std::string> words_with_auto(Entries const& entries) {
  std::vector<std::string> words = words_in(entries);
  words.insert(words.begin(), "auto");
  return words;
}

/// An option with one of these keywords as its value. `Value`: a string or an optional one;
/// `Words`: a range of strings or of entries with names.
template <class Value, class Words = std::initializer_list<char const*>>
CLI::Option* word_option(CLI::App& verb, std::string const& name, Value& value, Words const& words,
                         std::string description) {
  std::vector<std::string> known = words_in(words);
  auto* const option = value_option(verb, name, value, std::move(description), shown_words(known));
  return expect_words(verb, option, std::move(known));
}

/// Declares the verb's option for the form of its output. --json means its keyword json; beside
/// another keyword --json is wrong usage.
CLI::Option* format_option(CLI::App& verb, CLI::Option* option);

/// As `word_option`, for several keywords separated by commas.
template <class Value, class Words = std::initializer_list<char const*>>
CLI::Option* list_option(CLI::App& verb, std::string const& name, Value& value, Words const& words,
                         std::string description) {
  return expect_words(verb, value_option(verb, name, value, std::move(description), "A,..."),
                      words_in(words), true);
}

/// A keyword that the library parses: `read` throws `usage_error` for an invalid one; `words` are
/// for suggestions.
CLI::Option* expect_read(CLI::App& verb, CLI::Option* option,
                         std::function<void(std::string const&)> read,
                         std::vector<std::string> words, bool list = false);

template <class Value>
struct number_of {
  using type = Value;
};
template <class Value>
struct number_of<std::optional<Value>> {
  using type = Value;
};
template <class Value>
struct number_of<std::vector<Value>> {
  using type = Value;
};

/// An option with a number as its value (numbers.hpp). `Value`: a number, an optional one, or a
/// vector.
template <class Value>
CLI::Option* number_option(CLI::App& verb, std::string const& name, Value& value,
                           std::string description,
                           number_range<typename number_of<Value>::type> within = {}) {
  using number = typename number_of<Value>::type;
  CLI::Validator const in_range(
      [within](std::string& word) {
        return read_number<number>(word, within) ? std::string() : no_number<number>(word, within);
      },
      "");
  auto* const option = value_option(verb, name, value, std::move(description),
                                    std::is_integral_v<number> ? "N" : "X");
  option->check(in_range);
  if constexpr (!std::is_same_v<Value, number>) option->default_str("");
  return option;
}

/// The result of `read` for an option's value; its `usage_error` names the option.
template <class Read, class Value>
auto read_for(std::string_view option, Read const& read, Value const& value) {
  try {
    return read(value);
  } catch (usage_error const& e) {
    throw usage_error(fmt::format("{}: {}", option, e.what()));
  }
}

/// An option whose value is a size in bytes, such as 512MB.
CLI::Option* size_option(CLI::App& verb, std::string const& name, std::uint64_t& bytes,
                         std::string description);

constexpr runs_on either(runs_on a, runs_on b) {
  return static_cast<runs_on>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// The devices of the requested engine, or of any engine if none was requested.
template <class Engines, class Engine>
runs_on places_of(Engines const& engines, Engine asked) {
  auto where = runs_on::nowhere;
  for (auto const& entry : engines) {
    if (entry.which == asked) return entry.where;
    where = either(where, entry.default_on);
  }
  return where;
}

/// An option that chooses one of a module's engines; `verb` was made by `add_verb`. The help names
/// the engines after `description`.
CLI::Option* engine_option(CLI::App& verb, std::string const& name, std::string& engine,
                           std::string description, std::vector<std::string> const& engines,
                           std::function<void(std::string const&)> read);
template <class Engines>
CLI::Option* engine_option(CLI::App& verb, std::string const& name, std::string& engine,
                           Engines const& engines, std::string description = "Engine") {
  using which = std::remove_cvref_t<decltype(std::begin(engines)->which)>;
  return engine_option(verb, name, engine, std::move(description), words_with_auto(engines),
                       [engines](std::string const& word) { engine_named<which>(engines, word); });
}

}  // namespace rulerank::apps
