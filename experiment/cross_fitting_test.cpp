#include "experiment/cross_fitting.hpp"

#include "core/random.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::experiment::cross_fitting_test {
namespace {

using doubles = std::vector<double>;

TEST(places_in_lists, by_hand) {
  std::vector<datasets::query_group> const queries{{"1", 0, 4}, {"2", 4, 5}, {"3", 5, 8}};
  doubles const scores{0.1, 0.5, 0.5, -2, 7, 3, 3, 3};
  EXPECT_EQ(places_in_lists(queries, scores),
            (doubles{2.0 / 6, 5.0 / 6, 5.0 / 6, 0, 0.5, 0.5, 0.5, 0.5}));
  EXPECT_TRUE(places_in_lists({}, {}).empty());
}

TEST(concordance, by_hand) {
  EXPECT_EQ(concordance(doubles{0, 0.5, 1}, std::vector<std::int32_t>{0, 1, 2}), 1);
  EXPECT_EQ(concordance(doubles{1, 0.5, 0}, std::vector<std::int32_t>{0, 1, 2}), 0);
  EXPECT_EQ(concordance(doubles{0.5, 0.5, 1}, std::vector<std::int32_t>{0, 3, 3}), 0.75);
  EXPECT_EQ(concordance(doubles{0.2, 0.7}, std::vector<std::int32_t>{1, 1}), 0.5);
  EXPECT_EQ(concordance({}, {}), 0.5);
}

TEST(concordance, is_that_of_all_pairs) {
  random_engine engine(3);
  for (std::size_t const documents : {2U, 9U, 100U}) {
    doubles places;
    std::vector<std::int32_t> labels;
    for (std::size_t d = 0; d < documents; ++d) {
      places.push_back(static_cast<double>(uniform_below(engine, 8)) / 8);
      labels.push_back(static_cast<std::int32_t>(uniform_below(engine, 5)));
    }
    double right = 0, all = 0;
    for (std::size_t a = 0; a < documents; ++a)
      for (std::size_t b = 0; b < documents; ++b)
        if (labels[a] > labels[b]) {
          ++all;
          right += places[a] > places[b] ? 1 : places[a] == places[b] ? 0.5 : 0;
        }
    EXPECT_EQ(concordance(places, labels), all == 0 ? 0.5 : right / all);
  }
}

struct drawn_sample {
  drawn_sample() {
    std::string text;
    for (int d = 0; d < 120; ++d) text += fmt::format("{} qid:{} 1:{}\n", d % 3, d / 6, d);
    data = datasets::parse_svmlight({}, text, "drawn");
    for (std::size_t d = 0; d < 60; d += 4) sample.push_back(d);  // of 10 queries, some twice
  }
  datasets::dataset data;
  std::vector<std::size_t> sample;
};

TEST(deal_sample, learns_and_judges_each_document_in_another_fold) {
  drawn_sample const drawn;
  auto const folds = deal_sample(drawn.data, drawn.sample, 5, 1);
  ASSERT_EQ(folds.size(), 5U);
  std::multiset<std::size_t> judged, listed;
  for (sample_fold const& f : folds) {
    std::set<std::size_t> both(f.learnt.begin(), f.learnt.end());
    EXPECT_TRUE(std::is_sorted(f.learnt.begin(), f.learnt.end()));
    EXPECT_TRUE(std::is_sorted(f.lists.begin(), f.lists.end()));
    for (std::size_t const place : f.judged) {
      judged.insert(f.lists.at(place));
      both.insert(f.lists[place]);
    }
    EXPECT_EQ(f.learnt.size() + f.judged.size(), drawn.sample.size());
    EXPECT_EQ(std::vector(both.begin(), both.end()), drawn.sample);
    listed.insert(f.lists.begin(), f.lists.end());
    EXPECT_EQ(f.lists.size(), 2 * 6U);  // whole queries
  }
  EXPECT_EQ(std::vector(judged.begin(), judged.end()), drawn.sample);
  EXPECT_EQ(listed.size(), 60U);
  EXPECT_EQ(*listed.rbegin(), 59U);
}

TEST(deal_sample, depends_on_the_seed_and_has_no_more_folds_than_queries) {
  drawn_sample const drawn;
  auto const lists = [&](std::uint64_t seed) {
    return deal_sample(drawn.data, drawn.sample, 5, seed).front().lists;
  };
  EXPECT_EQ(lists(1), lists(1));
  EXPECT_NE(lists(1), lists(2));
  EXPECT_EQ(deal_sample(drawn.data, std::vector<std::size_t>{0, 1, 7}, 5, 1).size(), 2U);
  auto const one = deal_sample(drawn.data, std::vector<std::size_t>{8}, 5, 1);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_TRUE(one[0].learnt.empty());
  EXPECT_EQ(one[0].judged, std::vector<std::size_t>{2});
}

}  // namespace
}  // namespace rulerank::experiment::cross_fitting_test
