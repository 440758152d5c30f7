#pragma once

#include "apps/shared/arguments.hpp"
#include "l2r/linear.hpp"
#include "l2r/scorecard.hpp"

#include <optional>
#include <string>
#include <vector>

namespace rulerank::apps {

/// Which kinds of members a model has, and what those that are not `rules` are fitted with:
/// --members, --loss --points-penalty --smoothness, --strength.
struct member_arguments {
  std::string members = "rules";
  std::optional<std::string> loss, strength;
  std::optional<double> points_penalty, smoothness;

  void add_to(CLI::App& verb);

  /// The kinds, in the order given. Throws `usage_error` for a word that is none.
  std::vector<std::string> kinds() const;
  /// The options given, defaults for the rest. Throw `usage_error`.
  l2r::scorecard_options scorecard() const;
  /// `values`: of --missing-values and --unlisted.
  l2r::linear_options linear(discretizer_arguments const& values) const;
  /// Throws `usage_error` for an option that no member of these kinds has.
  void expect_use(std::vector<std::string> const& kinds) const;
};

}  // namespace rulerank::apps
