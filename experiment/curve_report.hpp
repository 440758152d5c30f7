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
  double labels = 0;     ///< those of the validation set too, where settings are validated
  std::size_t draws = 1;
  std::vector<double> means;   ///< of the folds' means over queries and draws
  std::vector<double> spread;  ///< deviation over the draws of each draw's mean of fold means
  std::vector<std::vector<double>>
      queries;  ///< [measures][queries of all folds] means of the draws
};

/// In the order of the points of a fold, draws put together.
std::vector<curve_summary> summaries(curve_results const& all);

/// The rankers of a budget, the best by a measure first, each with its settings that read most
/// labels where these change anything. They are elements of `of`.
std::vector<curve_summary const*> best_first(std::vector<curve_summary> const& of, double budget,
                                             std::size_t measure);
/// These with all measures, and the differences to the first by the measure.
eval::table best_first_table(curve_results const& all, std::vector<curve_summary> const& of,
                             double budget, std::size_t measure);

}  // namespace rulerank::experiment
