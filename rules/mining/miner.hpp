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

// Frequent itemset mining (docs/reference/definitions.md, Rules). Threads: any thread may call
// these functions at any time. Several threads may read an object at once, or one may change it.
namespace rulerank::inline v0::rules {

/// The algorithm that finds itemsets; all engines find the same ones.
enum class mining_engine {
  automatic,  ///< the default engine
  bruteforce,
  apriori,
  vertical,
};

using mining_engine_info = engine_info<mining_engine>;
std::span<mining_engine_info const> mining_engines();
std::string_view name_of(mining_engine e);
/// Throws `usage_error` that lists the names.
mining_engine mining_engine_from(std::string_view name);

/// The frequent itemsets to return.
enum class itemset_kind {
  all,
  closed,   ///< itemsets without a superset of the same support
  maximal,  ///< itemsets without a frequent superset
};
std::string_view name_of(itemset_kind k);
itemset_kind itemset_kind_from(std::string_view name);

struct mining_options {
  mining_engine engine = mining_engine::automatic;
  itemset_kind kind = itemset_kind::all;
  std::uint32_t min_support = 1;  ///< transactions; 0 means 1
  /// Sizes of the itemsets to return; 0: no upper bound. They do not affect whether a set is closed
  /// or maximal.
  std::uint32_t min_size = 1;
  std::uint32_t max_size = 0;
  /// Memory for the list of itemsets; beyond it, `out_of_budget` is thrown. Default:
  /// `bytes_for_itemsets`.
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
};

/// The memory for a list of itemsets, for sorting it and for looking up supports of rules, per byte
/// of the list.
inline constexpr std::uint64_t bytes_to_a_byte = 12;
/// Returns the largest size in bytes of a list of itemsets for the free memory; with several
/// processes (context::processes), for that of the first one's machine.
std::uint64_t bytes_for_itemsets(context const& ctx);

/// The input of a miner: rows of item ids below `items`, ascending and distinct.
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

/// Returns the itemsets of at least one item that occur in `min_support` or more transactions, each
/// once. Their order, and that of their items, depends on the engine, but not on the number of
/// threads and processes. With several processes (context::processes), `vertical` divides the sets
/// by their first item; the other engines do all work on each process. Throws `usage_error` for
/// contradictory sizes, for transactions that violate the conditions of transaction_view, and for
/// `bruteforce` on more than 24 items; throws `out_of_budget`.
itemset_list mine(context const& ctx, transaction_view const& data, mining_options const& options);

/// Bytes of an itemset in an itemset_list, without records that are only prefixes.
inline constexpr std::size_t bytes_an_itemset = sizeof(itemset_list::record);

/// Estimates the number of frequent itemsets of all kinds that mine() would return (an upper bound
/// for closed and maximal ones). Random walks descend the tree of the vertical miner; each visited
/// node counts as one divided by its probability (Knuth 1975, "Estimating the efficiency of
/// backtrack programs"). Unbiased, mostly within a factor of 2. Uses `ctx.seed`. Ignores sets
/// larger than `options.max_size`.
double estimated_itemsets(context const& ctx, transaction_view const& data,
                          mining_options const& options, std::uint32_t walks = 2000);

/// The smallest tried support, from `options.min_support` to all transactions, whose itemsets are
/// estimated to need less than half of `options.max_bytes`.
struct fitting_support {
  std::uint32_t support = 0;  ///< 0: none
  double itemsets = 0;
};
fitting_support support_that_fits(context const& ctx, transaction_view const& data,
                                  mining_options const& options);

/// A minimum support in the notation of an option: a count ("500"), or a share of the transactions
/// with a decimal point, an exponent or a percent sign ("0.1", "1e-3", "10%").
struct support_bound {
  std::uint64_t value = 0;  ///< the count, or percent × 10^decimals
  unsigned decimals = 0;
  bool percent = false;

  /// Returns the smallest number of n transactions that satisfies the bound, exactly; at least 1.
  std::uint32_t of(std::uint64_t n) const;
};

/// Parses a bound. Throws `usage_error` for anything else, for a share above 1, and for more digits
/// than 64 bits hold or more than 36 decimals.
support_bound support_bound_from(std::string_view text);

/// Parses a minimum share such as a confidence: "80%", "0.8", "8e-1"; 0 to 1. Throws `usage_error`.
double share_from(std::string_view text);

}  // namespace rulerank::rules
