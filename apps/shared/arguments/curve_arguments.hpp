#pragma once

#include "apps/shared/evaluation/cross_validation.hpp"
#include "experiment/learning_curves.hpp"

#include <string>

// The options of the learning curves that the verb experiment runs.
namespace rulerank::inline v0::apps {

/// --systems --budgets --ways --lightgbm.
class curve_arguments {
 public:
  void add_to(CLI::App& verb);

  /// Whether there are curves to run: --systems was given, or no option of the tables by rules.
  bool asked_for() const;
  /// Throws `usage_error` for options of the curves where none are asked for.
  void expect_none() const;
  /// The options of the library. Throws `usage_error` for options that make no sense, and for those
  /// of the line that curves do not have.
  experiment::curve_options options(cross_validation_arguments const& a) const;

 private:
  CLI::App* verb_ = nullptr;
  std::string systems_, budgets_, ways_;
  std::string lightgbm_;
};

/// What `learn_curves` writes besides the folds' own, for `session::outputs`.
std::vector<session::named_output> curve_outputs(std::string const& out_dir);

/// Runs the curves over the folds of --folds, with messages and times to the session, and writes
/// the manifest beside the results.
experiment::curve_results learn_curves(session& owner, cross_validation_arguments const& a,
                                       experiment::curve_options const& options);

}  // namespace rulerank::apps
