// Searches two sparse rows for a query by the cosine.
// Prints: nearest: row 1, cosine 0.8
#include "core/context.hpp"
#include "knn/sparse/search.hpp"

#include <iostream>

using namespace rulerank;

int main() {
  context const ctx;
  // Row 0 has term 0 alone; row 1 has terms 1 and 2.
  knn::sparse_index const index(ctx, {{0, 1, 3}, {0, 1, 2}, {1.0, 4.0, 3.0}, 3});
  knn::sparse_searcher const searcher(ctx, index, {});
  knn::sparse_matrix const query{{0, 1}, {1}, {2.0}, 3};
  auto const found = searcher.search(ctx, query, 1);
  std::cout << "nearest: row " << found.id[0] << ", cosine " << found.value[0] << '\n';
}
