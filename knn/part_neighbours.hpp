#pragma once

#include "knn/neighbours.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

// The results of a search in one part of a collection, with the keys that order them
// (knn/collection_parts.hpp merges them).
namespace rulerank::inline v0::knn {

/// Neighbours among one part of the items, before the merge with other parts. As `neighbours`, but
/// the k nearest may include items that do not match, and keys order them, which may be finer than
/// the values.
struct part_neighbours : neighbours {
  value_order key_order = value_order::larger_is_nearer;
  std::vector<double> key;             ///< [queries][k]; empty: the values are the keys
  std::vector<std::uint8_t> is_match;  ///< [queries][k]; empty: all match

  std::span<double const> keys_of(std::size_t query) const {
    return {(key.empty() ? value : key).data() + query * k, k};
  }
  static auto members_of(auto& found) {
    return std::tuple_cat(neighbours::members_of(found),
                          std::tie(found.key_order, found.key, found.is_match));
  }
};

/// The rows within a radius among one part of the items.
struct part_rows_in_range : rows_in_range {
  value_order key_order = value_order::smaller_is_nearer;
  std::vector<double> key;  ///< as value; empty: the values are the keys

  std::span<double const> keys_of(std::size_t query) const {
    return {(key.empty() ? value : key).data() + begin[query], begin[query + 1] - begin[query]};
  }
  static auto members_of(auto& found) {
    return std::tuple_cat(rows_in_range::members_of(found), std::tie(found.key_order, found.key));
  }
};

}  // namespace rulerank::knn
