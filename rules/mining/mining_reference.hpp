#pragma once
// Reference implementation for tests: slow and simple.

#include "rules/mining/miner.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace rulerank::inline v0::rules::reference {

using itemset = std::vector<item>;  // ascending
using itemset_supports = std::map<itemset, std::uint32_t>;

inline std::uint32_t support_of(std::vector<itemset> const& transactions, itemset const& x) {
  return static_cast<std::uint32_t>(std::count_if(
      transactions.begin(), transactions.end(),
      [&](itemset const& t) { return std::includes(t.begin(), t.end(), x.begin(), x.end()); }));
}

/// Returns the frequent itemsets of `items` items, of the requested kind and sizes.
inline itemset_supports mine(std::vector<itemset> const& transactions, std::uint32_t items,
                             mining_options const& options) {
  std::uint32_t const least = std::max<std::uint32_t>(options.min_support, 1);
  itemset_supports found;
  for (std::uint32_t mask = 1; mask < std::uint32_t{1} << items; ++mask) {
    itemset x;
    for (item i = 0; i < items; ++i)
      if ((mask >> i & 1) != 0) x.push_back(i);
    std::uint32_t const support = support_of(transactions, x);
    if (support < least || x.size() < options.min_size) continue;
    if (options.max_size != 0 && x.size() > options.max_size) continue;
    bool wanted = true;
    for (item i = 0; i < items && wanted && options.kind != itemset_kind::all; ++i) {
      if ((mask >> i & 1) != 0) continue;
      itemset more = x;
      more.insert(std::lower_bound(more.begin(), more.end(), i), i);
      std::uint32_t const joined = support_of(transactions, more);
      wanted = options.kind == itemset_kind::closed ? joined < support : joined < least;
    }
    if (wanted) found.emplace(x, support);
  }
  return found;
}

}  // namespace rulerank::rules::reference
