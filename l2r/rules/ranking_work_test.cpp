#include "l2r/rules/ranking_work.hpp"

#include "core/error.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/rules/ranker.hpp"
#include "l2r/testing.hpp"

#include <algorithm>
#include <ctime>

#include <gtest/gtest.h>

namespace rulerank::inline v0::l2r::ranking_work_test {
namespace {

using testing_tools::drawn_set;

scoring_options of_size(rules::rule_size rule_size) {
  scoring_options options;
  options.rule_size = rule_size;
  return options;
}

/// The number of itemsets in a document's tree, counted one by one.
void count(prepared_training const& training, std::vector<rules::item> const& items,
           std::size_t from, std::vector<rules::item>& itemset, std::vector<double>& tried) {
  rules::vertical_counter counter(training.index);
  std::vector<std::uint32_t> counts(training.index.class_count());
  for (std::size_t i = from; i < items.size(); ++i) {
    itemset.push_back(items[i]);
    ++tried[itemset.size() - 1];
    if (counter.supports(itemset, counts) > 0 && itemset.size() < tried.size())
      count(training, items, i + 1, itemset, tried);
    itemset.pop_back();
  }
}

TEST(tried_itemsets, are_near_those_that_are_tried) {
  auto const train = drawn_set({.documents = 200, .features = 9, .absent = 0.1}, 1);
  auto const test = drawn_set({.documents = 30, .features = 9, .absent = 0.1}, 2);
  prepared_training const training(train, of_size(6));
  known_items const known(training, test);
  std::vector<double> exact(5);
  for (std::size_t d = 0; d < test.documents; ++d) {
    std::vector<rules::item> items, itemset;
    for (std::size_t f = 0; f < known.feature_count(); ++f)
      if (rules::item const x = known.at(f, d); x != no_known_item) items.push_back(x);
    count(training, items, 0, itemset, exact);
  }
  std::vector<double> const about = tried_itemsets({}, training, known);
  ASSERT_EQ(about.size(), exact.size());
  for (std::size_t k = 0; k < exact.size(); ++k) {
    EXPECT_GT(exact[k], 100);
    EXPECT_NEAR(about[k], exact[k], 0.15 * exact[k]) << k;
  }
  EXPECT_EQ(tried_itemsets({}, training, known_items(training, drawn_set({.documents = 0}, 1)))[0],
            0);
}

/// Forty documents that hold the same items: no itemset is without support.
datasets::binned_dataset alike(std::size_t documents, std::size_t features) {
  auto set = drawn_set({.documents = documents, .features = features, .bins = 1}, 1);
  for (std::size_t d = 0; d < documents; ++d) set.labels[d] = static_cast<std::int32_t>(d % 2);
  set.max_label = 1;
  return set;
}

TEST(ranker, refuses_rules_that_would_take_days) {
  auto const train = alike(40, 250), test = alike(2, 250);
  context ctx;
  ctx.threads = 1;
  for (std::uint32_t const size : {9U, 10U, 12U}) {
    std::clock_t const begin = std::clock();  // processor time, so that other processes do not
                                              // count
    ranker const by(ctx, train, {.scoring = of_size(size)});
    try {
      by.score(ctx, test);
      FAIL() << "was begun";
    } catch (usage_error const& e) {
      std::string const message = e.what();
      EXPECT_TRUE(message.starts_with(fmt::format("rule size {} needs about ", size))) << message;
      // 250 items have 3.2e11 subsets of up to six items, 1.1e13 of up to seven, 3.5e14 of up to
      // eight.
      EXPECT_NE(message.find(" itemsets for 2 documents, expected at most 2e+12; use a rule size "
                             "of 7 or less (about "),
                std::string::npos)
          << message;
    }
    EXPECT_LT(std::clock() - begin, 60 * CLOCKS_PER_SEC);
  }
  ranker const small(ctx, train, {.scoring = of_size(3)});
  EXPECT_NO_THROW(small.score(ctx, test));
  // Explaining uses one thread and keeps the rules.
  ranker const larger(ctx, train, {.scoring = of_size(7)});
  EXPECT_THROW(explain(ctx, larger, test, 0, 5), usage_error);
  EXPECT_THROW(compare(ctx, larger, test, 0, 1, 5), usage_error);
}

TEST(ranker, says_how_long_long_work_takes) {
  auto const train = alike(40, 250), test = alike(2, 250);
  context ctx;
  ctx.threads = 1;
  std::vector<double> told;
  auto const score = [&](std::uint32_t size, engine by) {
    ranker_options options{of_size(size), {.engine = by}};
    options.execution.long_work = [&](double seconds) { told.push_back(seconds); };
    ranker(ctx, train, options).score(ctx, test);
  };
  score(3, engine::project);
  EXPECT_TRUE(told.empty());
  ctx.progress = [](std::string_view, std::uint64_t, std::uint64_t) { return false; };
  EXPECT_THROW(score(6, engine::project), interrupted);  // C(250, 1) + ... + C(250, 5) = 8.0e9
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NEAR(told[0], 2 * 8.0e9 / 2e8, 1);
  ctx.threads = 2;
  EXPECT_THROW(score(6, engine::project), interrupted);
  EXPECT_NEAR(told.back(), 8.0e9 / 2e8, 1);
}

TEST(ranker, progress_is_told_inside_a_document) {
  auto const train = alike(40, 60), test = alike(1, 60);
  context ctx;
  ctx.threads = 1;
  ranker const by(ctx, train, {.scoring = of_size(8)});
  // Processor time, so that other processes do not count.
  std::clock_t last = std::clock();
  std::clock_t longest = 0;
  std::vector<std::uint64_t> told;
  ctx.progress = [&](std::string_view, std::uint64_t done, std::uint64_t total) {
    std::clock_t const now = std::clock();
    longest = std::max(longest, now - last);
    last = now;
    EXPECT_LE(done, total);
    if (told.empty() || done != told.back()) told.push_back(done);
    return told.size() < 20;
  };
  EXPECT_THROW(by.score(ctx, test), interrupted);
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_LT(longest, 5 * CLOCKS_PER_SEC) << "far more often on a usual machine";
}

}  // namespace
}  // namespace rulerank::l2r::ranking_work_test
