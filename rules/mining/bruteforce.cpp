// Freitas 2017, Algorithm 1: enumerates every itemset X of the items, and counts its support in a
// pass over the transactions.
#include "core/error.hpp"
#include "rules/mining/engines.hpp"

#include <algorithm>

namespace rulerank::inline v0::rules::mining {
namespace {

constexpr std::uint32_t most_brute_items = 24;

std::uint32_t support_of(transaction_view const& data, std::span<item const> x) {
  std::uint32_t support = 0;
  for (std::size_t t = 0; t < data.size(); ++t) {
    auto const held = data[t];
    support += std::includes(held.begin(), held.end(), x.begin(), x.end());
  }
  return support;
}

}  // namespace

itemset_list bruteforce(context const& ctx, transaction_view const& data,
                        mining_options const& options) {
  if (data.items > most_brute_items)
    throw usage_error(
        "engine bruteforce tries all sets of items, expected at most 24 items, found " +
        std::to_string(data.items));
  itemset_list all(std::make_shared<memory_budget>(options.max_bytes));
  std::vector<item> x;
  std::uint32_t const sets = std::uint32_t{1} << data.items;
  for (std::uint32_t mask = 1; mask < sets; ++mask) {
    if (mask % 1024 == 0) ctx.report("mine", mask, sets);
    x.clear();
    for (item i = 0; i < data.items; ++i)
      if ((mask >> i & 1) != 0) x.push_back(i);
    std::uint32_t const support = support_of(data, x);
    if (support < options.min_support) continue;
    for (std::uint32_t i = 0; i < x.size(); ++i)
      all.push(x[i], i + 1, i + 1 == x.size() ? support : 0);
  }
  return of_kind(all, options);
}

}  // namespace rulerank::rules::mining
