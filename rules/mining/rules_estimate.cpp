#include "core/random.hpp"
#include "rules/mining/association_rules.hpp"
#include "rules/mining/consequents.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <vector>

namespace rulerank::inline v0::rules {

namespace {

using mining::consequents;
using mining::subset;

/// Returns C(n, k) for n <= 63 as a double.
double choose(unsigned n, unsigned k) {
  double ways = 1;
  for (unsigned i = 1; i <= k; ++i) ways = ways * (n - k + i) / i;
  return ways;
}

/// Returns the numbers of consequents of an itemset by their number of free items.
std::array<double, 64> ways_of(consequents const& of) {
  std::array<double, 64> ways{};
  auto const must = static_cast<unsigned>(std::popcount(of.must));
  auto const may = static_cast<unsigned>(std::popcount(of.may));
  for (unsigned k = 0; k <= may; ++k)
    if (must + k >= 1 && must + k <= of.most) ways[k] = choose(may, k);
  return ways;
}

/// Returns `count` random items of a set, uniformly distributed.
subset drawn(random_engine& engine, subset from, unsigned count) {
  subset chosen = 0;
  for (auto left = static_cast<unsigned>(std::popcount(from)); count > 0; --left) {
    subset const lowest = from & (0 - from);
    if (uniform_below(engine, left) < count) {
      chosen |= lowest;
      --count;
    }
    from &= ~lowest;
  }
  return chosen;
}

}  // namespace

double estimated_rules(context const& ctx, itemset_table const& found,
                       association_options const& options, std::uint32_t draws) {
  // For each itemset, the number of consequents of preceding itemsets.
  std::vector<double> before{0};
  before.reserve(found.size() + 1);
  for (std::size_t k = 0; k < found.size(); ++k) {
    auto const of = mining::consequents_of(found[k], options);
    std::array<double, 64> const ways = of ? ways_of(*of) : std::array<double, 64>{};
    before.push_back(std::accumulate(ways.begin(), ways.end(), before.back()));
  }
  double const all = before.back();
  if (all == 0 || options.min_confidence <= 0) return all;
  support_lookup const support_of(found);
  random_engine engine(ctx.seed);
  std::vector<item> antecedent;
  std::uint32_t strong = 0;
  for (std::uint32_t draw = 0; draw < draws; ++draw) {
    double at = uniform_unit(engine) * all;
    auto const above = std::upper_bound(before.begin() + 1, before.end() - 1, at);
    auto const k = static_cast<std::size_t>(above - before.begin()) - 1;
    auto const of = mining::consequents_of(found[k], options);
    if (!of) continue;  // reached only by rounding
    at -= before[k];
    std::array<double, 64> const ways = ways_of(*of);
    unsigned count = 0;
    while (count + 1 < ways.size() && at >= ways[count]) at -= ways[count++];
    subset const y =
        of->must | drawn(engine, of->may,
                         std::min<unsigned>(count, static_cast<unsigned>(std::popcount(of->may))));
    mining::select(found[k], mining::all_of(found[k]) & ~y, antecedent);
    strong += mining::is_strong(found.support(k), support_of(antecedent), options);
  }
  return all * strong / std::max<std::uint32_t>(draws, 1);
}

}  // namespace rulerank::rules
