#pragma once
// What the miners have in common; not for those who use them.

#include "rules/mining/miner.hpp"

#include <cstddef>
#include <vector>

namespace rulerank::inline v0::rules::mining {

/// The options with their defaults resolved: min_support and min_size at least 1, max_size the
/// largest number when unbounded, max_bytes what is free.
mining_options resolved(context const& ctx, mining_options options);

/// Throws `usage_error` for transactions that are not as a transaction_view says.
void check(transaction_view const& data);

/// Of all frequent itemsets (every size) those of the kind and sizes wanted, by the definition:
/// each itemset rules out its subsets with one item less.
itemset_list of_kind(itemset_list const& all, mining_options const& options);

itemset_list bruteforce(context const& ctx, transaction_view const& data,
                        mining_options const& options);
itemset_list apriori(context const& ctx, transaction_view const& data,
                     mining_options const& options);
itemset_list vertical(context const& ctx, transaction_view const& data,
                      mining_options const& options);

/// The random walks of estimated_itemsets, in the tree of `vertical`.
double walked_itemsets(context const& ctx, transaction_view const& data,
                       mining_options const& options, std::uint32_t walks);

}  // namespace rulerank::rules::mining
