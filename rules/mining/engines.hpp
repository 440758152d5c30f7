#pragma once
// Internal interface that the miners share.

#include "rules/mining/miner.hpp"

#include <cstddef>
#include <vector>

namespace rulerank::inline v0::rules::mining {

/// Returns the options with defaults resolved: min_support and min_size at least 1, max_size the
/// largest number if unbounded, max_bytes the free memory.
mining_options resolved(context const& ctx, mining_options options);

/// Throws `usage_error` for transactions that violate the conditions of transaction_view.
void check(transaction_view const& data);

/// Returns the frequent itemsets of the requested kind and sizes, given all frequent itemsets of
/// every size. By the definition: each itemset excludes its subsets with one item less.
itemset_list of_kind(itemset_list const& all, mining_options const& options);

itemset_list bruteforce(context const& ctx, transaction_view const& data,
                        mining_options const& options);
itemset_list apriori(context const& ctx, transaction_view const& data,
                     mining_options const& options);
itemset_list vertical(context const& ctx, transaction_view const& data,
                      mining_options const& options);

/// The random walks of estimated_itemsets in the tree of `vertical`.
double walked_itemsets(context const& ctx, transaction_view const& data,
                       mining_options const& options, std::uint32_t walks);

}  // namespace rulerank::rules::mining
