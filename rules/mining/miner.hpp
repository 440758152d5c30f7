#pragma once

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "datasets/transactions.hpp"
#include "rules/mining/itemset_list.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

// Frequent itemset mining (docs/reference/definitions.md, Rules).
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::rules {

/// How itemsets are found; the same ones, whichever engine finds them.
enum class mining_engine {
  automatic,  ///< the default of the list
  bruteforce,
  apriori,
  vertical,
};

using mining_engine_info = engine_info<mining_engine>;
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
  /// For the list of what is found; more: `out_of_budget`. Default: `bytes_for_itemsets`.
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
};

/// Memory that a list of itemsets, sorting it and looking up supports for rules take for each byte
/// of the list.
inline constexpr std::uint64_t bytes_to_a_byte = 12;
/// As large as a list of itemsets may become in the memory that is free now, of several processes
/// (context::processes) on the first one's machine.
std::uint64_t bytes_for_itemsets(context const& ctx);

/// The transactions as a miner sees them: rows of item ids below `items`, ascending and distinct.
struct transaction_view {
  std::span<std::size_t const> row;  ///< [N + 1]
  std::span<item const> entries;
  std::uint32_t items = 0;

  std::size_t size() const noexcept { return row.empty() ? 0 : row.size() - 1; }
  std::span<item const> operator[](std::size_t t) const {
    return entries.subspan(row[t], row[t + 1] - row[t]);
  }
};
inline transaction_view view_of(datasets::transactions const& data) {
  return {data.row, data.items, static_cast<std::uint32_t>(data.names.size())};
}

/// The itemsets of at least one item that `min_support` transactions or more hold, each once. Their
/// order, and that of the items in them, is the engine's; it is the same for any number of threads
/// and processes. Over processes (context::processes) `vertical` deals the first items of the sets
/// and what is below them; the other engines have each process do all.
/// Throws `usage_error` for sizes that make no sense, for transactions that are not as a
/// transaction_view says, and for `bruteforce` on more than 24 items, and `out_of_budget`.
itemset_list mine(context const& ctx, transaction_view const& data, mining_options const& options);

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

/// A smallest support as people write it: a count ("500"), or a share of the transactions with a
/// point, an exponent or a percent sign ("0.1", "1e-3", "10%").
struct support_bound {
  std::uint64_t value = 0;  ///< the count, or percent x 10^decimals
  unsigned decimals = 0;
  bool percent = false;

  /// The fewest of n transactions that reach it, exactly; at least 1.
  std::uint32_t of(std::uint64_t n) const;
};

/// Throws `usage_error` for what is neither, for a share above 1, and for more digits than
/// 64 bits hold or more than 36 decimals.
support_bound support_bound_from(std::string_view text);

/// A smallest share such as a confidence: "80%", "0.8", "8e-1"; 0 to 1. Throws `usage_error`.
double share_from(std::string_view text);

}  // namespace rulerank::rules
