#pragma once

#include "knn/dense/definition.hpp"
#include "knn/dense/engine.hpp"
#include "knn/neighbours.hpp"

#include <cstddef>
#include <vector>

// Results of dense engines that a benchmark runs without an index.
namespace rulerank::inline v0::bench {

/// Converts lists of k candidates, one per query.
inline knn::neighbours neighbours_of(std::vector<std::vector<knn::dense_candidate>> const& lists,
                                     std::size_t k, knn::similarity metric) {
  knn::neighbours found;
  found.queries = lists.size();
  found.k = k;
  for (auto const& list : lists)
    for (knn::dense_candidate const& one : list) {
      found.id.push_back(one.id);
      found.value.push_back(knn::value_of_key(metric, one.value));
    }
  return found;
}

}  // namespace rulerank::bench
