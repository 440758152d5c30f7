#pragma once

#include "rules/fingerprint.hpp"
#include "rules/itemset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::rules {

/// A hash table from itemsets to their class-wise supports (Freitas 2017, section 4.3.3). The slot
/// is the fingerprint's 64 bits modulo the table's size, followed by linear probing. A lookup
/// compares the items, so equal fingerprints cost time but never give a wrong count. The table
/// doubles within its memory limit; at the limit, further itemsets are not stored. One thread at a
/// time may use a table.
class itemset_cache {
 public:
  /// For itemsets of at most max_size of `items` items, with one count for each of `classes`;
  /// `max_bytes` in total.
  itemset_cache(std::uint32_t items, std::size_t max_size, std::size_t classes,
                std::size_t max_bytes);

  /// Returns the counts of x (items in the order of insertion), or an empty span.
  std::span<std::uint32_t const> find(std::span<item const> x);
  /// Stores counts for x, which must not be in the table; returns false if there is no space.
  bool insert(std::span<item const> x, std::span<std::uint32_t const> counts);

  std::uint64_t hits() const noexcept { return hits_; }
  std::uint64_t misses() const noexcept { return misses_; }
  std::size_t size() const noexcept { return used_; }
  std::size_t bytes() const noexcept { return cells_.size() * sizeof(std::uint32_t); }

 private:
  std::uint32_t* slot(std::size_t s) { return cells_.data() + s * cell_; }
  /// Returns the slot of x, or the free slot for it.
  std::size_t probe(std::span<item const> x);
  bool grow();

  fingerprint fingerprint_;
  std::size_t max_size_;
  std::size_t classes_;
  std::size_t max_bytes_;
  std::size_t cell_;  // 32-bit words per slot: size of the itemset, its items, its counts
  std::size_t slots_;
  std::size_t used_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::vector<std::uint32_t> cells_;  // the first word of a free slot is 0
};

}  // namespace rulerank::rules
