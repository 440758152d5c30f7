#include "rules/mining/engines.hpp"
#include "rules/mining/miner.hpp"

namespace rulerank::inline v0::rules {

double estimated_itemsets(context const& ctx, transaction_view const& data,
                          mining_options const& given, std::uint32_t walks) {
  mining::check(data);
  return mining::walked_itemsets(ctx, data, mining::resolved(ctx, given), walks);
}

fitting_support support_that_fits(context const& ctx, transaction_view const& data,
                                  mining_options const& given) {
  mining_options options = mining::resolved(ctx, given);
  double const room = static_cast<double>(options.max_bytes) / (2.0 * bytes_an_itemset);
  fitting_support best;
  auto const try_support = [&](std::uint32_t support) {
    options.min_support = support;
    double const itemsets = estimated_itemsets(ctx, data, options);
    if (itemsets <= room) best = {support, itemsets};
    return itemsets <= room;
  };
  auto low = static_cast<std::uint64_t>(options.min_support);
  auto high = static_cast<std::uint64_t>(data.size());
  if (high < low || !try_support(static_cast<std::uint32_t>(high))) return {};
  // A twentieth is as precise as the estimate.
  while (high - low > high / 20 + 1) {
    std::uint64_t const middle = low + (high - low) / 2;
    (try_support(static_cast<std::uint32_t>(middle)) ? high : low) = middle;
  }
  return best;
}

}  // namespace rulerank::rules
