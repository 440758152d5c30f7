#include "rules/mining/association_rules.hpp"

#include "core/error.hpp"
#include "core/random.hpp"
#include "rules/mining/miner.hpp"
#include "rules/mining/mining_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace rulerank::inline v0::rules::association_rules_test {
namespace {

using reference::itemset;
using named_rule = std::tuple<itemset, itemset, std::uint64_t, std::uint64_t, std::uint64_t>;

struct database {
  explicit database(std::vector<itemset> s, std::uint32_t n) : sets(std::move(s)), items(n) {
    for (itemset const& set : sets) {
      entries.insert(entries.end(), set.begin(), set.end());
      row.push_back(entries.size());
    }
  }
  transaction_view view() const { return {row, entries, items}; }
  std::vector<itemset> sets;
  std::uint32_t items;
  std::vector<std::size_t> row{0};
  std::vector<item> entries;
};

std::set<named_rule> rules_of(database const& data, std::uint32_t min_support,
                              association_options const& options) {
  itemset_table const table({}, mine({}, data.view(), {.min_support = min_support}));
  rule_list const list = association_rules({}, table, data.sets.size(), options);
  std::set<named_rule> found;
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto const r = list[i];
    EXPECT_EQ(r.counts.transactions, data.sets.size());
    EXPECT_TRUE(found
                    .emplace(itemset(r.antecedent.begin(), r.antecedent.end()),
                             itemset(r.consequent.begin(), r.consequent.end()), r.counts.antecedent,
                             r.counts.consequent, r.counts.both)
                    .second);
  }
  return found;
}

/// Every split of every frequent itemset, by the definition.
std::set<named_rule> reference_rules(database const& data, std::uint32_t min_support,
                                     association_options const& options) {
  std::set<named_rule> found;
  for (auto const& [z, both] :
       reference::mine(data.sets, data.items, {.min_support = min_support})) {
    if (z.size() < options.min_size) continue;
    for (std::uint32_t mask = 1; mask + 1 < std::uint32_t{1} << z.size(); ++mask) {
      itemset x, y;
      bool allowed = true;
      for (std::size_t i = 0; i < z.size(); ++i) {
        bool const behind = (mask >> i & 1) != 0;
        (behind ? y : x).push_back(z[i]);
        auto const where = options.where.empty() ? 3 : static_cast<int>(options.where[z[i]]);
        allowed = allowed && (where & (behind ? 2 : 1)) != 0;
      }
      if (!allowed || (options.max_consequent != 0 && y.size() > options.max_consequent)) continue;
      std::uint32_t const n = reference::support_of(data.sets, x);
      if (static_cast<double>(both) / static_cast<double>(n) >= options.min_confidence)
        found.emplace(x, y, n, reference::support_of(data.sets, y), both);
    }
  }
  return found;
}

itemset letters(std::string_view text) {
  itemset set;
  for (char const c : text) set.push_back(static_cast<item>(c - 'A'));
  return set;
}

TEST(association_rules, golden_case_of_the_definitions) {
  database const data({letters("ABDE"), letters("BCE"), letters("ABDE"), letters("ABCE"),
                       letters("ABCDE"), letters("BCD")},
                      5);
  auto const found = rules_of(data, 3, {.min_confidence = 0.9, .min_size = 4});
  EXPECT_EQ(found, (std::set<named_rule>{{letters("ABD"), letters("E"), 3, 5, 3},
                                         {letters("ADE"), letters("B"), 3, 6, 3},
                                         {letters("BDE"), letters("A"), 3, 4, 3},
                                         {letters("AD"), letters("BE"), 3, 5, 3},
                                         {letters("DE"), letters("AB"), 3, 4, 3}}));
}

TEST(association_rules, are_the_reference_on_random_sets) {
  random_engine engine(3);
  std::size_t rules = 0;
  for (int round = 0; round < 80; ++round) {
    std::uint32_t const items = 2 + static_cast<std::uint32_t>(uniform_below(engine, 6));
    std::vector<itemset> sets(5 + uniform_below(engine, 40));
    for (itemset& s : sets)
      for (item x = 0; x < items; ++x)
        if (uniform_below(engine, 3) != 0) s.push_back(x);
    database const data(sets, items);
    std::vector<appearance> where(items);
    for (appearance& a : where)
      a = uniform_below(engine, 2) == 0 ? appearance::both
                                        : static_cast<appearance>(uniform_below(engine, 4));
    association_options options;
    options.min_confidence = static_cast<double>(uniform_below(engine, 11)) / 10;
    options.min_size = static_cast<std::uint32_t>(uniform_below(engine, 4));
    options.max_consequent = static_cast<std::uint32_t>(uniform_below(engine, 4));
    if (round % 2 == 1) options.where = where;
    auto const min_support = static_cast<std::uint32_t>(1 + uniform_below(engine, 6));
    auto const expected = reference_rules(data, min_support, options);
    ASSERT_EQ(rules_of(data, min_support, options), expected) << round;
    rules += expected.size();
  }
  EXPECT_GT(rules, 1000U);
}

TEST(itemset_table, has_one_order) {
  random_engine engine(8);
  std::vector<itemset> sets(60);
  for (itemset& s : sets)
    for (item x = 0; x < 9; ++x)
      if (uniform_below(engine, 2) != 0) s.push_back(x);
  database const data(sets, 9);
  auto const expected = reference::mine(sets, 9, {.min_support = 4});  // a map, so in this order
  for (mining_engine const e :
       {mining_engine::bruteforce, mining_engine::apriori, mining_engine::vertical}) {
    itemset_table const table({}, mine({}, data.view(), {.engine = e, .min_support = 4}));
    ASSERT_EQ(table.size(), expected.size());
    support_lookup const support_of(table);
    std::size_t k = 0;
    for (auto const& [x, support] : expected) {
      EXPECT_EQ(itemset(table[k].begin(), table[k].end()), x);
      EXPECT_EQ(table.support(k++), support);
      EXPECT_EQ(support_of(x), support);
    }
    EXPECT_EQ(support_of(itemset{3, 40}), 0U);
  }
}

TEST(estimated_rules, is_near_the_number_of_rules) {
  random_engine engine(12);
  std::vector<itemset> sets(200);
  for (itemset& s : sets)
    for (item x = 0; x < 12; ++x)
      if (uniform_below(engine, 12) > x / 2) s.push_back(x);
  database const data(sets, 12);
  itemset_table const table({}, mine({}, data.view(), {.min_support = 5}));
  std::vector<appearance> where(12, appearance::both);
  where[0] = appearance::consequent;
  where[3] = appearance::neither;
  where[5] = where[6] = appearance::antecedent;
  for (bool const some : {false, true})
    for (std::uint32_t const most : {0U, 1U, 2U})
      for (double const confidence : {0.0, 0.3, 0.6}) {
        association_options options{.min_confidence = confidence, .max_consequent = most};
        if (some) options.where = where;
        auto const rules =
            static_cast<double>(association_rules({}, table, sets.size(), options).size());
        double const about = estimated_rules({}, table, options);
        EXPECT_NEAR(about, rules, confidence == 0 ? 0 : rules / 10)
            << some << ' ' << most << ' ' << confidence;
        EXPECT_GT(rules, 50);
      }
  EXPECT_EQ(estimated_rules({}, itemset_table(), {}), 0);
}

TEST(association_rules, keep_within_their_memory) {
  // Two transactions of 20 items: 3^20 rules.
  itemset all(20);
  for (item x = 0; x < all.size(); ++x) all[x] = x;
  database const data({all, all}, 20);
  itemset_table const table({}, mine({}, data.view(), {.min_support = 1}));
  association_options options{.min_confidence = 0, .max_bytes = 1 << 20};
  EXPECT_NEAR(estimated_rules({}, table, options), std::pow(3.0, 20), 0.01 * std::pow(3.0, 20));
  EXPECT_THROW(association_rules({}, table, 2, options), out_of_budget);
  options.max_consequent = 1;
  options.min_size = 19;
  EXPECT_EQ(association_rules({}, table, 2, options).size(), 20U * 19 + 20);
}

TEST(association_rules, wrong_usage) {
  itemset_table const none;
  EXPECT_EQ(association_rules({}, none, 0, {}).size(), 0U);
  EXPECT_THROW(association_rules({}, none, 0, {.min_confidence = 1.5}), usage_error);
  EXPECT_THROW(association_rules({}, none, 0, {.min_confidence = -0.5}), usage_error);
}

TEST(rule_measures, worked_by_hand) {
  // 100 transactions, X in 40, Y in 50, both in 30.
  rule_counts const c{100, 40, 50, 30};
  EXPECT_DOUBLE_EQ(support(c), 0.3);
  EXPECT_DOUBLE_EQ(confidence(c), 0.75);
  EXPECT_DOUBLE_EQ(lift(c), 1.5);
  EXPECT_DOUBLE_EQ(leverage(c), 0.1);
  EXPECT_DOUBLE_EQ(conviction(c), 2.0);
  EXPECT_DOUBLE_EQ(zhang(c), 0.1 / 0.18);
  EXPECT_DOUBLE_EQ(jaccard(c), 0.5);
  EXPECT_DOUBLE_EQ(certainty(c), 0.5);
  EXPECT_DOUBLE_EQ(kulczynski(c), 0.675);
  EXPECT_NEAR(chi_square(c), 100.0 * 1000 * 1000 / (40.0 * 60 * 50 * 50), 1e-12);
  EXPECT_NEAR(chi_square_p(c), std::erfc(std::sqrt(chi_square(c) / 2)), 1e-15);
}

TEST(rule_measures, of_the_other_direction_and_of_independence) {
  rule_counts const against{100, 40, 50, 10};
  EXPECT_DOUBLE_EQ(certainty(against), (0.25 - 0.5) / 0.5);
  EXPECT_DOUBLE_EQ(zhang(against), -0.1 / 0.16);
  EXPECT_DOUBLE_EQ(leverage(against), -0.1);
  rule_counts const independent{100, 40, 50, 20};
  EXPECT_EQ(leverage(independent), 0);
  EXPECT_EQ(zhang(independent), 0);
  EXPECT_EQ(certainty(independent), 0);
  EXPECT_EQ(chi_square(independent), 0);
  EXPECT_EQ(chi_square_p(independent), 1);
  EXPECT_DOUBLE_EQ(lift(independent), 1);
  EXPECT_DOUBLE_EQ(conviction(independent), 1);
}

TEST(rule_measures, at_the_edges) {
  EXPECT_EQ(conviction({10, 4, 5, 4}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(certainty({10, 4, 5, 4}), 1);
  EXPECT_EQ(zhang({10, 4, 5, 4}), (40.0 - 20) / 24);
  rule_counts const everywhere{10, 4, 10, 4};
  for (auto const& [name, of] : rule_measures()) EXPECT_FALSE(std::isnan(of(everywhere))) << name;
  EXPECT_EQ(conviction(everywhere), 1);
  EXPECT_EQ(chi_square(everywhere), 0);
  EXPECT_EQ(certainty(everywhere), 0);
  EXPECT_EQ(rule_measures().size(), 11U);
}

}  // namespace
}  // namespace rulerank::rules::association_rules_test
