// Searches rows of two values for the nearest one of a query under l2, and for those within a
// distance that a filter allows, in two parts.
// Prints: nearest: row 2, distance 5; within 10: row 1
#include "core/context.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/search.hpp"
#include "knn/searcher.hpp"

#include <cstdint>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

using namespace rulerank;

int main() {
  context const ctx;
  knn::dense_index const index(ctx, datasets::vectors(std::vector<float>{10, 0, 0, 10, 3, 4}, 2));
  auto const found = index.search(ctx, datasets::vectors(std::vector<float>{0, 0}, 2), 1);
  std::cout << "nearest: row " << found.id[0] << ", distance " << found.value[0];

  auto const part = [&](std::vector<float> values) {
    return std::make_shared<knn::dense_index const>(ctx, datasets::vectors(std::move(values), 2));
  };
  auto const search = knn::make_searcher(ctx, {part({10, 0}), part({0, 10, 3, 4})},
                                         datasets::vectors(std::vector<float>{0, 0}, 2));
  search->keep_only_items(std::vector<std::uint32_t>{1});
  for (auto const row : search->within(ctx, 10).row)
    std::cout << "; within 10: row " << *search->id_of(row) << '\n';
}
