#pragma once

#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/arguments/ranker_arguments.hpp"
#include "apps/shared/session/session.hpp"

#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// --settings: the result of tune, as defaults for the options of the discretizer and the score.
/// Given options take precedence.
struct settings_argument {
  std::string file;

  void add_to(CLI::App& verb);
  /// The command line's options, once per member of the file; without a file, once per kind of
  /// --members. Call it before using the options. Throws `error` for an invalid file, `usage_error`
  /// for unknown or invalid options.
  std::vector<ranker_recipe> recipes(session& owner, ranker_recipe const& line) const;

 private:
  std::vector<ranker_recipe> of_file(session& owner, ranker_recipe const& line) const;
  bool given(char const* option) const;
  CLI::App* verb_ = nullptr;
};

}  // namespace rulerank::apps
