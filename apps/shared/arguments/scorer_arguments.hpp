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

/// How a model is fitted to --train: its members, their scores and cuts, and how files are read.
struct fitting_arguments {
  std::string train;
  std::string model;  ///< path of the output, or of a fitted model
  reading_arguments reading;
  discretizer_arguments discretizer;
  ranker_arguments ranker;
  settings_argument settings;
  member_arguments member;

  /// Adds all but --train and --model, which precede a verb's own options.
  void add_to(CLI::App& verb);
  /// The recipes from the command line and --settings, validated. Throws `usage_error`.
  std::vector<ranker_recipe> recipes(session& owner) const;
};

/// The scorer of the --test documents: --train with the options of the fit, or --model; and the
/// engine.
struct scorer_arguments : fitting_arguments {
  /// Adds --train and --model.
  void add_inputs_to(CLI::App& verb);
  /// Adds the other options.
  void add_to(CLI::App& verb);
  /// Throws for invalid options before anything is read; `files`: the verb's own inputs.
  void check(session const& owner, std::vector<session::named_input> files) const;
  /// The model of --model, or one fitted to --train by the recipes, for `make_scorer`.
  l2r::model fit_or_read(session& owner, std::vector<ranker_recipe> const& recipes) const;
  /// Index of the first test file among the inputs of --group.
  std::size_t first_test() const { return model.empty() ? 1 : 0; }
};

}  // namespace rulerank::apps
