#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

// The program's help texts: help for a terminal, manual pages.
namespace rulerank::inline v0::apps {

/// An option as displayed.
struct option_words {
  std::string names;  ///< such as `-h, --help`
  std::string value;  ///< such as `N=3`, `FILE ...`; empty for a flag
  std::string what;
};

struct option_group {
  std::string name;
  std::vector<option_words> options;
};

/// All options of a verb in their groups, hidden ones left out.
std::vector<option_group> option_groups(CLI::App const& app);

/// The verbs of an app in order, without hidden ones.
std::vector<CLI::App const*> shown_verbs(CLI::App const& app);

/// Their names.
std::vector<std::string> verb_names(CLI::App const& app);

/// For example `rulerank search text`.
std::string full_name(CLI::App const& app);

/// The width of the terminal: COLUMNS, else that of standard output, else 80.
std::size_t terminal_width();

/// Breaks a text at blanks into lines of at most `width` characters; a longer word gets its own
/// line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// The help of the program or of a verb, in lines of at most `width` characters where words allow:
/// the verb's usual options, and how many more it has.
std::string help_text(CLI::App const& app, std::size_t width);

/// The help with all options, and with that of all verbs below the app.
std::string whole_help_text(CLI::App const& app, std::size_t width);

/// `rulerank-search-text`.
std::string page_name(CLI::App const& app);

/// The help with all options as a manual page of section 1. `version`: of the program.
std::string manual_page(CLI::App const& app, std::string_view version);

/// Gives CLI11 the texts of --help and --help-all.
class help_formatter final : public CLI::Formatter {
 public:
  std::string make_help(CLI::App const* app, std::string, CLI::AppFormatMode mode) const override {
    return mode == CLI::AppFormatMode::All ? whole_help_text(*app, terminal_width())
                                           : help_text(*app, terminal_width());
  }
};

}  // namespace rulerank::apps
