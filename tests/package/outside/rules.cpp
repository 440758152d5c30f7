// The frequent itemsets of six transactions, and the strong rules whose consequent is one item: the
// example of docs/reference/definitions.md.
// Prints: 19 itemsets: BDE -> A ADE -> B ABD -> E
#include "core/context.hpp"
#include "rules/mining/association_rules.hpp"
#include "rules/mining/itemset_list.hpp"
#include "rules/mining/miner.hpp"

#include <cstddef>
#include <iostream>
#include <string_view>
#include <vector>

namespace rules = rulerank::rules;

int main() {
  std::vector<std::size_t> row{0};
  std::vector<rules::item> items;
  for (std::string_view const transaction : {"ABDE", "BCE", "ABDE", "ABCE", "ABCDE", "BCD"}) {
    for (char const letter : transaction) items.push_back(static_cast<rules::item>(letter - 'A'));
    row.push_back(items.size());
  }
  rules::transaction_view const transactions{row, items, 5};

  rulerank::context const ctx;
  rules::mining_options wanted;
  wanted.min_support = 3;
  rules::itemset_table const found(ctx, rules::mine(ctx, transactions, wanted));
  std::cout << found.size() << " itemsets:";

  rules::association_options strong;
  strong.min_confidence = 0.9;
  strong.min_size = 4;
  strong.max_consequent = 1;
  auto const list = rules::association_rules(ctx, found, transactions.size(), strong);
  auto const letter_of = [](rules::item i) { return static_cast<char>('A' + i); };
  for (std::size_t r = 0; r < list.size(); ++r) {
    std::cout << ' ';
    for (auto const i : list[r].antecedent) std::cout << letter_of(i);
    std::cout << " -> ";
    for (auto const i : list[r].consequent) std::cout << letter_of(i);
  }
  std::cout << '\n';
}
