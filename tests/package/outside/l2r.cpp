// Fits a model on four documents, saves it, loads it, and scores raw documents from two threads at
// once with one scorer.
// Prints: 1 of 1 members, the relevant document first, twice
#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/scorer.hpp"

#include <iostream>
#include <thread>
#include <vector>

using namespace rulerank;

int main() {
  context const ctx;
  auto const train = datasets::parse_svmlight(ctx,
                                              "1 qid:a 1:9 2:1\n"
                                              "0 qid:a 1:1 2:2\n"
                                              "1 qid:b 1:8 2:2\n"
                                              "0 qid:b 1:2 2:1\n",
                                              "training");
  l2r::rules_recipe rules;
  rules.discretizer.method = datasets::binning::frequency;
  rules.discretizer.bins = 2;
  l2r::recipe const recipes[] = {rules};
  l2r::write_model(l2r::fit(ctx, train, recipes), "model.rulerank");

  l2r::scorer const scorer(ctx, l2r::read_model("model.rulerank"));
  auto const test = datasets::parse_svmlight(ctx, "0 qid:c 1:1 2:1\n0 qid:c 1:9 2:2\n", "test");
  std::vector<double> first, second;
  std::thread other([&] { first = scorer.score(context{}, test).scores; });
  second = scorer.score(ctx, test).scores;
  other.join();
  std::cout << scorer.fitted().members.size() << " of 1 members, "
            << (first[1] > first[0] ? "the relevant document first" : "the wrong one first")
            << (first == second ? ", twice\n" : ", once\n");
}
