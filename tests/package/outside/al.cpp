// Chooses the documents of a pool that are worth a label, and asks for the label of these alone.
// Prints: asked for 46 of 200 labels, each once, the same documents again
#include "al/sampler.hpp"
#include "core/context.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/sample.hpp"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <set>

using namespace rulerank;

int main() {
  context const ctx;
  // A drawn pool: 200 documents, 4 features, 10 queries, labels 0 to 2, in one part.
  auto const pool = datasets::sample_documents(ctx, datasets::options_of(200, 4, 10, 3, 1));
  auto const cuts = datasets::fit_discretizer(ctx, pool, {});
  auto const items = datasets::apply_discretizer(ctx, pool, cuts);

  std::set<std::size_t> asked;
  bool each_once = true;
  auto const oracle = [&](std::size_t document) -> std::int32_t {
    each_once = asked.insert(document).second && each_once;
    return pool.labels[document];  // a person would look at it here
  };
  auto const chosen = al::reduce(ctx, items, {}, oracle).documents;
  std::cout << "asked for " << asked.size() << " of " << pool.size() << " labels"
            << (each_once && asked.size() == chosen.size() ? ", each once, " : ", ");
  std::cout << (al::reduce(ctx, items, {}).documents == chosen ? "the same documents again\n"
                                                               : "other documents\n");
}
