// One round of the second stage: two rankers vote, and of each query the document on whose place
// they disagree most is labelled next.
// Prints: picked 10 documents of 10 queries, 50 labels known
#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/sample.hpp"
#include "learners/second_stage.hpp"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

using namespace rulerank;

int main() {
  context const ctx;
  auto const pool = datasets::sample_documents(ctx, datasets::options_of(200, 4, 10, 3, 1));
  auto const cuts = datasets::fit_discretizer(ctx, pool, {});
  auto const items = datasets::apply_discretizer(ctx, pool, cuts);

  std::vector<std::size_t> labelled;  // every fifth has a label already
  for (std::size_t d = 0; d < pool.size(); d += 5) labelled.push_back(d);
  learners::members members;
  members.learners.push_back(learners::make_learner("rules", {}));
  std::vector<double> another;  // scores of any other ranker: here, the first feature
  for (std::size_t d = 0; d < pool.size(); ++d) another.push_back(pool.document(d)[0].value);
  members.fixed.push_back(another);
  learners::round_options options;
  options.per_query = 1;
  learners::second_stage rounds({pool, items}, labelled, pool.labels, std::move(members), options);

  auto const picks = rounds.select(ctx);
  std::vector<std::int32_t> labels;
  for (auto const& pick : picks) labels.push_back(pool.labels[pick.document]);
  rounds.answer(labels);
  std::cout << "picked " << picks.size() << " documents of " << pool.queries.size() << " queries, "
            << rounds.labelled_documents().size() << " labels known\n";
}
