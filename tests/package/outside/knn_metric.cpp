// Searches words under the edit distance in an index that is kept in a file, and objects of its own
// under a functor.
// Prints: within 1 of casas: casa; nearest to 40: 42
#include "core/context.hpp"
#include "knn/metric/search.hpp"

#include <cmath>
#include <iostream>
#include <memory>

using namespace rulerank;

int main() {
  context const ctx;
  auto const words =
      std::make_shared<knn::word_space>(std::vector<std::string>{"casa", "perro", "caso", "gato"});
  knn::metric_index(ctx, words, {.type = knn::metric_index_type::lc}).save(ctx, "words.index");
  auto const kept = knn::metric_index::open(ctx, "words.index");
  auto const near = kept.index.search_range(ctx, *kept.words->queries({"casas"}), 1);
  std::cout << "within 1 of casas:";
  for (auto const id : near.rows_of(0)) std::cout << ' ' << kept.words->words()[id];

  auto const apart = [](int a, int b) { return std::abs(static_cast<double>(a) - b); };
  auto const numbers = std::make_shared<knn::object_space<int, decltype(apart)>>(
      std::vector<int>{7, 42, 90}, apart, knn::distance_rounding{0, 0});
  knn::metric_index const of_numbers(ctx, numbers, {.type = knn::metric_index_type::egnat});
  auto const nearest = of_numbers.search(ctx, *numbers->queries({40}), 1);
  std::cout << "; nearest to 40: " << std::vector<int>{7, 42, 90}[nearest.ids_of(0)[0]] << '\n';
}
