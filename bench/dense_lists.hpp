#pragma once

#include "knn/dense/definition.hpp"
#include "knn/dense/engine.hpp"
#include "knn/neighbours.hpp"

#include <cstddef>
#include <vector>

// What dense engines find, where a bench runs one without an index around it.
namespace rulerank::inline v0::bench {

/// Lists of k candidates each, one a query.
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
