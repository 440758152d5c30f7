#pragma once

#include "apps/shared/arguments.hpp"
#include "apps/shared/ranker_arguments.hpp"
#include "apps/shared/session.hpp"

#include <string>
#include <vector>

namespace rulerank::apps {

/// A model says all that --train and the options of cuts and settings do: they exclude each other.
void exclude_each_other(CLI::App& verb, CLI::Option* train, CLI::Option* model);

/// --settings: what tune found, as defaults of the discretizer's options and the score's. What the
/// line itself gives stands.
struct settings_argument {
  std::string file;

  void add_to(CLI::App& verb);
  /// The line's options, once for each way to rank that the file has; without a file as they are.
  /// Call it before the options are looked at. Throws `error` for a file of something else.
  std::vector<ranker_recipe> recipes(session& owner, ranker_recipe const& line) const;

 private:
  bool given(char const* option) const;
  CLI::App* verb_ = nullptr;
};

}  // namespace rulerank::apps
