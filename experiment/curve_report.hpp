#pragma once

#include "experiment/learning_curves.hpp"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// Summarizes learning curves over all folds.
namespace rulerank::inline v0::experiment {

/// All inputs of a fold's results, besides its data and the seed.
nlohmann::ordered_json options_json(curve_results const& all);

/// A system's results over all folds for one share of the labels.
struct curve_summary {
  std::string way;
  std::string system;
  setting_choice settings = setting_choice::defaults;
  double budget = 0;
  double documents = 0;  ///< mean over the folds
  double labels = 0;     ///< includes the validation set's if settings are validated
  std::size_t draws = 1;
  std::vector<double> means;   ///< of the folds' means over queries and samples
  std::vector<double> spread;  ///< standard deviation over the samples of each one's mean of fold
                               ///< means
  std::vector<std::vector<double>>
      queries;  ///< [measures][queries of all folds] means over the samples
};

/// In the order of a fold's points, with samples combined.
std::vector<curve_summary> summaries(curve_results const& all);

/// The rankers of a budget, best first by a measure. Each appears with the settings that read the
/// most labels, if it has a choice. Pointers into `of`.
std::vector<curve_summary const*> best_first(std::vector<curve_summary> const& of, double budget,
                                             std::size_t measure);
/// These with all measures, and their differences to the first one by the measure.
eval::table best_first_table(curve_results const& all, std::vector<curve_summary> const& of,
                             double budget, std::size_t measure);

}  // namespace rulerank::experiment
