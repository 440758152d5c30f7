#include "rules/mining/association_rules.hpp"

#include "core/error.hpp"
#include "rules/mining/consequents.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace rulerank::inline v0::rules {
namespace {

using mining::consequents;
using mining::select;
using mining::subset;

constexpr std::size_t itemsets_a_report = 4096;
constexpr std::uint64_t rules_a_stop_check = 1 << 16;

/// The rules of one itemset, level by level of the consequent. A consequent is tried if all
/// consequents with one item less gave strong rules, which is the pruning of Algorithm 2 in terms
/// of consequents.
class rules_of_itemset {
 public:
  rules_of_itemset(context const& ctx, itemset_table const& found, std::uint64_t transactions,
                   association_options const& options, rule_list& out)
      : ctx_(ctx),
        support_of_(found),
        transactions_(transactions),
        options_(options),
        budget_(options.max_bytes),
        out_(out) {}

  void find(std::span<item const> z, std::uint32_t support) {
    auto const of = mining::consequents_of(z, options_);
    if (!of) return;
    auto const [must, may, most] = *of;
    z_ = z;
    support_ = support;
    std::size_t const least = static_cast<std::size_t>(std::popcount(must));
    strong_.clear();
    if (must != 0) {
      if (!is_strong(must)) return;
      strong_.push_back(must);
    } else {
      for (subset left = may; left != 0; left &= left - 1) {
        subset const one = left & (0 - left);
        if (is_strong(one)) strong_.push_back(one);
      }
    }
    for (std::size_t size = std::max<std::size_t>(least, 1) + 1; size <= most && !strong_.empty();
         ++size)
      next_level(must, may);
  }

 private:
  /// Adds the rule with this consequent if it is strong.
  bool is_strong(subset consequent) {
    if (++tried_ % rules_a_stop_check == 0) ctx_.check_stop();
    select(z_, mining::all_of(z_) & ~consequent, antecedent_);
    std::uint32_t const n = support_of_(antecedent_);
    if (!mining::is_strong(support_, n, options_)) return false;
    select(z_, consequent, consequent_);
    budget_.take(rule_list::bytes_a_rule(z_.size()));
    out_.add(antecedent_, consequent_, {transactions_, n, support_of_(consequent_), support_});
    return true;
  }

  void next_level(subset must, subset may) {
    std::sort(strong_.begin(), strong_.end());
    std::vector<subset> next;
    for (subset const y : strong_) {
      // Generates each candidate once, from the candidate without its highest item.
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

  context const& ctx_;
  support_lookup support_of_;
  std::uint64_t transactions_;
  association_options const& options_;
  memory_budget budget_;
  rule_list& out_;
  std::uint64_t tried_ = 0;
  std::span<item const> z_;
  std::uint32_t support_ = 0;
  std::vector<subset> strong_;
  std::vector<item> antecedent_;
  std::vector<item> consequent_;
};

}  // namespace

std::optional<consequents> mining::consequents_of(std::span<item const> z,
                                                  association_options const& options) {
  if (z.size() < 2 || z.size() < options.min_size) return {};
  if (z.size() > most_items)
    throw usage_error(
        "found an itemset of more than 63 items, too many for rules; set a largest size");
  consequents of;
  for (std::size_t i = 0; i < z.size(); ++i) {
    auto const where = options.where.empty() ? appearance::both : options.where[z[i]];
    if (where == appearance::neither) return {};
    if (where == appearance::consequent) of.must |= subset{1} << i;
    if (where == appearance::both) of.may |= subset{1} << i;
  }
  of.most = z.size() - 1;
  if (options.max_consequent != 0) of.most = std::min<std::size_t>(of.most, options.max_consequent);
  if (of.must == 0 && of.may == 0) return {};
  if (static_cast<std::size_t>(std::popcount(of.must)) > of.most) return {};
  return of;
}

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
    throw usage_error("found a least confidence that is not from 0 to 1");
  rule_list out;
  rules_of_itemset rules(ctx, found, transactions, options, out);
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (k % itemsets_a_report == 0) ctx.report("rules", k, found.size());
    rules.find(found[k], found.support(k));
  }
  return out;
}

}  // namespace rulerank::rules
