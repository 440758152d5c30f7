#pragma once

#include "rules/fingerprint.hpp"
#include "rules/itemset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::rules {

/// A hash table from itemsets to their class-wise supports (Freitas 2017, section 4.3.3): the slot
/// is the fingerprint's 64 bits modulo the table's size, then linear probing. The items themselves
/// are compared before an answer, so a shared fingerprint costs time, never a wrong count. The
/// table doubles while the memory allowed lasts; then new itemsets are no longer kept.
/// Not for several threads at once.
class itemset_cache {
 public:
  /// Itemsets of at most max_size of `items` items, `classes` counts each, `max_bytes` in all.
  itemset_cache(std::uint32_t items, std::size_t max_size, std::size_t classes,
                std::size_t max_bytes);

  /// The counts of x (items in the order they were inserted in), or an empty span.
  std::span<std::uint32_t const> find(std::span<item const> x);
  /// Keeps counts for x, which must not be in the table; false when there is no room left.
  bool insert(std::span<item const> x, std::span<std::uint32_t const> counts);

  std::uint64_t hits() const noexcept { return hits_; }
  std::uint64_t misses() const noexcept { return misses_; }
  std::size_t size() const noexcept { return used_; }
  std::size_t bytes() const noexcept { return cells_.size() * sizeof(std::uint32_t); }

 private:
  std::uint32_t* slot(std::size_t s) { return cells_.data() + s * cell_; }
  /// The slot of x, or the free one where it would go.
  std::size_t probe(std::span<item const> x);
  bool grow();

  fingerprint fingerprint_;
  std::size_t max_size_;
  std::size_t classes_;
  std::size_t max_bytes_;
  std::size_t cell_;  // 32-bit words a slot: size of the itemset, its items, its counts
  std::size_t slots_;
  std::size_t used_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::vector<std::uint32_t> cells_;  // a free slot's first word is 0
};

}  // namespace rulerank::rules
