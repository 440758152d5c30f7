#pragma once

#include "core/engine_info.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What engines with a cache of itemsets count (`scored::counts`): `cache_hits` and `cache_misses`.
// lrar: of all itemsets. profl, profl-t: of those of the largest size, from two items on; the sum
// is documents x C(m, size), with m a document's known items. Itemsets that no cache was there for
// are misses. profl and profl-t count too: `prefix_lookups`, for the first items of what was
// missed; `cache_slots`, the itemsets that a device's cache can hold, added up over processes and
// components; and the look-ups below.
namespace rulerank::inline v0::l2r {

/// Look-ups of itemsets of one size.
struct cache_lookups {
  std::uint64_t hits = 0;         ///< of the itemset itself
  std::uint64_t misses = 0;       ///< those included that no cache was there for
  std::uint64_t prefix_hits = 0;  ///< of the first items of a larger itemset that was missed
  std::uint64_t prefix_misses = 0;
};

/// Adds the look-ups of itemsets of `size` items; over all sizes and devices hits and misses of a
/// size add up to documents x C(m, size).
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
