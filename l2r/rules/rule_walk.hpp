#pragma once
// Enumerates the rules of itemsets with each rule's contribution to a score, for explanations.

#include "core/context.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/explain/wide_integer.hpp"
#include "l2r/rules/prepared_training.hpp"
#include "rules/vertical_index.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rulerank::inline v0::l2r {

__extension__ using int128 = __int128;

/// An enumerated rule; Number holds its contribution and all sums of contributions exactly.
template <class Number>
struct walked_rule {
  std::vector<rules::item> antecedent;
  std::int32_t label = 0;
  std::uint32_t support = 0;
  std::uint32_t documents = 0;
  std::vector<std::uint32_t> classes;
  Number share = 0;
  Number weight = 0;
  Number moved = 0;
  bool first = true;
  bool second = false;

  document_rule listed() const {
    return {antecedent,
            label,
            support,
            documents,
            classes,
            exact(wide_integer(share)),
            exact(wide_integer(weight)),
            exact(wide_integer(moved)),
            first,
            second};
  }
};

/// The sum of a training set's labels and the number of its documents.
template <class Number>
struct mean_of_labels {
  Number sum = 0;
  Number documents = 0;

  explicit mean_of_labels(rules::vertical_index const& index) : documents(index.documents()) {
    for (std::size_t k = 0; k < index.class_count(); ++k)
      sum += Number(index.class_label(k)) * index.class_size(k);
  }
  /// The effect of a rule's share and weight relative to the mean label, in units of 1 / N.
  Number moved(Number const& share, Number const& weight) const {
    return documents * share - sum * weight;
  }
};

/// Enumerates itemsets that training documents hold, of one document or of all, with their
/// contributions to a score.
template <class Sum, class Number>
class walk {
 public:
  walk(context const& ctx, prepared_training const& training)
      : ctx_(ctx),
        view_(training.table.view<Sum>()),
        max_size_(training.table.max_itemset_size()),
        counter_(training.index),
        counts_(training.index.class_count()) {}

  /// Calls visit(rule) for each valid rule, with everything set but `moved`; the rules of an
  /// itemset are consecutive. Returns the sums of the score.
  template <class Visit>
  score_sums<Sum> run(std::vector<rules::item> const& items, Visit&& visit) {
    sums_ = {};
    rule_.antecedent.clear();
    extend(items, 0, items.size(), visit);
    return sums_;
  }
  /// As above, for the itemsets whose first item is items[i].
  template <class Visit>
  score_sums<Sum> run_from(std::vector<rules::item> const& items, std::size_t i, Visit&& visit) {
    sums_ = {};
    rule_.antecedent.clear();
    extend(items, i, i + 1, visit);
    return sums_;
  }

 private:
  template <class Visit>
  void extend(std::vector<rules::item> const& items, std::size_t from, std::size_t to,
              Visit& visit) {
    for (std::size_t i = from; i < to; ++i) {
      if (rule_.antecedent.empty()) ctx_.report("explain", i, items.size());
      rule_.antecedent.push_back(items[i]);
      // An itemset without support has no superset with support.
      if (std::uint32_t const n = counter_.supports(rule_.antecedent, counts_); n > 0) {
        visit_rules(n, visit);
        if (rule_.antecedent.size() < max_size_) {
          ctx_.check_stop();
          extend(items, i + 1, items.size(), visit);
        }
      }
      rule_.antecedent.pop_back();
    }
  }

  /// Visits the rules of the current itemset. Their weights sum to the itemset's contribution to
  /// den. If all labels are valid, that is one unit, which the rounded factor misses by less than
  /// n: the rule with the most support (of ties the largest label) gets the difference.
  template <class Visit>
  void visit_rules(std::uint32_t n, Visit& visit) {
    score_sums<Sum> const all = view_.classwise(n, counts_.data(), 1);
    sums_ += all;
    Number left = all.den;
    std::size_t best = counts_.size();
    for (std::size_t k = 0; k < counts_.size(); ++k) {
      if (counts_[k] < view_.min_valid[n]) continue;
      left -= weight(n, k);
      if (best == counts_.size() || counts_[k] > counts_[best]) best = k;
    }
    rule_.documents = n;
    rule_.classes = counts_;
    for (std::size_t k = 0; k < counts_.size(); ++k) {
      if (counts_[k] < view_.min_valid[n]) continue;
      rule_.label = view_.labels[k];
      rule_.support = counts_[k];
      rule_.weight = weight(n, k);
      rule_.share = rule_.weight * rule_.label;
      if (k == best) rule_.weight += left;
      visit(rule_);
    }
  }

  /// The contribution of class k to den, before the itemset's rounding correction.
  Number weight(std::uint32_t n, std::size_t k) const {
    Sum const extra = view_.extra == nullptr ? Sum{} : view_.extra[k * view_.size + n];
    return Number(view_.factor[n]) * counts_[k] + Number(extra);
  }

  context const& ctx_;
  score_view<Sum> view_;
  std::size_t max_size_;
  rules::vertical_counter counter_;
  std::vector<std::uint32_t> counts_;
  walked_rule<Number> rule_;
  score_sums<Sum> sums_;
};

/// Throws `usage_error` if a document of `test` has too many itemsets for one thread to enumerate.
void expect_explainable(context const& ctx, prepared_training const& training,
                        known_items const& test);
/// A context for the body of a parallel loop.
inline context one_thread(context const& ctx) {
  context alone;
  alone.threads = 1;
  alone.seed = ctx.seed;
  alone.stop = ctx.stop;
  return alone;
}

/// explain() of document d of `test`, without a limit on the work.
explanation explain_one(context const& ctx, prepared_training const& training,
                        known_items const& test, std::size_t d, std::size_t top);

}  // namespace rulerank::l2r
