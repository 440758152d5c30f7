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

// Verbs, and the options that a verb treats by what their values are: numbers, words, engines,
// files and folders. The parser checks each value against the values that the option takes, and
// completions offer these values.
namespace rulerank::inline v0::apps {

/// The values that a completion offers for an option.
struct value_words {
  bool files = false;              ///< names of files and folders
  std::vector<std::string> words;  ///< or these; empty: nothing
  bool list = false;               ///< several of them, separated by commas
};

/// A verb with what the program knows of its options beyond CLI11.
class verb_app final : public CLI::App {
 public:
  verb_app(std::string const& name, std::string const& description, CLI::App& above)
      : CLI::App(description, name, &above) {}

  std::map<std::string, value_words> values;  ///< by the option's name
  std::vector<CLI::Option const*> usual;      ///< `usual_options`
  bool over_ranks = false;                    ///< `runs_over_ranks`
  struct current_name {
    std::string now;    ///< "--new" or "new"
    std::string since;  ///< the version that renamed it
  };
  std::map<std::string, current_name> renamed;  ///< by the old name, "--old" or "--option old"
};

/// Adds a verb with the common options; `body` runs when the line names it, and what it throws
/// becomes the exit code (see main.cpp). `example`, for --help: a line of the command line, and
/// lines that explain it.
CLI::App* add_verb(CLI::App& program, session& owner, std::string const& name,
                   std::string const& description, std::string const& example,
                   std::function<void()> body);

/// A verb with arguments of its own: `body(owner, arguments)` runs, or `body(owner, arguments,
/// verb)` where it looks at what the line gave.
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

/// Says of a verb that it shares out its work over MPI ranks; others refuse to be one of several.
void runs_over_ranks(CLI::App& verb);

/// Accepts an option's old name, which version `since` replaced. The help does not show it; its use
/// prints a note on standard error.
void renamed_option(CLI::App& verb, std::string const& before, std::string const& since,
                    CLI::Option const* now);

/// Likewise for a value of an option.
void renamed_value(CLI::App& verb, CLI::Option const* option, std::string const& before,
                   std::string const& since, std::string const& now);

/// The line with the names of today for options and values of earlier versions; `note` gets a
/// message for each of those.
std::vector<std::string> with_current_names(CLI::App const& program, std::vector<std::string> line,
                                            std::function<void(std::string const&)> const& note);

/// Throws `usage_error` for the first word of a parsed line that is no verb and no option, with the
/// one that was meant.
void expect_known_words(CLI::App const& program);

/// The fault of a parsed line as a message of the program.
std::string words_of(CLI::ParseError const& wrong);

/// An option: `--name`, or `--name VALUE` with what its value is called in the help, which else is
/// `otherwise` unless that is empty.
template <class Value>
CLI::Option* value_option(CLI::App& verb, std::string const& name, Value& value,
                          std::string description, std::string const& otherwise = {}) {
  std::size_t const end = std::min(name.find(' '), name.size());
  auto* const option = verb.add_option(name.substr(0, end), value, std::move(description));
  std::string const called = end < name.size() ? name.substr(end + 1) : otherwise;
  return called.empty() ? option : option->type_name(called);
}

/// Lets a completion offer files and folders for an option, and refuses an empty name.
CLI::Option* expect_path(CLI::App& verb, CLI::Option* option);

/// An option that names one or more files or folders: an empty name is wrong usage.
template <class Paths>
CLI::Option* path_option(CLI::App& verb, std::string const& name, Paths& paths,
                         std::string description) {
  auto* const option = value_option(verb, name, paths, std::move(description), "FILE");
  if constexpr (!std::is_same_v<Paths, std::string>) option->default_str("");
  return expect_path(verb, option);
}

/// Throws `usage_error` for the first of these options that the line gives; {} in `message` is its
/// name. A verb need not have them all.
void expect_none_of(CLI::App const& verb, std::vector<char const*> const& names,
                    std::string_view message);

/// Lets a completion offer files and folders for an option that may also be empty.
CLI::Option* offer_files(CLI::App& verb, CLI::Option* option);

/// Lets a completion offer these words for an option that takes others too.
CLI::Option* offer_words(CLI::App& verb, CLI::Option* option, std::vector<std::string> words,
                         bool list = false);

/// Makes an option's value one of these words, or with `list` some of them, separated by commas.
CLI::Option* expect_words(CLI::App& verb, CLI::Option* option, std::vector<std::string> words,
                          bool list = false);

/// The words as the help shows them in place of an option's value; empty where they are too long.
std::string shown_words(std::vector<std::string> const& words);

/// The words of a range of strings, or the names of its entries.
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

/// An option with one of these words as its value. `Value` is a string, or an optional one;
/// `Words` a range of strings, or of entries with names.
template <class Value, class Words = std::initializer_list<char const*>>
CLI::Option* word_option(CLI::App& verb, std::string const& name, Value& value, Words const& words,
                         std::string description) {
  std::vector<std::string> known = words_in(words);
  auto* const option = value_option(verb, name, value, std::move(description), shown_words(known));
  return expect_words(verb, option, std::move(known));
}

/// Likewise for several keywords, separated by commas.
template <class Value, class Words = std::initializer_list<char const*>>
CLI::Option* list_option(CLI::App& verb, std::string const& name, Value& value, Words const& words,
                         std::string description) {
  return expect_words(verb, value_option(verb, name, value, std::move(description), "A,..."),
                      words_in(words), true);
}

/// A word that the library reads: `read` throws `usage_error` for a wrong one, and `words` are for
/// the suggestion.
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

/// An option whose value is a number (numbers.hpp). `Value`: a number, an optional one, or a vector
/// of them.
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

/// What `read` makes of an option's value; its `usage_error` names the option.
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

/// Where the engine that was asked for runs, or can run where none was.
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
  std::vector<std::string> names = words_in(engines);
  names.insert(names.begin(), "auto");
  return engine_option(verb, name, engine, std::move(description), names,
                       [engines](std::string const& word) { engine_named<which>(engines, word); });
}

}  // namespace rulerank::apps
