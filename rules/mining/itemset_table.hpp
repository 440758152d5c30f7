#pragma once

#include "core/context.hpp"
#include "rules/itemset.hpp"
#include "rules/mining/itemset_list.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::rules {

/// Mined itemsets by number, in an order that does not depend on the engine: items ascending, sets
/// lexicographically, a set before those that it begins.
class itemset_table {
 public:
  itemset_table() = default;
  itemset_table(context const& ctx, itemset_list const& found);

  std::size_t size() const noexcept { return supports_.size(); }
  std::span<item const> operator[](std::size_t k) const {
    return std::span(items_).subspan(begin_[k], begin_[k + 1] - begin_[k]);
  }
  std::uint32_t support(std::size_t k) const { return supports_[k]; }

 private:
  std::vector<std::size_t> begin_{0};  // [size + 1]
  std::vector<item> items_;
  std::vector<std::uint32_t> supports_;
};

/// The supports in a table, looked up by the set.
class support_lookup {
 public:
  /// The table stays the caller's.
  explicit support_lookup(itemset_table const& table);
  /// Of a set with ascending items; 0 when it is not in the table.
  std::uint32_t operator()(std::span<item const> x) const;

 private:
  std::size_t slot_of(std::span<item const> x) const;

  itemset_table const& table_;
  std::vector<std::size_t> slots_;  // a power of two: itemset + 1, or 0
};

}  // namespace rulerank::rules
