#include "apps/shared/options/help.hpp"

#include "apps/shared/options/numbers.hpp"
#include "apps/shared/options/options.hpp"
#include "apps/shared/session/session.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace rulerank::inline v0::apps {

namespace {

std::string value_words_of(CLI::Option const& option) {
  if (option.get_type_size() == 0) return {};
  std::string value = option.get_type_name();
  if (option.get_lnames().empty() && option.get_positional()) value.clear();  // its name says it
  bool const several = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  return several && !value.ends_with("...") ? value + (value.empty() ? "..." : " ...") : value;
}

std::string option_names_of(std::set<CLI::Option*> const& options) {
  std::vector<std::string> names;
  for (CLI::Option const* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, ", "));
}

option_words words_of(CLI::Option const& option) {
  std::vector<std::string> names;
  if (option.get_positional()) names.push_back(option.get_name(true));
  for (std::string const& name : option.get_snames()) names.push_back("-" + name);
  for (std::string const& name : option.get_lnames()) names.push_back("--" + name);
  option_words words{fmt::format("{}", fmt::join(names, ", ")), value_words_of(option),
                     option.get_description()};
  if (option.get_required())
    words.what += " (required)";
  else if (option.get_type_size() > 0 && !option.get_default_str().empty())
    words.what += fmt::format(" (default: {})", option.get_default_str());
  return words;
}

/// The same with the options that it needs and those that it excludes; where it excludes many, each
/// of these says so.
option_words whole_words_of(CLI::Option const& option) {
  option_words words = words_of(option);
  if (auto const needed = option.get_needs(); !needed.empty())
    words.what += "; needs " + option_names_of(needed);
  constexpr std::size_t many = 5;
  if (auto const others = option.get_excludes(); !others.empty() && others.size() < many)
    words.what += "; not with " + option_names_of(others);
  return words;
}

/// The example: a command line and lines that explain it, some of which are command lines
/// themselves.
std::vector<std::string> example_of(CLI::App const& app) {
  return app.get_footer().empty() ? std::vector<std::string>{} : split_list(app.get_footer(), '\n');
}

bool is_command(std::string_view line) {
  return line.starts_with("rulerank ") || line.starts_with("mpirun ");
}

/// A command line broken into continued shell lines.
std::string wrapped_command(std::string_view line, std::size_t width) {
  std::vector<std::string> const lines = wrapped(line, width > 8 ? width - 8 : width);
  return "  " + fmt::format("{}\n", fmt::join(lines, " \\\n      "));
}

/// Two columns: what, and its explanation, which begins at `column`.
std::string two_columns(std::string const& what, std::string_view text, std::size_t width,
                        std::size_t column) {
  std::string out = "  " + what;
  bool same_line = out.size() + 2 <= column;
  for (std::string const& line : wrapped(text, width - column)) {
    out += same_line ? std::string(column - out.size(), ' ')
                     : fmt::format("\n{}", std::string(column, ' '));
    out += line;
    same_line = false;
  }
  return out + "\n";
}

std::string heading_of(CLI::App const& app, std::size_t width) {
  std::string text;
  for (std::string const& line : wrapped(app.get_description(), width)) text += line + "\n";
  bool const verbs = app.get_require_subcommand_min() > 0;
  std::string words;
  for (CLI::Option const* option :
       app.get_options([](CLI::Option const* o) { return o->get_positional(); }))
    words += " " + option->get_name(true);
  return text + fmt::format("\nUsage: {}{}{}\n", full_name(app),
                            verbs ? (app.get_parent() == nullptr ? " VERB" : " KIND") : words,
                            " [OPTIONS]");
}

/// The verbs by the program's groups.
std::string verbs_of(CLI::App const& app, std::size_t width) {
  std::string text, group;
  for (CLI::App const* verb : shown_verbs(app)) {
    if (verb->get_group() != group) text += fmt::format("\n{}:\n", verb->get_group());
    group = verb->get_group();
    text += two_columns(verb->get_name(), verb->get_description(), width, 14);
  }
  return text;
}

std::string text_of(option_group const& group, std::size_t width) {
  std::string text = fmt::format("\n{}:\n", group.name);
  for (option_words const& option : group.options)
    text += two_columns(
        option.value.empty() ? option.names : fmt::format("{} {}", option.names, option.value),
        option.what, width, std::min<std::size_t>(30, width / 3));
  return text;
}

std::string example_text(CLI::App const& app, std::size_t width) {
  std::vector<std::string> const example = example_of(app);
  std::string text = example.empty() ? "" : "\nExample:\n";
  for (std::string const& line : example) {
    if (is_command(line))
      text += wrapped_command(line, width);
    else
      for (std::string const& part : wrapped(line, width - 4))
        text += fmt::format("    {}\n", part);
  }
  return text;
}

std::size_t option_count(CLI::App const& app) {
  std::size_t count = 0;
  for (option_group const& group : option_groups(app)) count += group.options.size();
  return count;
}

/// The help of an app with all of its options, without that of the verbs below it.
std::string own_help_text(CLI::App const& app, std::size_t width) {
  std::string text = heading_of(app, width) + verbs_of(app, width);
  for (option_group const& group : option_groups(app)) text += text_of(group, width);
  return text + example_text(app, width);
}

/// Text that roff takes as it is.
std::string roff(std::string_view text) {
  std::string safe;
  for (char const c : text) {
    if (c == '\\')
      safe += "\\e";
    else if (c == '-')
      safe += "\\-";
    else
      safe += c == '\n' ? ' ' : c;
  }
  return safe.starts_with('.') || safe.starts_with('\'') ? "\\&" + safe : safe;
}

}  // namespace

std::vector<option_group> option_groups(CLI::App const& app) {
  std::vector<option_group> groups;
  for (CLI::Option const* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    auto at = std::ranges::find(groups, option->get_group(), &option_group::name);
    if (at == groups.end()) at = groups.insert(at, {option->get_group(), {}});
    at->options.push_back(whole_words_of(*option));
  }
  // "" stands for the groups of the method.
  constexpr std::array<std::string_view, 6> order{input_group,  input_format_group, "",
                                                  output_group, machine_group,      general_group};
  std::ranges::stable_sort(groups, {}, [&](option_group const& group) {
    auto const at = std::ranges::find(order, group.name);
    return at == order.end() ? std::ranges::find(order, "") : at;
  });
  return groups;
}

std::vector<CLI::App const*> shown_verbs(CLI::App const& app) {
  return app.get_subcommands([](CLI::App const* verb) { return !verb->get_group().empty(); });
}

std::vector<std::string> verb_names(CLI::App const& app) {
  std::vector<std::string> names;
  for (CLI::App const* verb : shown_verbs(app)) names.push_back(verb->get_name());
  return names;
}

std::string full_name(CLI::App const& app) {
  return app.get_parent() == nullptr
             ? app.get_name()
             : fmt::format("{} {}", full_name(*app.get_parent()), app.get_name());
}

std::size_t terminal_width() {
  constexpr number_range<std::size_t> sensible{20, 1000};
  char const* const told = std::getenv("COLUMNS");
  if (told != nullptr)
    if (auto const columns = read_number<std::size_t>(told, sensible)) return *columns;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= sensible.least)
    return size.ws_col;
  return 80;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t const begin = text.find_first_not_of(" \n");
    if (begin == text.npos) break;
    text.remove_prefix(begin);
    std::string_view const word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= width)
      lines.back().append(" ").append(word);
    else
      lines.emplace_back(word);
  }
  return lines;
}

std::string help_text(CLI::App const& app, std::size_t width) {
  auto const* const verb = dynamic_cast<verb_app const*>(&app);
  if (verb == nullptr || verb->usual.empty()) return own_help_text(app, width);
  option_group usual{"Options", {}};
  for (CLI::Option const* option : verb->usual) usual.options.push_back(words_of(*option));
  for (CLI::Option const* option : {app.get_help_ptr(), app.get_help_all_ptr()})
    usual.options.push_back(words_of(*option));
  std::size_t const more = option_count(app) - usual.options.size();
  return heading_of(app, width) + text_of(usual, width) + example_text(app, width) +
         fmt::format("\n{} --help-all shows {} more options.\n", full_name(app), more);
}

std::string whole_help_text(CLI::App const& app, std::size_t width) {
  std::string text = own_help_text(app, width);
  for (CLI::App const* verb : shown_verbs(app)) text += "\n\n" + whole_help_text(*verb, width);
  return text;
}

std::string page_name(CLI::App const& app) {
  std::string name = full_name(app);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string manual_page(CLI::App const& app, std::string_view version) {
  std::string const name = page_name(app);
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string page = fmt::format(
      ".TH {} 1 \"\" \"rulerank {}\" \"rulerank\"\n.SH NAME\n{} \\- {}\n"
      ".SH SYNOPSIS\n.B {}\n{}[\\fIOPTIONS\\fR]\n",
      roff(title), version, roff(name), roff(app.get_description()), roff(full_name(app)),
      app.get_require_subcommand_min() > 0 ? "\\fIVERB\\fR " : "");
  if (auto const verbs = shown_verbs(app); !verbs.empty()) page += ".SH VERBS\n";
  for (CLI::App const* verb : shown_verbs(app))
    page += fmt::format(".TP\n.B {}\n{}\n", roff(verb->get_name()), roff(verb->get_description()));
  for (option_group const& group : option_groups(app)) {
    page += fmt::format(".SH \"{}\"\n", roff(group.name));
    for (option_words const& option : group.options)
      page += fmt::format(".TP\n\\fB{}\\fR \\fI{}\\fR\n{}\n", roff(option.names),
                          roff(option.value), roff(option.what));
  }
  std::vector<std::string> const example = example_of(app);
  if (!example.empty()) page += ".SH EXAMPLE\n";
  for (std::string const& line : example)
    page += is_command(line) ? fmt::format(".PP\n.nf\n{}.fi\n", roff(line) + "\n")
                             : fmt::format(".PP\n{}\n", roff(line));
  page +=
      ".SH \"EXIT STATUS\"\n0: done; 1: an output cannot be written, or no memory is left; 2: "
      "wrong "
      "usage; 3: bad input data; 4: device trouble; 5: labels are wanted; 130: interrupted.\n";
  if (app.get_parent() != nullptr) page += ".SH \"SEE ALSO\"\n.BR rulerank (1)\n";
  return page;
}

}  // namespace rulerank::apps
