#include "l2r/scorecard/graded_pool.hpp"

#include "core/process_group.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/model/scorer.hpp"

#include <algorithm>
#include <cmath>

// Grades of a pool, from members fitted to few labels.
namespace rulerank::inline v0::l2r {

namespace {

/// Factor of a card's penalties if it is fitted to grades. Penalties protect against the noise of
/// few labels; grades have little noise.
constexpr double penalties_of_grades = 0.01;

/// The grade, 0 to 4, of a standardized score. As with labels, pairs at the top weigh most.
std::int32_t grade_of(double score) {
  return static_cast<std::int32_t>(std::lround(std::clamp(1.5 * score + 1, 0.0, 4.0)));
}

}  // namespace

query_subset graded_by_members(context const& ctx, datasets::dataset const& train,
                               grading const& how, datasets::discretizer const& cuts) {
  context const alone = without_processes(ctx);
  model const members =
      fit(alone, train, recommend(count_labels(train), how.discretizer, how.cuts).recipes);
  query_subset pool{train.queries, datasets::apply_discretizer(ctx, train, cuts)};
  std::vector<double> const scores = score(alone, members, train).scores;
  std::ranges::transform(scores, pool.items.labels.begin(), grade_of);
  pool.items.max_label = *std::ranges::max_element(pool.items.labels);
  return pool;
}

scorecard_options options_for_grades(scorecard_options options) {
  options.points_penalty = std::max(1e-9, penalties_of_grades * options.points_penalty);
  options.smoothness *= penalties_of_grades;
  return options;
}

}  // namespace rulerank::l2r
