#pragma once

#include "apps/arguments.hpp"
#include "apps/ranker_arguments.hpp"
#include "apps/session.hpp"

#include <string>

namespace rulerank::apps {

/// --settings: what tune found, as defaults of the discretiser's options and the score's. What the
/// line itself gives stands.
struct settings_argument {
  std::string file;

  void add_to(CLI::App& verb);
  /// Call it before the options are looked at. Throws `error` for a file of something else.
  void apply(session& owner, discretizer_arguments& discretizer, ranker_arguments& ranker) const;

 private:
  bool given(char const* option) const;
  CLI::App* verb_ = nullptr;
};

}  // namespace rulerank::apps
