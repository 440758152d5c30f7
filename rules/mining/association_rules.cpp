#include "rules/mining/association_rules.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace rulerank::rules {
namespace {

using subset = std::uint64_t;  // of an itemset's items, bit by bit
constexpr std::size_t most_items = 63;
constexpr std::size_t itemsets_a_report = 4096;

void select(std::span<item const> from, subset which, std::vector<item>& out) {
  out.clear();
  for (; which != 0; which &= which - 1)
    out.push_back(from[static_cast<std::size_t>(std::countr_zero(which))]);
}

/// The rules of one itemset, level by level of the consequent: a consequent is tried when all that
/// have one item less gave strong rules, which is Algorithm 2's pruning seen from the other side.
class rules_of_itemset {
 public:
  rules_of_itemset(itemset_table const& found, std::uint64_t transactions,
                   association_options const& options, rule_list& out)
      : support_of_(found), transactions_(transactions), options_(options), out_(out) {}

  void find(std::span<item const> z, std::uint32_t support) {
    subset must = 0, may = 0;
    if (!split(z, must, may)) return;
    z_ = z;
    support_ = support;
    std::size_t const least = static_cast<std::size_t>(std::popcount(must));
    std::size_t most = z.size() - 1;
    if (options_.max_consequent != 0) most = std::min<std::size_t>(most, options_.max_consequent);
    strong_.clear();
    if (must != 0) {
      if (least > most || !is_strong(must)) return;
      strong_.push_back(must);
    } else {
      for (subset left = may; left != 0; left &= left - 1) {
        subset const one = left & (0 - left);
        if (most >= 1 && is_strong(one)) strong_.push_back(one);
      }
    }
    for (std::size_t size = std::max<std::size_t>(least, 1) + 1; size <= most && !strong_.empty();
         ++size)
      next_level(must, may);
  }

 private:
  /// What the consequent must hold and may hold beside it; false when there can be no rule.
  bool split(std::span<item const> z, subset& must, subset& may) const {
    if (z.size() < 2 || z.size() < options_.min_size) return false;
    if (z.size() > most_items)
      throw usage_error("an itemset has more than 63 items, too many for rules: bound the size");
    for (std::size_t i = 0; i < z.size(); ++i) {
      auto const where = options_.where.empty() ? appearance::both : options_.where[z[i]];
      if (where == appearance::neither) return false;
      if (where == appearance::consequent) must |= subset{1} << i;
      if (where == appearance::both) may |= subset{1} << i;
    }
    return must != 0 || may != 0;
  }

  /// Takes the rule with this consequent down when it is strong.
  bool is_strong(subset consequent) {
    subset const all = (subset{1} << z_.size()) - 1;
    select(z_, all & ~consequent, antecedent_);
    std::uint32_t const n = support_of_(antecedent_);
    if (!(static_cast<double>(support_) / static_cast<double>(n) >= options_.min_confidence))
      return false;
    select(z_, consequent, consequent_);
    out_.add(antecedent_, consequent_, {transactions_, n, support_of_(consequent_), support_});
    return true;
  }

  void next_level(subset must, subset may) {
    std::sort(strong_.begin(), strong_.end());
    std::vector<subset> next;
    for (subset const y : strong_) {
      // Each candidate once, from what it is without its highest item.
      subset const own = y & ~must;
      subset const above = own == 0 ? ~subset{0} : ~(std::bit_ceil(own + 1) - 1);
      for (subset left = may & above & ~y; left != 0; left &= left - 1) {
        subset const candidate = y | (left & (0 - left));
        if (all_smaller_are_strong(candidate, must) && is_strong(candidate))
          next.push_back(candidate);
      }
    }
    strong_ = std::move(next);
  }
  bool all_smaller_are_strong(subset candidate, subset must) const {
    for (subset left = candidate & ~must; left != 0; left &= left - 1)
      if (!std::binary_search(strong_.begin(), strong_.end(), candidate & ~(left & (0 - left))))
        return false;
    return true;
  }

  support_lookup support_of_;
  std::uint64_t transactions_;
  association_options const& options_;
  rule_list& out_;
  std::span<item const> z_;
  std::uint32_t support_ = 0;
  std::vector<subset> strong_;
  std::vector<item> antecedent_;
  std::vector<item> consequent_;
};

}  // namespace

rule_list::rule rule_list::operator[](std::size_t i) const {
  place const& p = rules_[i];
  std::span<item const> const items(items_);
  return {items.subspan(p.begin, p.antecedent), items.subspan(p.begin + p.antecedent, p.consequent),
          p.counts};
}

void rule_list::add(std::span<item const> antecedent, std::span<item const> consequent,
                    rule_counts const& counts) {
  rules_.push_back({items_.size(), static_cast<std::uint32_t>(antecedent.size()),
                    static_cast<std::uint32_t>(consequent.size()), counts});
  items_.insert(items_.end(), antecedent.begin(), antecedent.end());
  items_.insert(items_.end(), consequent.begin(), consequent.end());
}

rule_list association_rules(context const& ctx, itemset_table const& found,
                            std::uint64_t transactions, association_options const& options) {
  if (!(options.min_confidence >= 0 && options.min_confidence <= 1))
    throw usage_error("the smallest confidence of a rule is not between 0 and 1");
  rule_list out;
  rules_of_itemset rules(found, transactions, options, out);
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (k % itemsets_a_report == 0) ctx.report("rules", k, found.size());
    rules.find(found[k], found.support(k));
  }
  return out;
}

}  // namespace rulerank::rules
