#pragma once

#include "experiment/learning_curves.hpp"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// Learning curves over all folds.
namespace rulerank::inline v0::experiment {

/// Everything that the results of a fold depend on, besides its data and the seed.
nlohmann::ordered_json options_json(curve_results const& all);

/// What a system got over all folds, having learnt from a share of the labels.
struct curve_summary {
  std::string way;
  std::string system;
  setting_choice settings = setting_choice::defaults;
  double budget = 0;
  double documents = 0;  ///< mean of the folds
  double labels = 0;     ///< those of the validation part too, where settings are validated
  std::size_t draws = 1;
  std::vector<double> means;   ///< of the folds' means over queries and draws
  std::vector<double> spread;  ///< deviation over the draws of each draw's mean of fold means
  std::vector<std::vector<double>>
      queries;  ///< [measures][queries of all folds] means of the draws
};

/// In the order of the points of a fold, draws put together.
std::vector<curve_summary> summaries(curve_results const& all);

}  // namespace rulerank::experiment
