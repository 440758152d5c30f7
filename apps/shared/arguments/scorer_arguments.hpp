#pragma once

#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/arguments/ranker_arguments.hpp"
#include "apps/shared/arguments/settings_argument.hpp"
#include "apps/shared/session/session.hpp"
#include "datasets/dataset.hpp"
#include "l2r/model/scorer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace rulerank::inline v0::apps {

/// How a model is fitted on --train: its members, their scores and cuts, and how files are read.
struct fitting_arguments {
  std::string train;
  std::string model;  ///< where it goes, or one that was fitted before
  reading_arguments reading;
  discretizer_arguments discretizer;
  ranker_arguments ranker;
  settings_argument settings;
  member_arguments member;

  /// All but --train and --model, which stand before a verb's own options.
  void add_to(CLI::App& verb);
  /// The recipes of the line and of --settings, checked. Throws `usage_error`.
  std::vector<ranker_recipe> recipes(session& owner) const;
};

/// What scores the documents of --test: --train with how a model is fitted, or --model; and the
/// engine.
struct scorer_arguments : fitting_arguments {
  /// --train and --model.
  void add_inputs_to(CLI::App& verb);
  /// The rest.
  void add_to(CLI::App& verb);
  /// Refuses what makes no sense before anything is read; `files`: the verb's own inputs.
  void check(session const& owner, std::vector<session::named_input> files) const;
  /// The model of --model, or fitted on --train by the recipes, for `make_scorer`.
  l2r::model fit_or_read(session& owner, std::vector<ranker_recipe> const& recipes) const;
  /// The place of the first test file among the inputs that --group has files for.
  std::size_t first_test() const { return model.empty() ? 1 : 0; }
};

}  // namespace rulerank::apps
