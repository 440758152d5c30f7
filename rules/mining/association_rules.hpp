#pragma once

#include "core/context.hpp"
#include "datasets/transactions.hpp"
#include "rules/itemset.hpp"
#include "rules/mining/itemset_table.hpp"
#include "rules/mining/rule_measures.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::rules {

/// Where in a rule an item may stand.
enum class appearance : std::uint8_t { neither = 0, antecedent = 1, consequent = 2, both = 3 };

/// Removes the items that may stand on neither side of a rule from all transactions, which stay, as
/// do the items' ids and names. `where` is [items], or empty: nothing is removed.
void drop_unplaced_items(datasets::transactions& data, std::span<appearance const> where);

struct association_options {
  double min_confidence = 0.8;  ///< of double(both) / double(antecedent)
  std::uint32_t min_size = 1;   ///< items of a rule, both sides together; a rule has 2 at least
  std::uint32_t max_consequent = 0;     ///< items behind the arrow; 0: any number
  std::span<appearance const> where{};  ///< [items], or empty: all stand anywhere
};

/// Rules as they are found.
class rule_list {
 public:
  struct rule {
    std::span<item const> antecedent;  ///< ascending
    std::span<item const> consequent;  ///< ascending
    rule_counts counts;
  };
  std::size_t size() const noexcept { return rules_.size(); }
  rule operator[](std::size_t i) const;
  void add(std::span<item const> antecedent, std::span<item const> consequent,
           rule_counts const& counts);

 private:
  struct place {
    std::size_t begin = 0;
    std::uint32_t antecedent = 0;  // items
    std::uint32_t consequent = 0;
    rule_counts counts;
  };
  std::vector<item> items_;
  std::vector<place> rules_;
};

/// The strong rules X -> Z - X of the itemsets Z of `found`, which are all frequent ones (Freitas
/// 2017, Algorithm 2: an antecedent whose rule is not strong leaves none among its subsets). In the
/// order of the table; of one itemset, smaller consequents first. Throws `usage_error` for a
/// confidence outside 0..1 and an itemset of more than 63 items.
rule_list association_rules(context const& ctx, itemset_table const& found,
                            std::uint64_t transactions, association_options const& options);

}  // namespace rulerank::rules
