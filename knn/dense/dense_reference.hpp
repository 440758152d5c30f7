#pragma once
// Reference implementation: the results that engines must return.

#include "datasets/vectors.hpp"
#include "knn/dense/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace rulerank::inline v0::knn {

/// Returns all values as doubles, exactly.
inline std::vector<double> as_doubles(datasets::vectors const& from) {
  std::vector<double> values;
  from.visit([&](auto const& all) {
    for (auto const value : all) values.push_back(static_cast<double>(static_cast<float>(value)));
  });
  return values;
}

/// A row and its value, for l2 before the root.
struct reference_row {
  std::uint32_t row;
  double value;
};

/// Returns every row that the filters allow, nearest first, by the definition.
inline std::vector<reference_row> order_by_definition(std::span<double const> query,
                                                      std::span<double const> rows,
                                                      similarity metric,
                                                      std::vector<bool> const& may_be_found) {
  std::vector<reference_row> found;
  std::size_t const n = query.size();
  for (std::size_t r = 0; r < rows.size() / n; ++r) {
    if (!may_be_found[r]) continue;
    double squares = 0, products = 0, of_query = 0, of_row = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double const x = query[i], y = rows[r * n + i];
      squares += (x - y) * (x - y);
      products += x * y;
      of_query += x * x;
      of_row += y * y;
    }
    double value = squares;
    if (metric == similarity::inner_product) value = products;
    if (metric == similarity::cosine)
      value =
          of_query == 0 || of_row == 0 ? 0 : products / (std::sqrt(of_query) * std::sqrt(of_row));
    found.push_back({static_cast<std::uint32_t>(r), value});
  }
  std::stable_sort(found.begin(), found.end(), [&](auto const& a, auto const& b) {
    return metric == similarity::l2 ? a.value < b.value : a.value > b.value;
  });
  return found;
}

inline bool is_set(std::span<std::uint64_t const> words, std::size_t bit) {
  return words.empty() || (words[bit / 64] >> (bit % 64) & 1) != 0;
}

/// Does order_by_definition for each query.
inline std::vector<std::vector<reference_row>> dense_reference(datasets::vectors const& rows,
                                                               datasets::vectors const& queries,
                                                               similarity metric,
                                                               dense_filter const& filter = {}) {
  std::vector<double> const all = as_doubles(rows);
  std::vector<double> const asked = as_doubles(queries);
  std::size_t const words = (rows.size() + 63) / 64;
  std::vector<std::vector<reference_row>> found;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::vector<bool> may(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
      may[r] = is_set(filter.rows, r) &&
               is_set(filter.of_query.empty() ? filter.of_query
                                              : filter.of_query.subspan(q * words, words),
                      r);
    found.push_back(order_by_definition(
        std::span(asked).subspan(q * queries.dimensions(), queries.dimensions()), all, metric,
        may));
  }
  return found;
}

/// Returns the first k as a search result.
inline neighbours search_reference(datasets::vectors const& rows, datasets::vectors const& queries,
                                   similarity metric, std::size_t k,
                                   dense_filter const& filter = {}) {
  neighbours found;
  found.queries = queries.size();
  found.k = k;
  found.order = order_of(metric);
  found.id.assign(queries.size() * k, no_neighbour);
  found.value.assign(queries.size() * k, 0);
  auto const all = dense_reference(rows, queries, metric, filter);
  for (std::size_t q = 0; q < queries.size(); ++q)
    for (std::size_t i = 0; i < std::min(k, all[q].size()); ++i) {
      found.id[q * k + i] = all[q][i].row;
      found.value[q * k + i] =
          metric == similarity::l2 ? std::sqrt(all[q][i].value) : all[q][i].value;
    }
  return found;
}

}  // namespace rulerank::knn
