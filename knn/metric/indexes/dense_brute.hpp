#pragma once

#include "core/context.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/indexes/structure.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::knn {

/// Compares many queries with objects of a vector space under l2 by dense search on the CPU, whose
/// values are the same to the bit and whose order is that of the squares: here it is that of
/// distance and number.
///
/// Several threads may call `search` at once; `insert` and `erase` are called alone.
class dense_brute {
 public:
  /// Whether a space is one of vectors under l2.
  static bool suits(metric_space const& space);
  /// Of a space that suits. Shares the memory of its rows, and keeps 12 bytes and a bit of each.
  /// None of `objects` is there twice.
  dense_brute(context const& ctx, metric_space const& space,
              std::span<std::uint32_t const> objects);

  void insert(std::uint32_t object);
  void erase(std::uint32_t object);
  /// Whether the queries are vectors, so that `take` was given the answer of each.
  bool search(context const& ctx, metric_queries const& queries, double radius, std::size_t k,
              take_answer const& take) const;

 private:
  dense_filter filter() const;
  void search_nearest(context const& ctx, datasets::vectors const& queries, std::size_t k,
                      take_answer const& take) const;
  /// Returns how many were found.
  std::size_t search_within(context const& ctx, datasets::vectors const& queries, double radius,
                            take_answer const& take) const;

  dense_index index_;                 // of all rows of the space
  std::vector<std::uint64_t> holds_;  // a bit of each
  std::size_t size_ = 0;              // of these bits are 1
};

}  // namespace rulerank::knn
