#include "l2r/explanation.hpp"

#include "core/error.hpp"
#include "l2r/prepared_training.hpp"
#include "l2r/ranking_work.hpp"
#include "l2r/wide_integer.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace rulerank::l2r {

namespace {

__extension__ using int128 = __int128;

/// A rule on the walk through all of them, with integers that hold what it adds and all sums of it.
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

/// What the labels of a training set add up to, and its documents.
template <class Number>
struct mean_of_labels {
  Number sum = 0;
  Number documents = 0;

  explicit mean_of_labels(rules::vertical_index const& index) : documents(index.documents()) {
    for (std::size_t k = 0; k < index.class_count(); ++k)
      sum += Number(index.class_label(k)) * index.class_size(k);
  }
  /// What a rule's share and weight move away from the mean, in units of 1 / N.
  Number moved(Number const& share, Number const& weight) const {
    return documents * share - sum * weight;
  }
};

/// The order of `moving_rules::most`, of rules that all move up.
template <class Rule>
bool further_up(Rule const& a, Rule const& b) {
  if (a.moved != b.moved) return a.moved > b.moved;
  if (a.support != b.support) return a.support > b.support;
  if (a.antecedent.size() != b.antecedent.size()) return a.antecedent.size() < b.antecedent.size();
  return std::tie(a.antecedent, b.label) < std::tie(b.antecedent, a.label);
}

template <class Rule>
bool further_down(Rule const& a, Rule const& b) {
  if (a.moved != b.moved) return a.moved < b.moved;
  return further_up(a, b);
}

/// Counts rules and keeps the `top` that come first in an order.
template <class Number>
class first_rules {
 public:
  using rule = walked_rule<Number>;
  using order = bool (*)(rule const&, rule const&);
  first_rules(order before, std::size_t top) : before_(before), top_(top) {}

  void add(rule const& r) {
    ++rules_;
    moved_ += r.moved;
    if (top_ == 0) return;
    if (most_.size() == top_) {
      if (!before_(r, most_.front())) return;
      std::pop_heap(most_.begin(), most_.end(), before_);
      most_.pop_back();
    }
    most_.push_back(r);
    std::push_heap(most_.begin(), most_.end(), before_);
  }
  moving_rules take() {
    std::sort_heap(most_.begin(), most_.end(), before_);
    moving_rules taken{{}, rules_, exact(wide_integer(moved_))};
    for (rule const& r : most_) taken.most.push_back(r.listed());
    return taken;
  }

 private:
  order before_;
  std::size_t top_;
  std::uint64_t rules_ = 0;
  Number moved_ = 0;
  std::vector<rule> most_;  // a heap whose front comes last
};

/// Splits what rules move evenly among their items.
template <class Number>
class parts_of_items {
 public:
  /// `items` ascending; antecedents have at most so many of them.
  parts_of_items(std::vector<rules::item> const& items, std::size_t max_size)
      : items_(items),
        max_size_(std::min(max_size, items.size())),
        rules_(items.size()),
        moved_(items.size() * max_size_) {}

  void add(walked_rule<Number> const& rule) {
    for (rules::item const x : rule.antecedent) {
      auto const i = static_cast<std::size_t>(std::lower_bound(items_.begin(), items_.end(), x) -
                                              items_.begin());
      ++rules_[i];
      moved_[i * max_size_ + rule.antecedent.size() - 1] += rule.moved;
    }
  }
  moving_items take() const {
    wide_integer split = 1;
    for (std::size_t size = 1; size <= max_size_; ++size)
      split = boost::multiprecision::lcm(split, wide_integer(size));
    moving_items parts;
    parts.split = exact(split);
    for (std::size_t i = 0; i < items_.size(); ++i) {
      wide_integer moved = 0;
      for (std::size_t size = 1; size <= max_size_; ++size)
        moved += wide_integer(moved_[i * max_size_ + size - 1]) * (split / size);
      parts.items.push_back({items_[i], rules_[i], exact(moved)});
    }
    std::stable_sort(
        parts.items.begin(), parts.items.end(),
        [](item_part const& a, item_part const& b) { return abs(a.moved) > abs(b.moved); });
    return parts;
  }

 private:
  std::vector<rules::item> items_;
  std::size_t max_size_;
  std::vector<std::uint64_t> rules_;
  std::vector<Number> moved_;  // [items x sizes]
};

/// Sorts rules into those that move up and down, and splits them among items.
template <class Number>
class movements {
 public:
  using rule_type = walked_rule<Number>;
  movements(std::vector<rules::item> const& items, std::size_t max_size, std::size_t top)
      : up_(further_up<rule_type>, top),
        down_(further_down<rule_type>, top),
        level_(further_up<rule_type>, top),
        items_(items, max_size) {}

  void add(rule_type const& rule) {
    (rule.moved > 0 ? up_ : rule.moved < 0 ? down_ : level_).add(rule);
    if (rule.moved != 0) items_.add(rule);
  }
  /// To an explanation or a comparison.
  template <class Result>
  void take(Result& to) {
    to.up = up_.take();
    to.down = down_.take();
    to.items = items_.take();
    if constexpr (requires { to.level; }) to.level = level_.take();
  }

 private:
  first_rules<Number> up_, down_, level_;
  parts_of_items<Number> items_;
};

/// The training items of a document, ascending.
std::vector<rules::item> items_of(known_items const& test, std::size_t d) {
  if (d >= test.documents())
    throw usage_error(fmt::format("document {}, expected one of {}, from 0", d, test.documents()));
  std::vector<rules::item> items;
  for (std::size_t f = 0; f < test.feature_count(); ++f)
    if (rules::item const x = test.at(f, d); x != no_known_item) items.push_back(x);
  return items;
}

/// Walks the itemsets that a document holds, with what each adds to its score.
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
  /// itemset come one after the other. Returns the sums of the score.
  template <class Visit>
  score_sums<Sum> run(std::vector<rules::item> const& items, Visit&& visit) {
    sums_ = {};
    rule_.antecedent.clear();
    extend(items, 0, visit);
    return sums_;
  }

 private:
  template <class Visit>
  void extend(std::vector<rules::item> const& items, std::size_t from, Visit& visit) {
    for (std::size_t i = from; i < items.size(); ++i) {
      if (rule_.antecedent.empty()) ctx_.report("explain", i, items.size());
      rule_.antecedent.push_back(items[i]);
      // What no training document holds has no larger itemset that one holds.
      if (std::uint32_t const n = counter_.supports(rule_.antecedent, counts_); n > 0) {
        visit_rules(n, visit);
        if (rule_.antecedent.size() < max_size_) {
          ctx_.check_stop();
          extend(items, i + 1, visit);
        }
      }
      rule_.antecedent.pop_back();
    }
  }

  /// The rules of the current itemset. Its weights add up to what it adds to den: where all labels
  /// are valid that is one unit, which the rounded factor misses by less than n, and its rule with
  /// the most support (of equal ones that with the largest label) has the difference.
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

  /// What class k adds to den, before the rounding of the itemset.
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

/// Gathers what an explanation says beside its lists.
template <class Number>
class summary {
 public:
  explicit summary(prepared_training const& training) {
    of_.mean_label = training.table.mean_label();
    of_.training = training.index.documents();
    for (std::size_t k = 0; k < training.index.class_count(); ++k)
      of_.labels.push_back({training.index.class_label(k), 0, 0});
    weights_.resize(of_.labels.size());
  }
  void add(walked_rule<Number> const& rule) {
    ++of_.rules;
    if (rule.antecedent != last_) {
      ++of_.itemsets;
      last_ = rule.antecedent;
    }
    for (std::size_t k = 0; k < weights_.size(); ++k)
      if (of_.labels[k].label == rule.label) {
        ++of_.labels[k].rules;
        weights_[k] += rule.weight;
      }
  }
  template <class Sum>
  explanation take(score_sums<Sum> const& sums) {
    of_.score = score_of(sums, of_.mean_label);
    of_.numerator = exact(wide_integer(sums.num));
    of_.denominator = exact(wide_integer(sums.den == 0 ? Sum{1} : sums.den));
    for (std::size_t k = 0; k < weights_.size(); ++k)
      of_.labels[k].weight = exact(wide_integer(weights_[k]));
    return std::move(of_);
  }

 private:
  explanation of_;
  std::vector<Number> weights_;  // of the labels
  std::vector<rules::item> last_;
};

/// A document's itemsets are walked by one thread, and their rules kept.
void expect_explainable(context const& ctx, prepared_training const& training,
                        known_items const& test) {
  constexpr double most_of_one = 1e11;
  expect_feasible(ctx, training, test, most_of_one * static_cast<double>(test.documents()));
}

template <class Sum, class Number>
explanation explain_with(context const& ctx, prepared_training const& training,
                         std::vector<rules::item> const& items, std::size_t top) {
  mean_of_labels<Number> const mean(training.index);
  summary<Number> whole(training);
  movements<Number> all(items, training.table.max_itemset_size(), top);
  auto const sums = walk<Sum, Number>(ctx, training).run(items, [&](walked_rule<Number>& rule) {
    rule.moved = mean.moved(rule.share, rule.weight);
    whole.add(rule);
    all.add(rule);
  });
  explanation result = whole.take(sums);
  all.take(result);
  return result;
}

template <class Sum>
comparison compare_with(context const& ctx, prepared_training const& training,
                        std::vector<rules::item> const& first,
                        std::vector<rules::item> const& second, std::size_t top) {
  using rule_type = walked_rule<wide_integer>;
  mean_of_labels<wide_integer> const mean(training.index);
  walk<Sum, wide_integer> itemsets(ctx, training);
  auto summarize = [&](std::vector<rules::item> const& items) {
    summary<wide_integer> whole(training);
    return whole.take(itemsets.run(items, [&](rule_type& rule) { whole.add(rule); }));
  };
  comparison result;
  result.first = summarize(first);
  result.second = summarize(second);
  wide_integer const den_first = wide(result.first.denominator);
  wide_integer const den_second = wide(result.second.denominator);
  result.denominator = exact(mean.documents * den_first * den_second);
  std::vector<rules::item> of_both;
  std::set_union(first.begin(), first.end(), second.begin(), second.end(),
                 std::back_inserter(of_both));
  movements<wide_integer> all(of_both, training.table.max_itemset_size(), top);
  auto held = [](std::vector<rules::item> const& items, rule_type const& rule) {
    return std::includes(items.begin(), items.end(), rule.antecedent.begin(),
                         rule.antecedent.end());
  };
  itemsets.run(first, [&](rule_type& rule) {
    wide_integer const moved = mean.moved(rule.share, rule.weight);
    rule.first = true;
    rule.second = held(second, rule);
    rule.moved = moved * den_second;
    if (rule.second) rule.moved -= moved * den_first;
    all.add(rule);
  });
  itemsets.run(second, [&](rule_type& rule) {
    if (held(first, rule)) return;
    rule.first = false;
    rule.second = true;
    rule.moved = -mean.moved(rule.share, rule.weight) * den_first;
    all.add(rule);
  });
  all.take(result);
  return result;
}

}  // namespace

explanation explain(context const& ctx, ranker const& by, datasets::binned_dataset const& test,
                    std::size_t d, std::size_t top) {
  prepared_training const& training = by.prepared();
  known_items const known(training, test);
  expect_explainable(ctx, training, known);
  auto const items = items_of(known, d);
  // Narrow sums leave num, and den times the largest label, below 2^63; with fewer than 2^32
  // training documents N num + L den, which nothing here exceeds, is below 2^96.
  return training.table.is_wide() ? explain_with<wide_sum, wide_integer>(ctx, training, items, top)
                                  : explain_with<std::uint64_t, int128>(ctx, training, items, top);
}

comparison compare(context const& ctx, ranker const& by, datasets::binned_dataset const& test,
                   std::size_t first, std::size_t second, std::size_t top) {
  prepared_training const& training = by.prepared();
  known_items const known(training, test);
  expect_explainable(ctx, training, known);
  auto const a = items_of(known, first);
  auto const b = items_of(known, second);
  return training.table.is_wide() ? compare_with<wide_sum>(ctx, training, a, b, top)
                                  : compare_with<std::uint64_t>(ctx, training, a, b, top);
}

}  // namespace rulerank::l2r
