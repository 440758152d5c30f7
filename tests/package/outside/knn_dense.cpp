// Searches rows of two values for the nearest one of a query under l2.
// Prints: nearest: row 2, distance 5
#include "core/context.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/search.hpp"

#include <iostream>
#include <vector>

using namespace rulerank;

int main() {
  context const ctx;
  knn::dense_index const index(ctx, datasets::vectors(std::vector<float>{10, 0, 0, 10, 3, 4}, 2));
  auto const found = index.search(ctx, datasets::vectors(std::vector<float>{0, 0}, 2), 1);
  std::cout << "nearest: row " << found.id[0] << ", distance " << found.value[0] << '\n';
}
