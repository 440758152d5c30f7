#pragma once

#include "apps/shared/evaluation/cross_validation.hpp"
#include "experiment/learning_curves.hpp"

#include <string>

// The options for the learning curves of the verb experiment.
namespace rulerank::inline v0::apps {

/// --systems --budgets --ways --lightgbm.
class curve_arguments {
 public:
  void add_to(CLI::App& verb);

  /// Whether to run curves: --systems was given, or no option of the tables by rules.
  bool asked_for() const;
  /// Throws `usage_error` for options of the curves if no curves are run.
  void expect_none() const;
  /// The options of the library. Throws `usage_error` for invalid options, and for given options
  /// that curves do not use.
  experiment::curve_options options(cross_validation_arguments const& a) const;

 private:
  CLI::App* verb_ = nullptr;
  std::string systems_, budgets_, ways_;
  std::string lightgbm_;
};

/// The outputs of `learn_curves` besides the folds' own, for `session::outputs`.
std::vector<session::named_output> curve_outputs(std::string const& out_dir);

/// Runs the curves over the folds of --folds. Sends messages and times to the session; writes the
/// manifest next to the results.
experiment::curve_results learn_curves(session& owner, cross_validation_arguments const& a,
                                       experiment::curve_options const& options);

}  // namespace rulerank::apps
