// Searches three texts for a query: an index in memory, cosine of tf-idf weights, exact.
// Prints: nearest: cats, then birds
#include "core/context.hpp"
#include "knn/sparse/search.hpp"
#include "knn/text/text_index.hpp"

#include <fstream>
#include <iostream>

using namespace rulerank;

int main() {
  std::ofstream("collection.tsv") << "dogs\tDogs bark at the moon\n"
                                     "cats\tCats hunt mice and birds at night\n"
                                     "birds\tBirds sing in the morning\n";
  context const ctx;
  auto const collection = knn::text_index::build(ctx, "collection.tsv", {});

  knn::sparse_searcher const searcher(ctx, collection.index(), {});
  datasets::text_document query;
  query.id = "q1";
  query.fields.push_back({"", "a cat hunting birds"});
  auto const queries = collection.queries(ctx, {&query, 1});
  auto const found = searcher.search(ctx, queries, 2);
  std::cout << "nearest: " << collection.ids()[found.id[0]] << ", then "
            << collection.ids()[found.id[1]] << '\n';
}
