#pragma once

#include "core/context.hpp"
#include "core/engines.hpp"
#include "datasets/transactions.hpp"
#include "rules/mining/itemset_list.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

// Frequent itemset mining (docs/definitions.md, Rules).
namespace rulerank::rules {

/// How itemsets are found; the same ones, whichever engine finds them.
enum class mining_engine {
  automatic,   ///< `vertical`
  bruteforce,  ///< Freitas 2017, Algorithm 1: the support of every set of items
  apriori,     ///< Agrawal and Srikant 1994: level by level, candidates in a prefix tree
  vertical,    ///< our own: depth first, bitmaps and lists
};

using mining_engine_info = engine_entry<mining_engine>;
std::span<mining_engine_info const> mining_engines();
std::string_view name_of(mining_engine e);
/// Throws `usage_error` that lists the names.
mining_engine mining_engine_from(std::string_view name);

/// Which frequent itemsets are wanted.
enum class itemset_kind {
  all,
  closed,   ///< those without a superset of the same support
  maximal,  ///< those without a frequent superset
};
std::string_view name_of(itemset_kind k);
itemset_kind itemset_kind_from(std::string_view name);

struct mining_options {
  mining_engine engine = mining_engine::automatic;
  itemset_kind kind = itemset_kind::all;
  std::uint32_t min_support = 1;  ///< transactions; 0 means 1
  /// Sizes of the itemsets that are listed; 0: no bound above. Whether a set is closed or maximal
  /// does not depend on them.
  std::uint32_t min_size = 1;
  std::uint32_t max_size = 0;
  /// For the list of what is found; more: `out_of_budget`.
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
};

/// The transactions as a miner sees them: rows of item ids below `items`, ascending and distinct.
struct transaction_view {
  std::span<std::size_t const> row;  ///< [N + 1]
  std::span<item const> entries;
  std::uint32_t items = 0;

  std::size_t size() const noexcept { return row.size() - 1; }
  std::span<item const> operator[](std::size_t t) const {
    return entries.subspan(row[t], row[t + 1] - row[t]);
  }
};
inline transaction_view view_of(datasets::transactions const& data) {
  return {data.row, data.items, static_cast<std::uint32_t>(data.names.size())};
}

/// The itemsets of at least one item that `min_support` transactions or more hold, each once. Their
/// order, and that of the items in them, is the engine's; it is the same for any number of threads.
/// Throws `usage_error` for sizes that make no sense and for `bruteforce` on more than 24 items,
/// and `out_of_budget`.
itemset_list mine(context const& ctx, transaction_view const& data, mining_options const& options);

}  // namespace rulerank::rules
