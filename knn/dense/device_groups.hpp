#pragma once

#include "core/even_ranges.hpp"

#include <algorithm>
#include <cstddef>

namespace rulerank::inline v0::knn {

/// How rows and queries are divided among devices: in groups of equal size. The devices of a group
/// divide the rows; the groups divide the queries. With one group, each device holds a share of the
/// rows and searches it for all queries. With groups of one device, each device holds all rows.
struct device_groups {
  std::size_t devices = 1;
  std::size_t of_group = 1;  ///< divides `devices`

  std::size_t count() const noexcept { return devices / of_group; }

  /// Returns the rows that device i holds, i < `devices`.
  index_range rows_of(index_range const& some, std::size_t i) const {
    index_range const mine = even_range(some.size(), of_group, i % of_group);
    return {some.begin + mine.begin, some.begin + mine.end};
  }

  /// Returns the queries that device i searches for. A group with fewer than `least` queries gets
  /// none, except the first.
  index_range queries_of(std::size_t queries, std::size_t i, std::size_t least) const {
    std::size_t const busy = std::clamp<std::size_t>(queries / least, 1, count());
    std::size_t const group = i / of_group;
    return group < busy ? even_range(queries, busy, group) : index_range{};
  }
};

/// Returns the smallest groups whose devices hold at most `of_device` bytes of rows each, or one
/// group of all devices if there are none.
inline device_groups groups_for(std::size_t devices, std::size_t bytes, std::size_t of_device) {
  std::size_t of_group = 1;
  while (of_group < devices &&
         (devices % of_group != 0 || bytes / of_group + (bytes % of_group != 0) > of_device))
    ++of_group;
  return {devices, of_group};
}

}  // namespace rulerank::knn
