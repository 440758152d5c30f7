// Chooses on a validation part how to rank: of the combinations of a few values the best one by
// NDCG@10 is written as a settings file.
// Prints: tried 8 ways to rank, the chosen one is at least as good as each
#include "core/context.hpp"
#include "core/output_file.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/sample.hpp"
#include "eval/measure.hpp"
#include "eval/profile.hpp"
#include "tuning/settings_file.hpp"
#include "tuning/space.hpp"
#include "tuning/tuner.hpp"

#include <algorithm>
#include <cstddef>
#include <iostream>

using namespace rulerank;

int main() {
  context const ctx;
  // The parts of a drawn collection: training, validation, test.
  auto const drawn = datasets::options_of(600, 5, 30, 3, 1);
  std::size_t const training_part[] = {0};
  std::size_t const validation_part[] = {1};
  auto const train = datasets::sample_parts(ctx, drawn, training_part);
  auto const validation = datasets::sample_parts(ctx, drawn, validation_part);

  tuning::space tried;
  tried.methods = {datasets::binning::tube, datasets::binning::frequency};
  tried.bins = {5, 10};
  tried.rule_sizes = {2, 3};
  tried.min_supports = {1};
  tried.min_confidences = {0.001};
  tried.support_weights = {0};
  tried.smoothings = {0};
  auto const prepare = [&](tuning::cuts const& how) -> tuning::prepared {
    datasets::discretizer_options options;
    options.method = how.method;
    options.bins = how.bins;
    auto const cuts = datasets::fit_discretizer(ctx, train, options);
    return {datasets::apply_discretizer(ctx, train, cuts),
            datasets::apply_discretizer(ctx, validation, cuts)};
  };
  auto const rules = eval::make_profile("standard");
  tuning::tuner tuner(ctx, validation, tuning::candidates_of(tried),
                      eval::parse_measures("NDCG@10"), rules, prepare);
  tuning::search_options grid;
  grid.rungs = 1;
  auto const found = tuner.search(ctx, 0, grid);

  double const best = found.trials[found.chosen[0]].values[0];
  bool const largest = std::all_of(found.trials.begin(), found.trials.end(),
                                   [&](auto const& trial) { return trial.values[0] <= best; });
  write_file("settings.json", tuning::best_settings_text(ctx, tuner, found, 0, grid, rules,
                                                         datasets::discretizer_options{}));
  std::cout << "tried " << found.tried << " ways to rank, the chosen one "
            << (largest && tuning::read_settings("settings.json").size() == 1
                    ? "is at least as good as each\n"
                    : "is not the best\n");
}
