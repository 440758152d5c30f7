#include "rules/mining/miner.hpp"

#include "core/engine_registry.hpp"
#include "core/error.hpp"
#include "core/machine.hpp"
#include "core/named_values.hpp"
#include "core/process_group.hpp"
#include "rules/mining/engines.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::rules {
namespace {

using mining_function = itemset_list (*)(context const&, transaction_view const&,
                                         mining_options const&);
engine_registry<mining_engine, mining_function> const& registered() {
  static engine_registry<mining_engine, mining_function> const engines{
      {{mining_engine::bruteforce, "bruteforce",
        "the support of every set of at most 24 items, one thread", "Freitas 2017, Algorithm 1",
        runs_on::cpu, runs_on::nowhere},
       mining::bruteforce},
      {{mining_engine::apriori, "apriori",
        "level by level, candidates in a prefix tree, one thread", "Agrawal and Srikant 1994",
        runs_on::cpu, runs_on::nowhere},
       mining::apriori},
      {{mining_engine::vertical, "vertical",
        "depth first, bitmaps where items are dense and lists where they are rare", "",
        runs_on::cpu, runs_on::cpu},
       mining::vertical},
  };
  return engines;
}

constexpr named_values<itemset_kind, 3> kinds{{{"all", itemset_kind::all},
                                               {"closed", itemset_kind::closed},
                                               {"maximal", itemset_kind::maximal}}};

struct itemset_hash {
  std::size_t operator()(std::vector<item> const& x) const {
    std::size_t h = x.size();
    for (item const i : x) h = (h ^ i) * 0x9e3779b97f4a7c15U;
    return h;
  }
};

}  // namespace

std::span<mining_engine_info const> mining_engines() {
  return registered().list();
}
std::string_view name_of(mining_engine e) {
  return name_of_engine(mining_engines(), e);
}
mining_engine mining_engine_from(std::string_view name) {
  return engine_named<mining_engine>(mining_engines(), name);
}
std::string_view name_of(itemset_kind k) {
  return name_in(kinds, k);
}
itemset_kind itemset_kind_from(std::string_view name) {
  return value_named<itemset_kind>(kinds, name, "found kind");
}

std::uint64_t bytes_for_itemsets(context const& ctx) {
  return of_first<std::uint64_t>(ctx, free_memory()) / bytes_to_a_byte;
}

itemset_list mine(context const& ctx, transaction_view const& data, mining_options const& given) {
  mining_options const options = mining::resolved(ctx, given);
  if (options.max_size < options.min_size)
    throw usage_error("found a largest size of itemsets below the smallest");
  mining::check(data);
  mining_engine const engine = choose_engine(mining_engines(), options.engine, ctx).which;
  return registered().maker_of(engine)(ctx, data, options);
}

namespace mining {

mining_options resolved(context const& ctx, mining_options options) {
  options.min_support = std::max<std::uint32_t>(options.min_support, 1);
  options.min_size = std::max<std::uint32_t>(options.min_size, 1);
  if (options.max_size == 0) options.max_size = std::numeric_limits<std::uint32_t>::max();
  if (options.max_bytes == mining_options{}.max_bytes) options.max_bytes = bytes_for_itemsets(ctx);
  return options;
}

void check(transaction_view const& data) {
  if (data.size() > std::numeric_limits<std::uint32_t>::max())
    throw usage_error("found more than 4294967295 transactions");
  if (!data.row.empty() && (data.row.front() != 0 || data.row.back() > data.entries.size() ||
                            !std::ranges::is_sorted(data.row)))
    throw usage_error("found transaction ends that contradict the number of items");
  for (std::size_t t = 0; t < data.size(); ++t) {
    std::uint64_t least = 0;  // lower bound of the next item
    for (item const x : data[t]) {
      if (x < least || x >= data.items)
        throw usage_error(
            fmt::format("transaction {}: found item {}, expected ascending items below {}", t + 1,
                        x, data.items));
      least = std::uint64_t{x} + 1;
    }
  }
}

itemset_list of_kind(itemset_list const& all, mining_options const& options) {
  std::unordered_map<std::vector<item>, std::uint32_t, itemset_hash> support_of;
  all.for_each([&](std::span<item const> x, std::uint32_t support) {
    std::vector<item> set(x.begin(), x.end());
    std::sort(set.begin(), set.end());
    support_of.emplace(std::move(set), support);
  });
  std::unordered_set<std::vector<item>, itemset_hash> out;
  if (options.kind != itemset_kind::all) {
    for (auto const& [set, support] : support_of) {
      for (std::size_t i = 0; i < set.size() && set.size() > 1; ++i) {
        std::vector<item> less = set;
        less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
        if (options.kind == itemset_kind::maximal || support_of.at(less) == support)
          out.insert(std::move(less));
      }
    }
  }
  itemset_list kept(std::make_shared<memory_budget>(options.max_bytes));
  all.for_each([&](std::span<item const> x, std::uint32_t support) {
    if (x.size() < options.min_size || x.size() > options.max_size) return;
    std::vector<item> set(x.begin(), x.end());
    std::sort(set.begin(), set.end());
    if (out.contains(set)) return;
    for (std::uint32_t i = 0; i < set.size(); ++i)
      kept.push(set[i], i + 1, i + 1 == set.size() ? support : 0);
  });
  return kept;
}

}  // namespace mining
}  // namespace rulerank::rules
