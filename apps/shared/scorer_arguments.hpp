#pragma once

#include "apps/shared/arguments.hpp"
#include "apps/shared/ranker_arguments.hpp"
#include "apps/shared/session.hpp"
#include "apps/shared/settings_argument.hpp"
#include "datasets/dataset.hpp"
#include "l2r/scorer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace rulerank::apps {

/// What scores the documents of --test: --train with the options of its cuts and scores, or
/// --model.
struct scorer_arguments {
  std::string train;
  std::string model;
  reading_arguments reading;
  discretizer_arguments discretizer;
  ranker_arguments ranker;
  settings_argument settings;
  member_arguments member;

  /// --train and --model, which stand before a verb's own options.
  void add_inputs_to(CLI::App& verb);
  /// The rest.
  void add_to(CLI::App& verb);
  /// Refuses what makes no sense before anything is read; `files`: the verb's own inputs.
  void check(session const& owner, std::vector<session::named_input> files) const;
  /// The recipes of the line and of --settings, checked. Throws `usage_error`.
  std::vector<ranker_recipe> recipes(session& owner) const;
  /// The model of --model, or fitted on --train by the recipes, for `make_scorer`.
  l2r::model fit_or_read(session& owner, std::vector<ranker_recipe> const& recipes) const;
  /// The place of the first test file among the inputs that --group has files for.
  std::size_t first_test() const { return model.empty() ? 1 : 0; }
};

}  // namespace rulerank::apps
