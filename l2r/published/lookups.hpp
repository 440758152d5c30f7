#pragma once

#include "core/engine_info.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Counters of the engines with a cache of itemsets (`scored::counts`): `cache_hits` and
// `cache_misses`. lrar counts all itemsets. profl and profl-t count itemsets of the largest size,
// if that is two or more: the sum is documents x C(m, size), with m the document's known items. An
// itemset without a cache to look in is a miss. profl and profl-t also count `prefix_lookups`
// (look-ups of the first items of a missed itemset), `cache_slots` (itemsets that a device's cache
// can hold, summed over processes and components), and the look-ups below.
namespace rulerank::inline v0::l2r {

/// Counts of look-ups for itemsets of one size.
struct cache_lookups {
  std::uint64_t hits = 0;         ///< of the itemset itself
  std::uint64_t misses = 0;       ///< includes itemsets without a cache to look in
  std::uint64_t prefix_hits = 0;  ///< of the first items of a larger itemset that was missed
  std::uint64_t prefix_misses = 0;
};

/// Adds the look-ups of itemsets of `size` items. Summed over devices, the hits and misses of a
/// size are documents x C(m, size).
inline void add_lookups(engine_counts& counts, std::size_t size, cache_lookups const& some) {
  std::string const of = '.' + std::to_string(size);
  counts["hits" + of] += some.hits;
  counts["misses" + of] += some.misses;
  counts["prefix_hits" + of] += some.prefix_hits;
  counts["prefix_misses" + of] += some.prefix_misses;
}

inline cache_lookups lookups_of(engine_counts const& counts, std::size_t size) {
  std::string const of = '.' + std::to_string(size);
  return {count_of(counts, "hits" + of), count_of(counts, "misses" + of),
          count_of(counts, "prefix_hits" + of), count_of(counts, "prefix_misses" + of)};
}

}  // namespace rulerank::l2r
