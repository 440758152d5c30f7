// Ranks the documents of a query by the rules of four training documents.
// Prints: the relevant one first
#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/ranker.hpp"

#include <iostream>

using namespace rulerank;

int main() {
  context const ctx;
  auto const train = datasets::parse_svmlight(ctx,
                                              "1 qid:a 1:9 2:1\n"
                                              "0 qid:a 1:1 2:2\n"
                                              "1 qid:b 1:8 2:2\n"
                                              "0 qid:b 1:2 2:1\n",
                                              "training");
  auto const test = datasets::parse_svmlight(ctx, "0 qid:c 1:1 2:1\n0 qid:c 1:9 2:2\n", "test");
  datasets::discretizer_options options;
  options.method = datasets::binning::frequency;
  options.bins = 2;
  auto const cuts = datasets::fit_discretizer(ctx, train, options);
  l2r::ranker ranker(ctx, datasets::apply_discretizer(ctx, train, cuts));
  auto const scores = ranker.score(ctx, datasets::apply_discretizer(ctx, test, cuts)).scores;
  std::cout << (scores[1] > scores[0] ? "the relevant one first\n" : "the wrong one first\n");
}
