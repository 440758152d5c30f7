#include "l2r/explain/explanation.hpp"

#include "core/error.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/explain/wide_integer.hpp"
#include "l2r/rules/engine_knobs.hpp"
#include "l2r/rules/prepared_training.hpp"
#include "l2r/rules/ranker.hpp"
#include "l2r/testing.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::l2r::explanation_test {
namespace {

using datasets::binned_dataset;
using testing_tools::documents_of;
using testing_tools::drawn_set;
using testing_tools::drawn_shape;
using testing_tools::golden_case;
using testing_tools::golden_cases;
using testing_tools::golden_name;
using testing_tools::golden_scores_of;
using testing_tools::items_of;
using testing_tools::numbers_in;
using testing_tools::read_fold;

constexpr std::size_t all_rules = 1'000'000;

std::uint64_t bits_of(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

/// Identifies a rule.
using rule_key = std::pair<std::vector<rules::item>, std::int32_t>;

/// A rule by its definition.
struct plain_rule {
  std::uint32_t support = 0;
  std::uint32_t documents = 0;
  reference::wide share = 0;
};

/// Every valid rule of a document, by brute force.
std::map<rule_key, plain_rule> rules_of(std::vector<reference::document> const& training,
                                        std::size_t features, std::vector<rules::item> const& items,
                                        scoring_options const& options, bool wide) {
  reference::fixed_point const fixed(training, features, options, wide);
  auto const prior = reference::priors(training);
  bool const plain = options.support_weight == 0 && options.smoothing == 0;
  auto const rounded = [&](long double x) {
    return static_cast<reference::wide>(std::floor(std::ldexp(x, fixed.shift) + 0.5L));
  };
  std::map<rule_key, plain_rule> found;
  rules::reference::for_each_itemset(items, options.rule_size - 1, [&](auto const& x) {
    auto const counts = rules::reference::supports(training, x, reference::max_label(training));
    std::uint32_t const n = reference::sum_of(counts);
    if (n == 0) return;
    auto const share =
        std::pow(static_cast<long double>(n), static_cast<long double>(options.support_weight)) /
        (static_cast<long double>(n) + options.smoothing);
    reference::wide const factor =
        plain ? ((reference::wide{1} << fixed.shift) + n / 2) / n : rounded(share);
    for (std::size_t r = 0; r < counts.size(); ++r) {
      if (!rules::reference::valid(counts[r], n, options.thresholds)) continue;
      reference::wide one = factor * counts[r];
      if (options.smoothing != 0) one += rounded(share * options.smoothing * prior[r]);
      found[{x, static_cast<std::int32_t>(r)}] = {counts[r], n, one * r};
    }
  });
  return found;
}

/// Options and test-only settings.
struct setup {
  ranker_options options;
  engine_knobs knobs;
};

std::vector<setup> option_sets() {
  std::vector<setup> all;
  for (std::uint32_t size : {2U, 3U, 4U})
    for (rules::thresholds t : {rules::thresholds{1, .001}, {2, .2}})
      for (auto [w, a] : {std::pair{0., 0.}, {-0.25, 5.}, {0.5, 0.}})
        for (bool wide : {false, true})
          all.push_back({{.scoring = {size, t, w, a}}, {.wide_sums = wide}});
  return all;
}

/// The rules of both lists.
std::vector<document_rule> listed(moving_rules const& up, moving_rules const& down) {
  std::vector<document_rule> all = up.most;
  all.insert(all.end(), down.most.begin(), down.most.end());
  return all;
}

void expect_same(std::vector<document_rule> const& a, std::vector<document_rule> const& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].antecedent, b[i].antecedent);
    EXPECT_EQ(a[i].label, b[i].label);
    EXPECT_EQ(a[i].moved, b[i].moved);
  }
}

/// N L of a training set.
struct label_sums {
  exact_integer documents, labels;
  explicit label_sums(binned_dataset const& set)
      : documents(set.documents),
        labels(std::accumulate(set.labels.begin(), set.labels.end(), std::int64_t{0})) {}
};

/// The split among items, from a list of all rules.
void expect_split(moving_items const& parts, std::vector<document_rule> const& rules,
                  std::vector<rules::item> const& items) {
  std::map<rules::item, std::pair<std::uint64_t, exact_integer>> expected;
  for (rules::item const x : items) expected[x] = {0, 0};
  for (document_rule const& rule : rules)
    for (rules::item const x : rule.antecedent) {
      ++expected.at(x).first;
      wide_integer const split = wide(parts.split);
      ASSERT_EQ(split % rule.antecedent.size(), 0);
      expected.at(x).second += rule.moved * exact(split / rule.antecedent.size());
    }
  ASSERT_EQ(parts.items.size(), expected.size());
  exact_integer sum = 0;
  exact_integer rest = 0;
  for (document_rule const& rule : rules) rest += rule.moved;
  for (std::size_t i = 0; i < parts.items.size(); ++i) {
    item_part const& part = parts.items[i];
    EXPECT_EQ(part.rules, expected.at(part.item).first);
    EXPECT_EQ(part.moved, expected.at(part.item).second);
    if (i > 0) {
      EXPECT_GE(abs(parts.items[i - 1].moved), abs(part.moved));
    }
    sum += part.moved;
  }
  EXPECT_EQ(sum, rest * parts.split);
}

void expect_adds_up(explanation const& why, label_sums const& mean) {
  exact_integer moved = 0;
  exact_integer weight = 0;
  std::uint64_t rules = 0;
  for (label_rules const& l : why.labels) {
    weight += l.weight;
    rules += l.rules;
    moved += (mean.documents * l.label - mean.labels) * l.weight;
  }
  EXPECT_EQ(rules, why.rules);
  EXPECT_EQ(why.up.moved + why.down.moved,
            why.rules == 0 ? exact_integer(0)
                           : mean.documents * why.numerator - mean.labels * why.denominator);
  if (why.rules > 0) {
    EXPECT_EQ(weight, why.denominator);
  }
  exact_integer listed_up = 0;
  for (document_rule const& rule : why.up.most) listed_up += rule.moved;
  if (why.up.most.size() == why.up.rules) {
    EXPECT_EQ(listed_up, why.up.moved);
  }
}

/// Compares every rule, its supports and its share with the definition.
void expect_every_rule(explanation const& why, prepared_training const& training,
                       std::map<rule_key, plain_rule> const& expected, label_sums const& mean) {
  EXPECT_EQ(why.rules, expected.size());
  exact_integer shares = 0;
  for (auto const& [key, rule] : expected) shares += exact(wide_integer(rule.share));
  EXPECT_EQ(shares, why.numerator);
  EXPECT_EQ(why.up.rules, why.up.most.size());
  EXPECT_EQ(why.down.rules, why.down.most.size());
  std::size_t found = 0;
  exact_integer listed_shares = 0;
  exact_integer listed_weights = 0;
  std::vector<document_rule> all = listed(why.up, why.down);
  all.insert(all.end(), why.level.most.begin(), why.level.most.end());
  for (document_rule const& rule : all) {
    listed_shares += rule.share;
    listed_weights += rule.weight;
    auto const of = expected.find({rule.antecedent, rule.label});
    ASSERT_NE(of, expected.end());
    ++found;
    EXPECT_EQ(rule.support, of->second.support);
    EXPECT_EQ(rule.documents, of->second.documents);
    EXPECT_EQ(rule.share, exact(wide_integer(of->second.share)));
    EXPECT_EQ(rule.moved, mean.documents * rule.share - mean.labels * rule.weight);
    EXPECT_EQ(std::accumulate(rule.classes.begin(), rule.classes.end(), std::uint32_t{0}),
              rule.documents);
    for (std::size_t k = 0; k < rule.classes.size(); ++k)
      if (training.index.class_label(k) == rule.label) {
        EXPECT_EQ(rule.classes[k], rule.support);
      }
  }
  EXPECT_EQ(found, expected.size());
  EXPECT_EQ(listed_shares, why.numerator);
  if (!expected.empty()) {
    EXPECT_EQ(listed_weights, why.denominator);
  }
  EXPECT_EQ(why.level.rules, why.level.most.size());
  for (document_rule const& rule : why.level.most) EXPECT_EQ(rule.moved, 0);
}

struct case_of_shape {
  std::string name;
  drawn_shape shape;
};

class explanations : public ::testing::TestWithParam<case_of_shape> {};

TEST_P(explanations, have_every_rule_and_the_engines_score) {
  drawn_shape test_shape = GetParam().shape;
  test_shape.documents = 2;
  binned_dataset const training = drawn_set(GetParam().shape, 1);
  binned_dataset const test = drawn_set(test_shape, 1001);
  auto const documents = documents_of(training);
  label_sums const mean(training);
  context const ctx;
  for (auto [options, knobs] : option_sets()) {
    SCOPED_TRACE(fmt::format("size {} support {} w {} wide {}", options.scoring.rule_size,
                             options.scoring.thresholds.min_support, options.scoring.support_weight,
                             knobs.wide_sums));
    ranker const project = ranker_access::with(ctx, training, options, knobs);
    options.execution.engine = engine::lrar;
    ranker const lrar = ranker_access::with(ctx, training, options, knobs);
    auto const scores = project.score(ctx, test).scores;
    auto const published = lrar.score(ctx, test).scores;
    known_items const items(ranker_access::prepared(project), test);
    for (std::size_t d = 0; d < test.documents; ++d) {
      explanation const why = explain(ctx, project, test, d, all_rules);
      EXPECT_EQ(bits_of(why.score), bits_of(scores[d]));
      EXPECT_EQ(bits_of(why.score), bits_of(published[d]));
      auto const held = items_of(test, d);
      EXPECT_EQ(bits_of(why.score),
                bits_of(reference::score(documents, training.feature_count(), held, options.scoring,
                                         knobs.wide_sums)));
      expect_adds_up(why, mean);
      expect_every_rule(
          why, ranker_access::prepared(project),
          rules_of(documents, training.feature_count(), held, options.scoring, knobs.wide_sums),
          mean);
      std::vector<rules::item> known;
      for (std::size_t f = 0; f < items.feature_count(); ++f)
        if (items.at(f, d) != no_known_item) known.push_back(items.at(f, d));
      expect_split(why.items, listed(why.up, why.down), known);
      explanation const few = explain(ctx, project, test, d, 3);
      for (auto const& [all, first] :
           {std::pair{&why.up, &few.up}, std::pair{&why.down, &few.down}}) {
        std::vector<document_rule> expected = all->most;
        expected.resize(std::min<std::size_t>(3, expected.size()));
        expect_same(first->most, expected);
        EXPECT_EQ(first->rules, all->rules);
        EXPECT_EQ(first->moved, all->moved);
      }
    }
  }
}

// If the mean label is a label, its rules have no effect; they are still listed.
TEST(explanation, lists_the_rules_of_the_mean_label) {
  binned_dataset training = drawn_set({90, 8, 4}, 5);
  for (std::size_t d = 0; d < training.documents; ++d)
    training.labels[d] = static_cast<std::int32_t>(d % 3);
  training.max_label = 2;
  binned_dataset const test = drawn_set({3, 8, 4}, 6);
  auto const documents = documents_of(training);
  context const ctx;
  ranker const r(ctx, training, {});
  std::uint64_t level = 0;
  for (std::size_t d = 0; d < test.documents; ++d) {
    explanation const why = explain(ctx, r, test, d, all_rules);
    level += why.level.rules;
    EXPECT_EQ(why.up.rules + why.down.rules + why.level.rules, why.rules);
    expect_every_rule(why, ranker_access::prepared(r),
                      rules_of(documents, training.feature_count(), items_of(test, d),
                               ranker_access::prepared(r).options, false),
                      label_sums(training));
  }
  EXPECT_GT(level, 0U);
}

TEST_P(explanations, comparisons_are_differences) {
  drawn_shape test_shape = GetParam().shape;
  test_shape.documents = 3;
  binned_dataset const training = drawn_set(GetParam().shape, 2);
  binned_dataset const test = drawn_set(test_shape, 1002);
  label_sums const mean(training);
  context const ctx;
  for (auto const& [options, knobs] : option_sets()) {
    if (options.scoring.rule_size != 3) continue;
    l2r::ranker const ranker = ranker_access::with(ctx, training, options, knobs);
    known_items const items(ranker_access::prepared(ranker), test);
    for (auto [a, b] : {std::pair<std::size_t, std::size_t>{0, 1}, {2, 1}, {1, 1}}) {
      explanation const one = explain(ctx, ranker, test, a, all_rules);
      explanation const two = explain(ctx, ranker, test, b, all_rules);
      comparison const why = compare(ctx, ranker, test, a, b, all_rules);
      EXPECT_EQ(bits_of(why.first.score), bits_of(one.score));
      EXPECT_EQ(bits_of(why.second.score), bits_of(two.score));
      EXPECT_EQ(why.denominator, mean.documents * one.denominator * two.denominator);
      std::map<rule_key, exact_integer> expected;
      for (document_rule const& rule : listed(one.up, one.down))
        expected[{rule.antecedent, rule.label}] += rule.moved * two.denominator;
      for (document_rule const& rule : listed(two.up, two.down))
        expected[{rule.antecedent, rule.label}] -= rule.moved * one.denominator;
      std::erase_if(expected, [](auto const& entry) { return entry.second == 0; });
      exact_integer sum = 0;
      for (document_rule const& rule : listed(why.up, why.down)) {
        auto const of = expected.find({rule.antecedent, rule.label});
        ASSERT_NE(of, expected.end());
        EXPECT_EQ(rule.moved, of->second);
        EXPECT_TRUE(rule.first || rule.second);
        sum += rule.moved;
        expected.erase(of);
      }
      EXPECT_TRUE(expected.empty());
      EXPECT_EQ(sum, why.up.moved + why.down.moved);
      if (one.rules > 0 && two.rules > 0) {
        EXPECT_EQ(sum, mean.documents *
                           (one.numerator * two.denominator - two.numerator * one.denominator));
      }
      std::vector<rules::item> known;
      for (std::size_t d : {a, b})
        for (std::size_t f = 0; f < items.feature_count(); ++f)
          if (items.at(f, d) != no_known_item) known.push_back(items.at(f, d));
      expect_split(why.items, listed(why.up, why.down), known);
      comparison const other = compare(ctx, ranker, test, b, a, all_rules);
      EXPECT_EQ(other.up.moved, -why.down.moved);
      EXPECT_EQ(other.down.rules, why.up.rules);
      for (std::size_t i = 0; i < why.up.most.size(); ++i) {
        EXPECT_EQ(other.down.most[i].antecedent, why.up.most[i].antecedent);
        EXPECT_EQ(other.down.most[i].first, why.up.most[i].second);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    shapes, explanations,
    ::testing::Values(
        case_of_shape{"plain", {}}, case_of_shape{"label_gaps", {50, 5, 3, {0, 3, 7}}},
        case_of_shape{"one_class", {30, 5, 3, {0}}}, case_of_shape{"one_class_3", {30, 5, 3, {3}}},
        case_of_shape{"one_document", {1, 5, 3, {1}}}, case_of_shape{"one_feature", {30, 1, 5}},
        case_of_shape{"missing_items", {60, 6, 3, {0, 1, 2}, .2}},
        case_of_shape{"absent_items", {60, 6, 3, {0, 1, 2}, .1, .5}},
        case_of_shape{"no_item_at_all", {20, 4, 3, {0, 1, 2}, 0, 1.}},
        case_of_shape{"word_boundary", {129, 4, 3, {0, 1}}}),
    [](auto const& of) { return of.param.name; });

/// Documents of two features with two bins each.
binned_dataset two_features(std::vector<std::tuple<int, int, int>> const& rows) {
  binned_dataset set;
  set.documents = rows.size();
  set.stride = round_up(rows.size(), alignment);
  set.features = {1, 2};
  set.item_begin = {0, 2, 4};
  set.has_missing_item = {false, false};
  set.codes.assign(2 * set.stride, datasets::no_item);
  for (std::size_t d = 0; d < rows.size(); ++d) {
    auto const [first, second, label] = rows[d];
    set.codes[d] = static_cast<std::uint8_t>(first);
    set.codes[set.stride + d] = static_cast<std::uint8_t>(second);
    set.labels.push_back(label);
    set.max_label = std::max(set.max_label, label);
  }
  return set;
}

// Worked by hand: s = 60, rec(2) = 2^59, rec(3) = (2^60 - 1) / 3; N = 4, L = 2.
TEST(explanation, golden) {
  binned_dataset const training = two_features({{0, 0, 1}, {0, 0, 1}, {0, 1, 0}, {1, 1, 0}});
  binned_dataset const test = two_features({{0, 0, 0}, {1, 1, 0}});
  context const ctx;
  ranker const ranker(ctx, training);
  explanation const why = explain(ctx, ranker, test, 0);
  exact_integer const unit = std::int64_t{1} << 60;
  exact_integer const third = ((std::int64_t{1} << 60) - 1) / 3;
  EXPECT_EQ(why.numerator, 2 * third + 2 * unit);
  EXPECT_EQ(why.denominator, 3 * unit);
  EXPECT_EQ(why.rules, 4U);
  EXPECT_EQ(why.itemsets, 3U);
  EXPECT_EQ(why.mean_label, 0.5);
  ASSERT_EQ(why.up.most.size(), 3U);
  using rule_items = std::vector<rules::item>;
  EXPECT_EQ(why.up.most[0].antecedent, rule_items({2}));
  EXPECT_EQ(why.up.most[1].antecedent, rule_items({0, 2}));
  EXPECT_EQ(why.up.most[2].antecedent, rule_items({0}));
  EXPECT_EQ(why.up.most[0].moved, 2 * unit);
  EXPECT_EQ(why.up.most[1].moved, 2 * unit);
  EXPECT_EQ(why.up.most[2].share, 2 * third);
  EXPECT_EQ(why.up.most[2].weight, 2 * third + 1);
  EXPECT_EQ(why.up.most[2].support, 2U);
  EXPECT_EQ(why.up.most[2].documents, 3U);
  EXPECT_EQ(why.up.most[2].classes, std::vector<std::uint32_t>({2, 1}));
  ASSERT_EQ(why.down.most.size(), 1U);
  EXPECT_EQ(why.down.most[0].antecedent, rule_items({0}));
  EXPECT_EQ(why.down.most[0].label, 0);
  EXPECT_EQ(why.down.most[0].share, 0);
  EXPECT_EQ(why.down.most[0].moved, -2 * third);
  // Rules of one item count fully, rules of two by half: up to rounding item 0 moves 4 (2 third) -
  // 2 (2 third + 1) - 2 (2 third) / 2 = 0, and half of the pair.
  EXPECT_EQ(why.items.split, 2);
  ASSERT_EQ(why.items.items.size(), 2U);
  EXPECT_EQ(why.items.items[0].item, 2U);
  EXPECT_EQ(why.items.items[0].moved, 6 * unit);
  EXPECT_EQ(why.items.items[0].rules, 2U);
  EXPECT_EQ(why.items.items[1].moved, 2 * unit + 2 * (2 * third - 2));
  EXPECT_EQ(why.items.items[1].rules, 3U);

  // The other document has {1}, {3} and {1, 3}, all with label 0; no rule in common.
  comparison const both = compare(ctx, ranker, test, 0, 1);
  EXPECT_EQ(both.second.score, 0.0);
  EXPECT_EQ(both.up.rules, 6U);
  EXPECT_EQ(both.down.rules, 1U);
  EXPECT_EQ(both.up.moved + both.down.moved, 4 * why.numerator * both.second.denominator);
}

TEST(explanation, what_is_refused) {
  binned_dataset const set = two_features({{0, 0, 1}, {1, 1, 0}});
  context ctx;
  ranker const ranker(ctx, set);
  EXPECT_THROW(explain(ctx, ranker, set, 2), usage_error);
  EXPECT_THROW(compare(ctx, ranker, set, 0, 2), usage_error);
  EXPECT_TRUE(explain(ctx, ranker, set, 0, 0).up.most.empty());
  std::stop_source stop;
  stop.request_stop();
  ctx.stop = stop.get_token();
  EXPECT_THROW(explain(ctx, ranker, set, 0), interrupted);
}

TEST(exact_integer, arithmetic) {
  exact_integer const a = std::int64_t{-3}, b = ~std::uint64_t{0};
  EXPECT_EQ((a * b).str(), "-55340232221128654845");
  EXPECT_EQ((a * b + 3 * b), 0);
  EXPECT_FALSE((a - a).is_negative());
  EXPECT_LT(a, 0);
  EXPECT_LT(a * b, a);
  EXPECT_GT(b * b, b);
  EXPECT_EQ(abs(a), 3);
  EXPECT_EQ(-a, 3);
  EXPECT_EQ((b * b).to_double(), 0x1p128);
  EXPECT_EQ(quotient(a, 2), -1.5);
  exact_integer large = 1;
  for (int i = 0; i < 7; ++i) large *= b;
  EXPECT_EQ(exact(wide(-large)), -large);
  EXPECT_EQ(wide(large).str(), large.str());
  EXPECT_EQ(exact_integer(std::numeric_limits<std::int64_t>::min()).str(), "-9223372036854775808");
}

// Members.

datasets::dataset list_of(int count, int salt, int a_query) {
  std::string text;
  for (int d = 0; d < count; ++d) {
    int const x = (d * 37 + salt * 101) % 997;
    text += fmt::format("{} qid:{} 1:{} 2:{} 3:{} 5:{}\n", x % 3, d / a_query, x % 11 * .5, x % 7,
                        d % a_query, x % 29);
  }
  return datasets::parse_svmlight(context{}, text, "drawn");
}

std::vector<recipe> some_recipes() {
  rules_recipe first, second;
  first.scoring = {3, {1, .001}, 0, 0, .6};
  second.discretizer.method = datasets::binning::width;
  second.scoring = {4, {2, .01}, -.25, 5};
  rules_recipe third = first;
  third.scoring = {2, {1, .1}, .5, 0};
  rules_recipe constant = first;  // no rule is valid: all documents get the mean label
  constant.scoring.thresholds.min_support = 10'000;
  return {first, second, third, constant};
}

TEST(explainer, parts_of_members_add_up_to_the_score) {
  context const ctx;
  model const m = fit(ctx, list_of(120, 1, 8), some_recipes());
  scorer const s(ctx, m);
  datasets::dataset const list = list_of(14, 2, 14);
  explainer const why(ctx, s, list);
  EXPECT_EQ(why.scores(), s.score(ctx, list).scores);
  EXPECT_EQ(why.order(), ranking(why.scores(), 0, list.size()));
  for (std::size_t d = 0; d < list.size(); ++d) {
    model_explanation const one = why.explain(ctx, d, all_rules);
    EXPECT_EQ(one.score, why.scores()[d]);
    EXPECT_EQ(why.order().at(one.rank - 1), d);
    ASSERT_EQ(one.members.size(), 4U);
    double parts = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      member_explanation const& member = one.members[k];
      parts += member.part;
      auto const& rules = std::get<rules_member>(m.members[k]);
      ranker const alone(ctx, *rules.training, {rules.scoring});
      auto const items = datasets::apply_discretizer(ctx, list, *rules.cuts);
      auto const& of_rules = std::get<explanation>(member.why);
      EXPECT_EQ(member.score, alone.score(ctx, items).scores[d]);
      EXPECT_EQ(of_rules.score, member.score);
      EXPECT_EQ(of_rules.rules, explain(ctx, alone, items, d).rules);
      for (document_rule const& rule : listed(of_rules.up, of_rules.down))
        for (rules::item const x : rule.antecedent) EXPECT_LT(x, why.ranges(k).size());
    }
    EXPECT_NEAR(parts, one.score, 1e-12);
    EXPECT_EQ(one.members[3].part, 0);  // a constant member
    EXPECT_EQ(one.members[3].deviation, 0);
  }
  model_comparison const both = why.compare(ctx, 3, 9);
  double difference = 0;
  for (std::size_t k = 0; k < both.members.size(); ++k) {
    member_comparison const& member = both.members[k];
    difference += member.first_part - member.second_part;
    EXPECT_EQ(std::get<comparison>(member.why).first.score, member.first_score);
    EXPECT_EQ(member.first_score, why.explain(ctx, 3).members[k].score);
  }
  EXPECT_NEAR(difference, both.first_score - both.second_score, 1e-12);
  EXPECT_EQ(both.first_rank, why.explain(ctx, 3).rank);
}

TEST(explainer, terms_of_points_and_weights_add_up) {
  context const ctx;
  model const m = fit(ctx, list_of(120, 1, 8),
                      std::vector<recipe>{scorecard_recipe{}, linear_recipe{}, rules_recipe{}});
  scorer const s(ctx, m);
  datasets::dataset const list = list_of(14, 2, 14);
  explainer const why(ctx, s, list);
  EXPECT_EQ(why.scores(), s.score(ctx, list).scores);
  scorecard const& card = std::get<scorecard_member>(m.members[0]).card;
  for (std::size_t d = 0; d < list.size(); ++d) {
    model_explanation const one = why.explain(ctx, d);
    double parts = 0;
    for (member_explanation const& member : one.members) parts += member.part;
    EXPECT_NEAR(parts, one.score, 1e-12);
    auto const& points = std::get<sum_explanation>(one.members[0].why);
    auto const& weights = std::get<sum_explanation>(one.members[1].why);
    EXPECT_EQ(points.score, one.members[0].score);
    ASSERT_EQ(points.terms.size(), card.features.size());
    double sum = 0;
    for (score_term const& term : points.terms) {
      ASSERT_TRUE(term.item);
      EXPECT_EQ(why.ranges(0).at(*term.item).feature, term.feature);
      EXPECT_EQ(term.adds, value_of_points(card.points[*term.item]));
      sum += term.adds;
    }
    EXPECT_NEAR(sum, points.score, 1e-12);
    sum = 0;
    for (score_term const& term : weights.terms) {
      EXPECT_EQ(term.adds, term.missing ? term.weight : term.weight * term.z);
      sum += term.adds;
    }
    EXPECT_EQ(bits_of(sum), bits_of(one.members[1].score));
    EXPECT_TRUE(std::holds_alternative<explanation>(one.members[2].why));
  }
  EXPECT_TRUE(why.ranges(1).empty());
  model_comparison const both = why.compare(ctx, 3, 9);
  auto const& pair = std::get<sum_comparison>(both.members[1].why);
  EXPECT_EQ(pair.first.score, both.members[1].first_score);
  EXPECT_EQ(pair.second.score, both.members[1].second_score);
  double difference = 0;
  for (member_comparison const& member : both.members)
    difference += member.first_part - member.second_part;
  EXPECT_NEAR(difference, both.first_score - both.second_score, 1e-12);
}

/// `base` plus the features' effects is the score, and likewise for each member's column.
void expect_sum(score_effects const& of, std::size_t members) {
  double sum = of.base;
  for (feature_effect const& one : of.features) {
    ASSERT_EQ(one.by_member.size(), members);
    double adds = 0;
    for (double const each : one.by_member) adds += each;
    EXPECT_EQ(one.adds, adds);
    sum += one.adds;
  }
  EXPECT_NEAR(sum, of.score, 1e-12);
  double base = 0;
  for (double const one : of.base_by_member) base += one;
  EXPECT_EQ(of.base, base);
}

/// The effects of all documents at once equal each document's own, bit for bit, on any number of
/// threads.
void expect_same_lists(explainer const& why, std::size_t documents) {
  for (int const threads : {1, 4}) {
    context ctx;
    ctx.threads = threads;
    std::vector<score_effects> const all = why.effects(ctx);
    ASSERT_EQ(all.size(), documents);
    for (std::size_t d = 0; d < documents; ++d) {
      score_effects const one = why.effects(ctx, d);
      EXPECT_EQ(all[d].rank, one.rank);
      EXPECT_EQ(bits_of(all[d].base), bits_of(one.base));
      ASSERT_EQ(all[d].features.size(), one.features.size());
      for (std::size_t f = 0; f < one.features.size(); ++f)
        EXPECT_EQ(all[d].features[f].by_member, one.features[f].by_member);
    }
  }
}

TEST(rounded_to_sum, raises_the_largest_remainders) {
  using numbers = std::vector<double>;
  using units = std::vector<std::int64_t>;
  EXPECT_EQ(rounded_to_sum(numbers{.14, .26, .6}, .1, 10), (units{1, 3, 6}));
  EXPECT_EQ(rounded_to_sum(numbers{.25, .25, .5}, .5, 2),
            (units{1, 0, 1}));  // of equal ones the first
  EXPECT_EQ(rounded_to_sum(numbers{-1.4, -1.4, .8}, 1, -2), (units{-1, -2, 1}));
  EXPECT_EQ(rounded_to_sum(numbers{5, 7, -2}, 1, 10), (units{5, 7, -2}));
  EXPECT_EQ(rounded_to_sum(numbers{1.5}, 1, 2), (units{2}));
  EXPECT_EQ(rounded_to_sum(numbers{0, 0, 0}, 1, 7), (units{3, 2, 2}));
  EXPECT_EQ(rounded_to_sum(numbers{0, 0, 0}, 1, -7), (units{-2, -2, -3}));
  EXPECT_EQ(rounded_to_sum(numbers{}, 1, 7), units{});
}

TEST(explainer, effects_of_features_add_up_to_the_score) {
  context const ctx;
  datasets::dataset const list = list_of(14, 2, 14);
  std::vector<recipe> const all{scorecard_recipe{}, linear_recipe{}, rules_recipe{},
                                joint_recipe{}};
  std::vector<std::vector<recipe>> models{all, some_recipes()};
  for (recipe const& one : all) models.push_back({one});
  for (std::vector<recipe> const& recipes : models) {
    scorer const s(ctx, fit(ctx, list_of(120, 1, 8), recipes));
    explainer const why(ctx, s, list);
    std::vector<feature_effect> const features = why.effects(ctx, 0).features;
    double const base = why.effects(ctx, 0).base;
    for (std::size_t d = 0; d < list.size(); ++d) {
      score_effects const one = why.effects(ctx, d);
      EXPECT_EQ(one.score, why.scores()[d]);
      EXPECT_EQ(one.rank, why.explain(ctx, d, 0).rank);
      EXPECT_EQ(one.base, base);
      expect_sum(one, recipes.size());
      ASSERT_EQ(one.features.size(), features.size());
      for (std::size_t f = 0; f < features.size(); ++f) {
        EXPECT_EQ(one.features[f].feature, features[f].feature);
        EXPECT_EQ(one.features[f].partner, features[f].partner);
      }
    }
    EXPECT_THROW(why.effects(ctx, list.size()), usage_error);
    expect_same_lists(why, list.size());
  }
  // A single sum's effects are its terms.
  scorer const s(ctx, fit(ctx, list_of(120, 1, 8), std::vector<recipe>{scorecard_recipe{}}));
  explainer const why(ctx, s, list);
  auto const terms = std::get<sum_explanation>(why.explain(ctx, 3).members[0].why).terms;
  score_effects const effects = why.effects(ctx, 3);
  EXPECT_EQ(effects.base, 0);
  ASSERT_EQ(effects.features.size(), terms.size());
  for (std::size_t f = 0; f < terms.size(); ++f) EXPECT_EQ(effects.features[f].adds, terms[f].adds);
}

TEST(explainer, one_member_alone_has_its_score) {
  context const ctx;
  scorer const s(ctx, fit(ctx, list_of(60, 1, 6), std::vector<recipe>{some_recipes().front()}));
  datasets::dataset const list = list_of(10, 2, 10);
  explainer const why(ctx, s, list);
  for (std::size_t d = 0; d < list.size(); ++d) {
    model_explanation const one = why.explain(ctx, d);
    EXPECT_EQ(one.members.at(0).part, one.score);
    EXPECT_EQ(one.members.at(0).score, one.score);
    EXPECT_EQ(one.members.at(0).rank, one.rank);
  }
  EXPECT_THROW(why.explain(ctx, list.size()), usage_error);
  EXPECT_THROW(why.compare(ctx, 0, list.size()), usage_error);
  EXPECT_THROW(explainer(ctx, s, list_of(10, 2, 5)), usage_error);
}

class golden_explanations : public ::testing::TestWithParam<golden_case> {};

TEST_P(golden_explanations, add_up_to_the_scores) {
  auto const& [set, method, size] = GetParam();
  RULERANK_REAL_DATA(golden, golden_scores_of(GetParam()));
  RULERANK_REAL_DATA(folder, "letor/" + set + "/Fold1");
  auto const [training, test] = read_fold(folder, datasets::binning_from(method), 500, 100);
  auto const expected = numbers_in(golden);
  ASSERT_EQ(expected.size(), test.documents);
  context const ctx;
  ranker_options options;
  options.scoring.rule_size = static_cast<std::uint32_t>(size);
  ranker ranker(ctx, training, options);
  auto const scores = ranker.score(ctx, test).scores;
  for (std::size_t d = 0; d < test.documents; d += 33) {
    explanation const why = explain(ctx, ranker, test, d, all_rules);
    EXPECT_EQ(bits_of(why.score), bits_of(scores[d])) << "document " << d;
    EXPECT_NEAR(why.score, expected[d], 1e-6 * expected[d]) << "document " << d;
    expect_adds_up(why, label_sums(training));
    exact_integer shares = 0;
    for (document_rule const& rule : listed(why.up, why.down)) shares += rule.share;
    EXPECT_EQ(shares, why.numerator) << "document " << d;  // the mean label is no integer
  }
}

INSTANTIATE_TEST_SUITE_P(files, golden_explanations, golden_cases(), golden_name);

}  // namespace
}  // namespace rulerank::l2r::explanation_test
