#pragma once

#include "rules/mining/miner.hpp"

#include <cstddef>
#include <cstdint>

namespace rulerank::rules {

/// Bytes that an itemset takes in an itemset_list, but for records that are prefixes alone.
inline constexpr std::size_t bytes_an_itemset = sizeof(itemset_list::record);

/// About how many frequent itemsets of all kinds mine() would list (an upper bound for closed and
/// maximal ones), without listing them: random walks down the tree of the vertical miner, what
/// they meet divided by the probability of getting there (Knuth 1975, "Estimating the efficiency of
/// backtrack programs"). Unbiased, mostly right within a factor of 2; `ctx.seed` draws. No
/// set larger than `options.max_size` counts.
double estimated_itemsets(context const& ctx, transaction_view const& data,
                          mining_options const& options, std::uint32_t walks = 2000);

/// The smallest support of those that were tried, from `options.min_support` to all transactions,
/// whose itemsets would take less than half of `options.max_bytes` by the estimate.
struct fitting_support {
  std::uint32_t support = 0;  ///< 0: none does
  double itemsets = 0;
};
fitting_support support_that_fits(context const& ctx, transaction_view const& data,
                                  mining_options const& options);

}  // namespace rulerank::rules
