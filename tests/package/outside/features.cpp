// Features of a query with two documents, of counts of their terms.
// Prints: covered query terms of document: 1 and 2
#include "core/context.hpp"
#include "features/pair_features.hpp"

#include <algorithm>
#include <iostream>
#include <vector>

using namespace rulerank;

int main() {
  context const ctx;
  // Document 0 has term 0; document 1 has terms 0 and 1.
  knn::sparse_matrix const counts{{0, 1, 3}, {0, 0, 1}, {2, 1, 1}, 2};
  features::pair_features const features(ctx, {{std::string(knn::whole_document), counts}});
  auto const names = features.names();
  auto const column = static_cast<std::size_t>(
      std::find(names.begin(), names.end(), "covered query terms of document") - names.begin());

  std::vector<std::uint32_t> const documents{0, 1};
  std::vector<double> values(documents.size() * features.size());
  knn::sparse_matrix const query{{0, 2}, {0, 1}, {1, 1}, 2};
  features.of(ctx, knn::sparse_rows(query)[0], documents, values);
  std::cout << names[column] << ": " << values[column] << " and "
            << values[features.size() + column] << '\n';
}
