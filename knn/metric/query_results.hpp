#pragma once

#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "knn/metric/candidate_loops.hpp"
#include "knn/metric/indexes/structure.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>

// Collects the results of many queries, which arrive in any order and from any thread, in query
// order.
namespace rulerank::inline v0::knn {

/// Returns empty space for the k nearest of each of `queries` queries. Throws `usage_error` as
/// `metric_index::search`.
inline neighbours space_for_nearest(std::size_t queries, std::size_t k) {
  if (k == 0) throw usage_error("found k = 0, expected at least 1");
  neighbours found;
  found.queries = queries;
  found.k = k;
  found.order = value_order::smaller_is_nearer;
  if (queries > 0 && k > found.id.max_size() / queries / 2)
    throw usage_error(fmt::format("found k = {}, more neighbours than memory holds", k));
  found.id.assign(queries * k, no_neighbour);
  found.value.assign(queries * k, 0);
  return found;
}

/// Collects the k nearest of each of `queries` queries: run(take) calls take(q, candidates) once
/// for each, candidates nearest first. Throws `usage_error` as `metric_index::search`.
template <class Run>
neighbours nearest_of_all(std::size_t queries, std::size_t k, Run const& run) {
  stopwatch const watch;
  neighbours found = space_for_nearest(queries, k);
  run([&](std::size_t q, std::vector<metric_candidate>& nearest) {
    for (std::size_t i = 0; i < nearest.size(); ++i) {
      found.id[q * k + i] = nearest[i].id;
      found.value[q * k + i] = nearest[i].value;
    }
  });
  found.search_s = watch.seconds();
  return found;
}

/// Collects all objects within a radius of each query.
template <class Run>
rows_in_range within_of_all(context const& ctx, std::size_t queries, double radius,
                            Run const& run) {
  if (!(radius >= 0))
    throw usage_error(fmt::format("found radius {}, expected a number of 0 or more", radius));
  stopwatch const watch;
  std::vector<std::vector<metric_candidate>> all(queries);
  run([&](std::size_t q, std::vector<metric_candidate>& within) { all[q].swap(within); });
  rows_in_range found;
  found.begin.push_back(0);
  for (auto const& some : all) found.begin.push_back(found.begin.back() + some.size());
  found.row.resize(found.begin.back());
  found.value.resize(found.begin.back());
  for_lists(ctx, queries, found.row.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t q = first; q < last; ++q)
      for (std::size_t i = 0; i < all[q].size(); ++i) {
        found.row[found.begin[q] + i] = all[q][i].id;
        found.value[found.begin[q] + i] = all[q][i].value;
      }
  });
  found.search_s = watch.seconds();
  return found;
}

}  // namespace rulerank::knn
