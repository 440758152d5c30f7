#pragma once
// Reference implementation: the results that engines must return.

#include "knn/sparse/search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace rulerank::inline v0::knn {

/// Returns whether a document has a term of the query with a nonzero weight.
inline bool is_match(std::map<std::uint32_t, double> const& query, sparse_row const& document) {
  return std::any_of(document.term.begin(), document.term.end(), [&](std::uint32_t t) {
    auto const w = query.find(t);
    return w != query.end() && w->second != 0;
  });
}

/// Compares every document with every query by the definition.
inline neighbours search_reference(sparse_rows const& documents, sparse_rows const& queries,
                                   std::size_t k, similarity metric = similarity::cosine,
                                   sparse_result_options const& results = {}) {
  std::vector<bool> known(std::max(documents.terms, queries.terms));
  for (std::uint32_t const t : documents.term) known[t] = true;
  auto const norm = [&](sparse_row const& row) {
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (known[row.term[i]]) sum += row.weight[i] * row.weight[i];
    return std::sqrt(sum);
  };
  neighbours found;
  found.queries = queries.size();
  found.order = order_of(metric);
  found.k = std::min(k, documents.size());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::vector<double> key(documents.size()), shown(documents.size());
    std::map<std::uint32_t, double> weights;
    sparse_row const query = queries[q];
    for (std::size_t i = 0; i < query.size(); ++i) weights[query.term[i]] = query.weight[i];
    for (std::size_t d = 0; d < documents.size(); ++d) {
      double product = 0;
      sparse_row const row = documents[d];
      for (std::size_t i = 0; i < row.size(); ++i)
        if (auto const w = weights.find(row.term[i]); w != weights.end())
          product += w->second * row.weight[i];
      double const query_norm = norm(query), document_norm = norm(row);
      if (metric == similarity::inner_product) {
        key[d] = shown[d] = product;
        continue;
      }
      double const cosine =
          query_norm * document_norm == 0 ? 0 : product / (query_norm * document_norm);
      key[d] = shown[d] = cosine;
      if (metric == similarity::normalized_l2) {
        double const squared =
            (query_norm == 0 ? 0 : 1) + (document_norm == 0 ? 0 : 1) - 2 * cosine;
        shown[d] = squared > 0 ? std::sqrt(squared) : 0;
        // The order of the distances before the root, which can map different ones to equal values.
        key[d] = document_norm == 0 ? 0.5 : cosine;
      }
    }
    std::vector<std::uint32_t> order(documents.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key[a] > key[b]; });
    for (std::size_t i = 0; i < found.k; ++i) {
      if (!results.pad && !is_match(weights, documents[order[i]])) continue;
      found.id.push_back(order[i]);
      found.value.push_back(shown[order[i]]);
    }
    found.id.resize((q + 1) * found.k, no_neighbour);
    found.value.resize((q + 1) * found.k);
  }
  return found;
}

}  // namespace rulerank::knn
