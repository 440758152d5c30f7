// A program outside the project: reads a small text with the installed library.
#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/svmlight.hpp"

#include <iostream>

int main() {
  rulerank::context const ctx;
  auto const data = rulerank::datasets::parse_svmlight(ctx,
                                                       "1 qid:a 1:0.5 2:3\n"
                                                       "0 qid:a 2:1\n"
                                                       "2 qid:b 1:0.25\n",
                                                       "three lines");
  std::cout << data.size() << " documents, " << data.queries.size() << " queries, "
            << rulerank::datasets::listed_features(data).size() << " features\n";
}
