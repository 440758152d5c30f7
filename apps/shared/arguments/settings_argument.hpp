#pragma once

#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/arguments/ranker_arguments.hpp"
#include "apps/shared/session/session.hpp"

#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// --settings: what tune found, as defaults of the discretizer's options and the score's. What the
/// line itself gives stands.
struct settings_argument {
  std::string file;

  void add_to(CLI::App& verb);
  /// The line's options, once for each member that the file has; without a file once for each kind
  /// of --members.
  /// Call it before the options are looked at. Throws `error` for a file of something else,
  /// `usage_error` for options that are not known or make no sense.
  std::vector<ranker_recipe> recipes(session& owner, ranker_recipe const& line) const;

 private:
  std::vector<ranker_recipe> of_file(session& owner, ranker_recipe const& line) const;
  bool given(char const* option) const;
  CLI::App* verb_ = nullptr;
};

}  // namespace rulerank::apps
