#include "l2r/explain/explanation.hpp"

#include "core/error.hpp"
#include "l2r/explain/wide_integer.hpp"
#include "l2r/rules/engine_knobs.hpp"
#include "l2r/rules/prepared_training.hpp"
#include "l2r/rules/ranking_work.hpp"
#include "l2r/rules/rule_walk.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

/// The order of `moving_rules::most` for rules with `moved` above 0.
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

/// Counts rules and keeps the first `top` in an order.
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
  std::vector<rule> most_;  // a heap with its last rule in front
};

/// Splits the effects of rules evenly among the items of their antecedents.
template <class Number>
class parts_of_items {
 public:
  /// `items` ascend; antecedents have at most `max_size` of them.
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

/// Sorts rules by the sign of their effect, and splits effects among items.
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
  /// Moves the lists to an explanation or a comparison.
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
    throw usage_error(
        fmt::format("found document {}, expected 0 or more and less than {}", d, test.documents()));
  std::vector<rules::item> items;
  for (std::size_t f = 0; f < test.feature_count(); ++f)
    if (rules::item const x = test.at(f, d); x != no_known_item) items.push_back(x);
  return items;
}

/// Collects an explanation's totals, apart from the lists.
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
  std::vector<Number> weights_;  // [labels]
  std::vector<rules::item> last_;
};

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

void expect_explainable(context const& ctx, prepared_training const& training,
                        known_items const& test) {
  constexpr double most_of_one = 1e11;
  expect_feasible(ctx, training, test, most_of_one * static_cast<double>(test.documents()));
}

explanation explain_one(context const& ctx, prepared_training const& training,
                        known_items const& test, std::size_t d, std::size_t top) {
  auto const items = items_of(test, d);
  // Narrow sums keep num, and den times the largest label, below 2^63. With fewer than 2^32
  // training documents, N num + L den stays below 2^96, and no number here exceeds it.
  return training.table.is_wide() ? explain_with<wide_sum, wide_integer>(ctx, training, items, top)
                                  : explain_with<std::uint64_t, int128>(ctx, training, items, top);
}

explanation explain(context const& ctx, ranker const& by, datasets::binned_dataset const& test,
                    std::size_t d, std::size_t top) {
  known_items const known(ranker_access::prepared(by), test);
  expect_explainable(ctx, ranker_access::prepared(by), known);
  return explain_one(ctx, ranker_access::prepared(by), known, d, top);
}

comparison compare(context const& ctx, ranker const& by, datasets::binned_dataset const& test,
                   std::size_t first, std::size_t second, std::size_t top) {
  prepared_training const& training = ranker_access::prepared(by);
  known_items const known(training, test);
  expect_explainable(ctx, training, known);
  auto const a = items_of(known, first);
  auto const b = items_of(known, second);
  return training.table.is_wide() ? compare_with<wide_sum>(ctx, training, a, b, top)
                                  : compare_with<std::uint64_t>(ctx, training, a, b, top);
}

}  // namespace rulerank::l2r
