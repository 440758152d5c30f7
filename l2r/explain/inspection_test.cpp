#include "l2r/explain/inspection.hpp"

#include "core/error.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"
#include "eval/evaluate.hpp"
#include "eval/significance.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/model/model.hpp"
#include "l2r/rules/engine_knobs.hpp"
#include "l2r/testing.hpp"
#include "rules/mining/association_rules.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <stop_token>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::l2r::inspection_test {
namespace {

using datasets::binned_dataset;
using testing_tools::drawn_set;

context on_threads(int n) {
  context ctx;
  ctx.threads = n;
  return ctx;
}

binned_dataset small_set(std::uint64_t seed, double missing = 0) {
  return drawn_set({.documents = 60, .features = 5, .bins = 3, .missing = missing, .absent = 0.1},
                   seed);
}

scoring_options of_three_items() {
  scoring_options how;
  how.rule_size = 4;
  return how;
}
scoring_options const three_items = of_three_items();

/// The sum of a rule over all explanations.
struct summed_rule {
  document_rule rule;
  double moved = 0;
};

std::map<std::pair<std::vector<rules::item>, std::int32_t>, summed_rule> rules_of(
    ranker const& by, binned_dataset const& training) {
  std::map<std::pair<std::vector<rules::item>, std::int32_t>, summed_rule> all;
  for (std::size_t d = 0; d < training.documents; ++d) {
    explanation const why = explain({}, by, training, d, 1'000'000);
    for (moving_rules const* some : {&why.up, &why.down, &why.level})
      for (document_rule const& rule : some->most) {
        summed_rule& sum = all[{rule.antecedent, rule.label}];
        sum.rule = rule;
        sum.moved += rule.moved.to_double() / why.denominator.to_double() /
                     static_cast<double>(why.training);
      }
  }
  return all;
}

/// The training documents that hold all of the items.
std::vector<std::size_t> holders(binned_dataset const& of, std::vector<rules::item> const& items) {
  std::vector<std::size_t> found;
  for (std::size_t d = 0; d < of.documents; ++d) {
    bool all = true;
    for (rules::item const x : items) {
      std::size_t f = 0;
      while (of.item_begin[f + 1] <= x) ++f;
      all = all && of.code(f, d) == x - of.item_begin[f];
    }
    if (all) found.push_back(d);
  }
  return found;
}

TEST(inspection, rules_are_those_of_all_explanations) {
  for (double const missing : {0.0, 0.3}) {
    binned_dataset const training = small_set(3, missing);
    ranker const by({}, training, {three_items});
    auto const expected = rules_of(by, training);
    std::set<std::vector<rules::item>> itemsets;
    std::vector<double> p;
    for (auto const& [key, sum] : expected) {
      itemsets.insert(key.first);
      std::uint64_t const with_label = static_cast<std::uint64_t>(
          std::count(training.labels.begin(), training.labels.end(), key.second));
      p.push_back(rules::chi_square_p(
          {training.documents, sum.rule.documents, with_label, sum.rule.support}));
    }
    std::vector<double> const corrected = eval::holm(p);
    rules_inspection const all = inspect({}, by, training, {.top = 100'000, .documents = 0});
    EXPECT_EQ(all.training, training.documents);
    EXPECT_EQ(all.looked_at, training.documents);
    EXPECT_EQ(all.rules, expected.size());
    EXPECT_EQ(all.itemsets, itemsets.size());
    ASSERT_FALSE(all.strongest.empty());
    for (std::size_t i = 0; i < all.strongest.size(); ++i) {
      strong_rule const& rule = all.strongest[i];
      auto const at = expected.find({rule.antecedent, rule.label});
      ASSERT_NE(at, expected.end());
      EXPECT_EQ(rule.support, at->second.rule.support);
      EXPECT_EQ(rule.documents, at->second.rule.documents);
      EXPECT_EQ(rule.with_label,
                std::count(training.labels.begin(), training.labels.end(), rule.label));
      EXPECT_NEAR(rule.moved, at->second.moved / static_cast<double>(training.documents), 1e-12);
      EXPECT_NEAR(rule.lift,
                  static_cast<double>(rule.support) * static_cast<double>(training.documents) /
                      (static_cast<double>(rule.documents) * static_cast<double>(rule.with_label)),
                  1e-12);
      auto const place = static_cast<std::size_t>(std::distance(expected.begin(), at));
      EXPECT_EQ(rule.p, p[place]);
      EXPECT_EQ(rule.p_holm, corrected[place]);
      if (i > 0) {
        EXPECT_GE(std::abs(all.strongest[i - 1].moved), std::abs(rule.moved));
      }
    }
  }
}

// Itemsets with the same documents are listed once: the closed one if it is small enough.
TEST(inspection, lists_no_redundant_rules) {
  binned_dataset const training =
      drawn_set({.documents = 14, .features = 6, .bins = 3, .missing = 0.2, .heaviness = 0.5}, 8);
  ranker const by({}, training, {three_items});
  auto const all_rules = rules_of(by, training);
  std::map<std::vector<std::size_t>, std::set<std::vector<rules::item>>> by_documents;
  for (auto const& [key, sum] : all_rules)
    by_documents[holders(training, key.first)].insert(key.first);
  rules_inspection const all = inspect({}, by, training, {.top = 100'000, .documents = 0});
  std::map<std::vector<std::size_t>, std::set<std::vector<rules::item>>> listed;
  for (strong_rule const& rule : all.strongest)
    listed[holders(training, rule.antecedent)].insert(rule.antecedent);
  ASSERT_EQ(listed.size(), by_documents.size());
  std::size_t redundant = 0;
  for (auto const& [documents, itemsets] : by_documents) {
    redundant += itemsets.size() - 1;
    ASSERT_EQ(listed.at(documents).size(), 1U);
    std::vector<rules::item> const& one = *listed.at(documents).begin();
    for (std::vector<rules::item> const& other : itemsets) {
      EXPECT_LE(other.size(), one.size());
      if (other.size() == one.size()) {
        EXPECT_LE(one, other);
      }
    }
  }
  EXPECT_GT(redundant, 20U);
}

TEST(inspection, features_move_what_explanations_say) {
  binned_dataset const training = small_set(5, 0.2);
  ranker const by({}, training, {three_items});
  std::map<std::uint32_t, double> expected;
  for (std::uint32_t const f : training.features) expected[f] = 0;
  for (std::size_t d = 0; d < training.documents; ++d) {
    explanation const why = explain({}, by, training, d, 0);
    for (item_part const& part : why.items.items) {
      std::size_t f = 0;
      while (training.item_begin[f + 1] <= part.item) ++f;
      expected[training.features[f]] +=
          std::abs(part.moved.to_double() / why.items.split.to_double() /
                   why.denominator.to_double() / static_cast<double>(why.training)) /
          static_cast<double>(training.documents);
    }
  }
  rules_inspection const all = inspect({}, by, training, {.documents = 0});
  ASSERT_EQ(all.features.size(), expected.size());
  for (feature_part const& part : all.features)
    EXPECT_NEAR(part.moved, expected.at(part.feature), 1e-12);
  for (std::size_t i = 1; i < all.features.size(); ++i)
    EXPECT_GE(all.features[i - 1].moved, all.features[i].moved);
}

TEST(inspection, dependence_is_the_mean_score_with_an_item_in_all_documents) {
  binned_dataset const training = small_set(6, 0.2);
  ranker const by({}, training, {three_items});
  rules_inspection const all = inspect({}, by, training, {.documents = 0});
  ASSERT_EQ(all.dependence.size(), training.features.size());
  for (std::size_t f = 0; f < training.features.size(); ++f) {
    partial_dependence const& one = all.dependence[f];
    EXPECT_EQ(one.feature, training.features[f]);
    ASSERT_GE(one.bins.size(), 2U);
    for (bin_dependence const& bin : one.bins) {
      EXPECT_EQ(bin.documents, holders(training, {bin.item}).size());
      binned_dataset changed = training;
      for (std::size_t d = 0; d < training.documents; ++d)
        changed.codes[f * changed.stride + d] =
            static_cast<std::uint8_t>(bin.item - training.item_begin[f]);
      double sum = 0;
      for (double const score : by.score({}, changed).scores) sum += score;
      EXPECT_EQ(bin.score, sum / static_cast<double>(training.documents));
    }
  }
}

/// Synthetic documents of three queries, some values missing, and what recipes make of them.
datasets::dataset drawn_documents() {
  std::string text;
  std::uint32_t state = 3;
  auto const next = [&] { return (state = state * 1664525 + 1013904223) >> 20; };
  for (int d = 0; d < 90; ++d) {
    text += fmt::format("{} qid:{}", next() % 3, d / 30 + 1);
    for (int f = 1; f <= 4; ++f)
      text += next() % 5 == 0 ? fmt::format(" {}:NULL", f) : fmt::format(" {}:{}", f, next() % 50);
    text += '\n';
  }
  return datasets::parse_svmlight({}, std::move(text), "drawn", {});
}

TEST(inspection, of_a_card_is_what_its_points_do_to_the_training_documents) {
  datasets::dataset const train = drawn_documents();
  recipe const how = scorecard_recipe{{}, nullptr, {card_loss::point, 1e-3, 1}};
  model const fitted = fit({}, train, {&how, 1});
  auto const& member = std::get<scorecard_member>(fitted.members.front());
  binned_dataset const items = datasets::apply_discretizer({}, train, *member.cuts);
  card_inspection const found = inspect(member);
  ASSERT_EQ(found.features.size(), 4U);
  ASSERT_EQ(found.dependence.size(), 4U);
  double const n = 90;
  for (std::size_t f = 0; f < 4; ++f) {
    std::vector<double> points;
    for (std::size_t d = 0; d < 90; ++d)
      points.push_back(value_of_points(member.card.points[items.item_begin[f] + items.code(f, d)]));
    double const mean = std::accumulate(points.begin(), points.end(), 0.0) / n;
    double moved = 0;
    for (double const one : points) moved += std::abs(one - mean) / n;
    auto const part = std::find_if(found.features.begin(), found.features.end(),
                                   [&](auto const& one) { return one.feature == f + 1; });
    EXPECT_GT(moved, 0);
    EXPECT_NEAR(part->moved, moved, 1e-12);
    for (bin_dependence const& bin : found.dependence[f].bins) {
      EXPECT_EQ(bin.documents, holders(items, {bin.item}).size());
      binned_dataset changed = items;
      for (std::size_t d = 0; d < 90; ++d)
        changed.codes[f * changed.stride + d] =
            static_cast<std::uint8_t>(bin.item - items.item_begin[f]);
      double sum = 0;
      for (double const one : score({}, member.card, changed)) sum += one;
      EXPECT_NEAR(bin.score, sum / n, 1e-12);
    }
  }
  for (std::size_t i = 1; i < 4; ++i)
    EXPECT_GE(found.features[i - 1].moved, found.features[i].moved);

  scorecard_member unknown = member;
  unknown.item_documents.clear();
  EXPECT_TRUE(inspect(unknown).features.empty());
}

TEST(inspection, of_weights_is_what_they_add_to_the_training_documents) {
  datasets::dataset const train = drawn_documents();
  recipe const how = linear_recipe{};
  model const fitted = fit({}, train, {&how, 1});
  auto const& member = std::get<linear_member>(fitted.members.front());
  std::vector<linear_part> const parts = linear_parts({}, member.weights, train);
  std::map<std::uint32_t, double> moved;
  for (std::size_t i = 0; i < parts.size(); ++i)
    moved[member.weights.features[i % 4].feature] += std::abs(parts[i].part) / 90;
  std::vector<feature_part> const found = inspect(member);
  ASSERT_EQ(found.size(), 4U);
  for (feature_part const& one : found) EXPECT_NEAR(one.moved, moved.at(one.feature), 1e-8);

  linear_member unknown = member;
  unknown.weights.features[2].moved = -1;
  EXPECT_TRUE(inspect(unknown).empty());
}

TEST(inspection, of_some_documents_and_on_any_threads) {
  binned_dataset const training = small_set(7);
  ranker const by({}, training, {three_items});
  rules_inspection const one = inspect(on_threads(1), by, training, {.top = 20, .documents = 13});
  EXPECT_EQ(one.looked_at, 13U);
  EXPECT_EQ(one.strongest.size(), 20U);
  for (int const threads : {2, 5}) {
    rules_inspection const other =
        inspect(on_threads(threads), by, training, {.top = 20, .documents = 13});
    for (std::size_t i = 0; i < one.strongest.size(); ++i) {
      EXPECT_EQ(one.strongest[i].antecedent, other.strongest[i].antecedent);
      EXPECT_EQ(one.strongest[i].moved, other.strongest[i].moved);
      EXPECT_EQ(one.strongest[i].p_holm, other.strongest[i].p_holm);
    }
    for (std::size_t f = 0; f < one.features.size(); ++f) {
      EXPECT_EQ(one.features[f].feature, other.features[f].feature);
      EXPECT_EQ(one.features[f].moved, other.features[f].moved);
    }
  }
}

TEST(inspection, sums_of_128_bits_say_the_same) {
  binned_dataset const training = small_set(9);
  ranker const narrow({}, training, {three_items});
  engine_knobs knobs;
  knobs.wide_sums = true;
  ranker const wide = ranker_access::with({}, training, {three_items}, knobs);
  rules_inspection const a = inspect({}, narrow, training, {.top = 10});
  rules_inspection const b = inspect({}, wide, training, {.top = 10});
  ASSERT_EQ(a.strongest.size(), b.strongest.size());
  for (std::size_t i = 0; i < a.strongest.size(); ++i) {
    EXPECT_EQ(a.strongest[i].antecedent, b.strongest[i].antecedent);
    EXPECT_NEAR(a.strongest[i].moved, b.strongest[i].moved, 1e-9);
  }
}

/// Documents whose label is feature 1; features 2 and 3 are independent of it, and few documents
/// list 3.
datasets::dataset one_telling_feature(int seed) {
  std::string text;
  for (int d = 0; d < 240; ++d) {
    int const x = (d * 37 + seed * 101) % 997;
    text += fmt::format("{} qid:{} 1:{} 2:{}", x % 3, d / 8, x % 3 + x % 7 * .01, x % 11);
    text += d % 5 == 0 ? fmt::format(" 3:{}\n", d % 4) : "\n";
  }
  return datasets::parse_svmlight({}, text, "drawn");
}

TEST(permutation_importance, is_that_of_the_feature_that_tells) {
  scorer const by({}, fit({}, one_telling_feature(1), std::vector<recipe>{rules_recipe{}}));
  datasets::dataset const test = one_telling_feature(2);
  std::vector<eval::measure> const measures{eval::parse_measure("NDCG@5"),
                                            eval::parse_measure("MAP")};
  eval::profile const profile = eval::make_profile("letor");
  permutation_importance const all = permute({}, by, test, measures, profile, 4);
  EXPECT_EQ(all.whole,
            eval::evaluate({}, test, by.score({}, test).scores, measures, profile).averages());
  ASSERT_EQ(all.features.size(), 3U);
  for (std::size_t m = 0; m < measures.size(); ++m) {
    EXPECT_GT(all.features[0].loss[m], 0.2);
    EXPECT_GT(all.features[0].deviation[m], 0);
    EXPECT_LT(std::abs(all.features[1].loss[m]), 0.1);
    EXPECT_LT(std::abs(all.features[2].loss[m]), 0.1);
  }
  permutation_importance const again = permute(on_threads(3), by, test, measures, profile, 4);
  context other_seed;
  other_seed.seed = 2;
  permutation_importance const drawn = permute(other_seed, by, test, measures, profile, 4);
  for (std::size_t f = 0; f < all.features.size(); ++f) {
    EXPECT_EQ(all.features[f].loss, again.features[f].loss);
    EXPECT_EQ(all.features[f].deviation, again.features[f].deviation);
  }
  EXPECT_NE(all.features[0].loss, drawn.features[0].loss);
  EXPECT_EQ(permute({}, by, test, measures, profile, 1).features[0].deviation,
            (std::vector<double>{0, 0}));
  EXPECT_THROW(permute({}, by, test, measures, profile, 0), usage_error);
  EXPECT_THROW(permute({}, by, test, {}, profile, 1), usage_error);
}

TEST(inspection, refuses_other_documents_and_stops) {
  binned_dataset const training = small_set(1);
  ranker const by({}, training, {three_items});
  EXPECT_THROW(inspect({}, by, drawn_set({.documents = 61, .features = 5, .bins = 3}, 1)),
               usage_error);
  std::stop_source stop;
  stop.request_stop();
  context ctx;
  ctx.stop = stop.get_token();
  EXPECT_THROW(inspect(ctx, by, training), interrupted);
}

}  // namespace
}  // namespace rulerank::l2r::inspection_test
