// Two rankings of the same documents: their measures, and whether they differ by more than chance.
// Prints: bad: MAP 0.600, good: MAP 1.000, good wins 4 of 5 queries, p = 0.016
#include "core/context.hpp"
#include "datasets/svmlight.hpp"
#include "eval/evaluate.hpp"
#include "eval/significance.hpp"

#include <cstdio>
#include <string>
#include <vector>

using namespace rulerank;

int main() {
  context const ctx;
  std::string lines;
  for (int query = 0; query < 5; ++query)
    for (int document = 0; document < 2; ++document)
      lines += std::to_string(document) + " qid:" + std::to_string(query) + " 1:1\n";
  auto const test = datasets::parse_svmlight(ctx, lines, "ten documents");
  std::vector<double> good, bad;
  for (auto const label : test.labels) {
    good.push_back(label);
    bad.push_back(-label);
  }
  bad[1] = 1;  // right in the first query alone

  auto const measures = eval::parse_measures("MAP,NDCG@3");
  auto const profile = eval::make_profile("standard");
  eval::system_values const systems[] = {
      {"bad", {eval::evaluate(ctx, test, bad, measures, profile)}},
      {"good", {eval::evaluate(ctx, test, good, measures, profile)}}};
  for (auto const& system : systems) {
    auto const means = system.folds[0].averages();
    std::printf("%s: MAP %.3f, ", system.name.c_str(), means[0]);
  }
  auto const on_map = eval::compare(ctx, systems, 0)[0];
  std::printf("%s wins %zu of %zu queries, p = %.3f\n", on_map.system.c_str(), on_map.wins,
              on_map.queries, on_map.paired_t->p);
}
