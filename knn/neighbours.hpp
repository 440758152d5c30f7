#pragma once

#include "knn/similarity.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::knn {

/// Stands behind the last neighbour of a query that has fewer than the others.
inline constexpr std::uint32_t no_neighbour = std::numeric_limits<std::uint32_t>::max();

/// The nearest items of some queries, whatever the search compared: the result of every search.
struct neighbours {
  std::size_t queries = 0;
  std::size_t k = 0;  ///< entries of each query
  value_order order = value_order::larger_is_nearer;
  /// [queries][k] numbers of items, nearest first, equally near ones by rising number;
  /// `no_neighbour` in the last entries of a query that has fewer than k.
  std::vector<std::uint32_t> id;
  std::vector<double> value;  ///< [queries][k] similarities or distances; 0 beside `no_neighbour`
  double search_s = 0;        ///< seconds that the search took

  std::span<std::uint32_t const> ids_of(std::size_t query) const {
    return {id.data() + query * k, k};
  }
  std::span<double const> values_of(std::size_t query) const {
    return {value.data() + query * k, k};
  }
  /// What other processes are told (core/bytes.hpp): all but seconds.
  static auto members_of(auto& found) {
    return std::tie(found.queries, found.k, found.order, found.id, found.value);
  }
  /// How many a query has.
  std::size_t count_of(std::size_t query) const {
    auto const ids = ids_of(query);
    return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), no_neighbour) - ids.begin());
  }
};

/// The rows, or other items, within a radius of some queries.
struct rows_in_range {
  value_order order = value_order::smaller_is_nearer;
  std::vector<std::uint64_t> begin;  ///< [queries + 1] into row and value
  std::vector<std::uint32_t> row;    ///< nearest first, equally near ones by rising number
  std::vector<double> value;         ///< distances or similarities
  double search_s = 0;               ///< seconds that the search took

  std::span<std::uint32_t const> rows_of(std::size_t query) const {
    return {row.data() + begin[query], begin[query + 1] - begin[query]};
  }
  std::span<double const> values_of(std::size_t query) const {
    return {value.data() + begin[query], begin[query + 1] - begin[query]};
  }
  /// What other processes are told: all but seconds.
  static auto members_of(auto& found) {
    return std::tie(found.order, found.begin, found.row, found.value);
  }
};

}  // namespace rulerank::knn
