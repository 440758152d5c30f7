#pragma once
// The possible consequents of an itemset's rules.

#include "rules/mining/association_rules.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rulerank::inline v0::rules::mining {

using subset = std::uint64_t;  // of an itemset's items, one bit each

inline constexpr std::size_t most_items = 63;

inline subset all_of(std::span<item const> z) {
  return (subset{1} << z.size()) - 1;
}

inline void select(std::span<item const> from, subset which, std::vector<item>& out) {
  out.clear();
  for (; which != 0; which &= which - 1)
    out.push_back(from[static_cast<std::size_t>(std::countr_zero(which))]);
}

/// A consequent contains all of `must`, any of `may`, and at most `most` items.
struct consequents {
  subset must = 0;
  subset may = 0;
  std::size_t most = 0;
};

/// Returns nothing if the itemset has no rule. Throws `usage_error` for an itemset that is too
/// large.
std::optional<consequents> consequents_of(std::span<item const> z,
                                          association_options const& options);

inline bool is_strong(std::uint32_t both, std::uint32_t antecedent,
                      association_options const& options) {
  return static_cast<double>(both) / static_cast<double>(antecedent) >= options.min_confidence;
}

}  // namespace rulerank::rules::mining
