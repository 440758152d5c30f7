#pragma once

#include "rules/itemset.hpp"
#include "rules/mining/itemset_list.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::rules {

/// The supports of mined itemsets, looked up by the set. Items of a set are ascending everywhere.
class support_table {
 public:
  explicit support_table(itemset_list const& found);

  /// 0 for a set that is not in it.
  std::uint32_t support(std::span<item const> x) const;
  std::size_t size() const noexcept { return supports_.size(); }
  /// The k-th itemset, in the order of the list.
  std::span<item const> itemset(std::size_t k) const {
    return std::span(items_).subspan(begin_[k], begin_[k + 1] - begin_[k]);
  }
  std::uint32_t support(std::size_t k) const { return supports_[k]; }

 private:
  std::size_t slot_of(std::span<item const> x) const;

  std::vector<std::size_t> begin_{0};  // [size + 1]
  std::vector<item> items_;
  std::vector<std::uint32_t> supports_;
  std::vector<std::size_t> slots_;  // a power of two: itemset + 1, or 0
};

}  // namespace rulerank::rules
