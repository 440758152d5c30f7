#pragma once
// Reference implementation for tests and benches: slow and simple.

#include "rules/itemset.hpp"
#include "rules/thresholds.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rulerank::inline v0::rules::reference {

/// A document: its items and its label.
struct document {
  std::vector<item> items;
  std::int32_t label = 0;
};

inline bool holds(document const& d, std::vector<item> const& x) {
  return std::all_of(x.begin(), x.end(), [&](item y) {
    return std::find(d.items.begin(), d.items.end(), y) != d.items.end();
  });
}

/// Counts the documents that contain x for each label 0..max_label.
inline std::vector<std::uint32_t> supports(std::vector<document> const& documents,
                                           std::vector<item> const& x, std::int32_t max_label) {
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(max_label) + 1);
  for (document const& d : documents)
    if (holds(d, x)) ++counts[static_cast<std::size_t>(d.label)];
  return counts;
}

/// docs/reference/definitions.md, Rules, literally.
inline bool valid(std::uint32_t sigma, std::uint32_t n, thresholds const& t) {
  return sigma >= std::max<std::uint32_t>(1, t.min_support) &&
         static_cast<double>(sigma) / static_cast<double>(n) >= t.min_confidence;
}

/// Calls visit(x) for every subset of `items` with 1 to max_size members.
template <class Visit>
void for_each_itemset(std::vector<item> const& items, std::size_t max_size, Visit&& visit) {
  std::vector<item> x;
  auto extend = [&](auto& self, std::size_t from) -> void {
    for (std::size_t i = from; i < items.size(); ++i) {
      x.push_back(items[i]);
      visit(x);
      if (x.size() < max_size) self(self, i + 1);
      x.pop_back();
    }
  };
  extend(extend, 0);
}

}  // namespace rulerank::rules::reference
