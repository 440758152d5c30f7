// Fuses the runs of two searches by the ranks of their documents (reciprocal rank fusion).
// Prints: birds, cats, dogs
#include "core/context.hpp"
#include "datasets/trec.hpp"
#include "knn/fusion.hpp"

#include <iostream>

using namespace rulerank;

int main() {
  datasets::run words, vectors;
  words.name = "words";
  words.queries = {{"q1", {{"cats", 2.5}, {"birds", 1.5}}}};
  vectors.name = "vectors";
  vectors.queries = {{"q1", {{"birds", 0.9}, {"dogs", 0.8}}}};
  datasets::run const runs[] = {words, vectors};
  auto const fused = knn::fuse(context(), runs);
  char const* separator = "";
  for (auto const& document : fused.queries[0].documents) {
    std::cout << separator << document.docno;
    separator = ", ";
  }
  std::cout << '\n';
}
