#pragma once

#include "core/context.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/indexes/structure.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::knn {

/// Compares many queries with objects of a vector space under l2 by dense search on the CPU, which
/// computes the same values, bit for bit. Dense search orders by the squares; this class returns
/// the order by distance and number.
///
/// Several threads may call `search` at once; no other call may run during `insert` and `erase`.
class dense_brute {
 public:
  /// Returns whether a space has vectors under l2.
  static bool suits(metric_space const& space);
  /// The space must suit. Shares the memory of its rows, and keeps 12 bytes and a bit for each.
  /// `objects` has no duplicates.
  dense_brute(context const& ctx, metric_space const& space,
              std::span<std::uint32_t const> objects);

  void insert(std::uint32_t object);
  void erase(std::uint32_t object);
  /// Returns whether the queries are vectors; if so, `take` received the result of each.
  bool search(context const& ctx, metric_queries const& queries, double radius, std::size_t k,
              take_answer const& take) const;

 private:
  dense_filter filter() const;
  void search_nearest(context const& ctx, datasets::vectors const& queries, std::size_t k,
                      take_answer const& take) const;
  /// Returns the number of results.
  std::size_t search_within(context const& ctx, datasets::vectors const& queries, double radius,
                            take_answer const& take) const;

  dense_index index_;                 // all rows of the space
  std::vector<std::uint64_t> holds_;  // one bit per row
  std::size_t size_ = 0;              // number of bits that are 1
};

}  // namespace rulerank::knn
