#pragma once

#include "knn/similarity.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::knn {

/// Fills the entries of a query that has fewer than k neighbours.
inline constexpr std::uint32_t no_neighbour = std::numeric_limits<std::uint32_t>::max();

/// The nearest items of each query: the result of every search, whatever its metric.
struct neighbours {
  std::size_t queries = 0;
  std::size_t k = 0;  ///< entries per query
  value_order order = value_order::larger_is_nearer;
  /// [queries][k] item numbers, nearest first, equal values by ascending number; `no_neighbour` in
  /// the last entries of a query that has fewer than k.
  std::vector<std::uint32_t> id;
  std::vector<double> value;  ///< [queries][k] similarities or distances; 0 for `no_neighbour`
  double search_s = 0;        ///< duration of the search in seconds

  std::span<std::uint32_t const> ids_of(std::size_t query) const {
    return {id.data() + query * k, k};
  }
  std::span<double const> values_of(std::size_t query) const {
    return {value.data() + query * k, k};
  }
  /// The members that are sent to other processes (core/bytes.hpp): all except seconds.
  static auto members_of(auto& found) {
    return std::tie(found.queries, found.k, found.order, found.id, found.value);
  }
  /// The number of neighbours of a query.
  std::size_t count_of(std::size_t query) const {
    auto const ids = ids_of(query);
    return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), no_neighbour) - ids.begin());
  }
};

/// The rows, or other items, within a radius of each query.
struct rows_in_range {
  value_order order = value_order::smaller_is_nearer;
  std::vector<std::uint64_t> begin;  ///< [queries + 1] into `row` and `value`
  std::vector<std::uint32_t> row;    ///< nearest first, equal values by ascending number
  std::vector<double> value;         ///< distances or similarities
  double search_s = 0;               ///< duration of the search in seconds

  std::span<std::uint32_t const> rows_of(std::size_t query) const {
    return {row.data() + begin[query], begin[query + 1] - begin[query]};
  }
  std::span<double const> values_of(std::size_t query) const {
    return {value.data() + begin[query], begin[query + 1] - begin[query]};
  }
  /// The members that are sent to other processes: all except seconds.
  static auto members_of(auto& found) {
    return std::tie(found.order, found.begin, found.row, found.value);
  }
};

}  // namespace rulerank::knn
