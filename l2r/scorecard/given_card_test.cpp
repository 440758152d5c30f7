#include "core/error.hpp"
#include "datasets/discretizer/discretizer_json.hpp"
#include "l2r/model/model.hpp"
#include "l2r/scorecard/scorecard.hpp"
#include "l2r/testing.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

// Cards with given features, directions, cuts or points.
namespace rulerank::inline v0::l2r::given_card_test {
namespace {

using testing_tools::random_set;

std::vector<card_feature> read(std::string const& text, datasets::feature_names const& names = {}) {
  return card_from_text(text, "card", names);
}

std::string error_of(std::string const& text, bool with_bins = true) {
  try {
    with_bins ? card_from_text(text, "card", {}) : card_directions_from_text(text, "card", {});
  } catch (error const& e) {
    return std::string(e.what()).substr(std::string("card:").size());
  }
  return "no error";
}

scorecard_recipe recipe_of(std::vector<card_feature> features, bool only_these,
                           card_loss loss = card_loss::pair) {
  scorecard_recipe how;
  how.discretizer = {datasets::binning::capped, 8};
  how.options = {loss, 1e-3, .1};
  how.options.page = {3, 100};
  how.options.page->features = std::move(features);
  how.options.page->only_these = only_these;
  return how;
}

scorecard_member fit_one(datasets::dataset const& data, scorecard_recipe const& how,
                         int threads = 1) {
  context ctx;
  ctx.threads = threads;
  recipe const recipes[] = {how};
  return std::get<scorecard_member>(fit(ctx, data, recipes).members.front());
}

std::string text_of(scorecard_member const& member) {
  return to_text(member.card, *member.cuts);
}

/// The integer points of a feature's items, those of missing values last.
std::vector<std::int64_t> points_in(scorecard const& card, std::uint32_t feature) {
  auto const f = std::ranges::find(card.features, feature) - card.features.begin();
  std::vector<std::int64_t> points;
  for (std::uint32_t x = card.item_begin[f]; x < card.item_begin[f + 1]; ++x)
    points.push_back(card.points[x] >> card_bits);
  return points;
}

bool is_monotone(std::vector<std::int64_t> points) {
  points.pop_back();  // of missing values
  return std::ranges::is_sorted(points) || std::ranges::is_sorted(points, std::greater<>());
}

TEST(card_text, read_what_they_say) {
  auto const features = read(
      "# a card\n\nrising 12\n  least 0\n\t0.5 ?\n  2e3 30\n  missing 7\nfree BM25 of  title \n"
      "either 9\n  least 5\n  1 5\n  3 2\nfalling 13\n",
      {{4, "BM25 of  title"}});
  ASSERT_EQ(features.size(), 4U);
  EXPECT_EQ(features[0].feature, 12U);
  EXPECT_EQ(features[0].direction, card_direction::rising);
  EXPECT_EQ(features[0].cuts, (std::vector<double>{0.5, 2000}));
  EXPECT_EQ(features[0].points, (std::vector<std::optional<int>>{0, {}, 30, 7}));
  EXPECT_EQ(features[1].feature, 4U);
  EXPECT_EQ(features[1].direction, card_direction::free);
  EXPECT_TRUE(features[1].cuts.empty());
  EXPECT_EQ(features[2].direction, card_direction::falling);
  EXPECT_EQ(features[3].direction, card_direction::falling);
}

TEST(card_text, refuse_what_is_no_card) {
  EXPECT_EQ(error_of(""), "1:1: found no features, expected one on a line");
  EXPECT_EQ(error_of("rising\n"), "1:7: found no feature, expected a number or a name");
  EXPECT_EQ(error_of("rising x\n"), "1:8: found \"x\", expected a feature's number");
  EXPECT_EQ(error_of("rising 1\nfree 1\n"),
            "2:6: found feature 1 twice, expected each feature once");
  EXPECT_EQ(error_of("up 1\n"), "1:1: found \"up\", expected rising, falling, free or either");
  EXPECT_EQ(error_of("rising 1\n 3 4\n"), "2:2: found \"3\" as the first bin, expected least");
  EXPECT_EQ(error_of("rising 1\n least 4\nrising 2\n"),
            "1:1: found one bin, expected two or more, or none to use the bins of the training "
            "documents");
  EXPECT_EQ(error_of("rising 1\n least 4\n missing 2\n"),
            "1:1: found one bin, expected two or more, or none to use the bins of the training "
            "documents");
  EXPECT_EQ(error_of("free 1\n least 4\n 2 1\n 2 3\n"),
            "4:2: found 2 after 2, expected ascending values");
  EXPECT_EQ(error_of("free 1\n least 4\n nan 1\n"),
            "3:2: found \"nan\", expected the least value of a bin, or missing");
  EXPECT_EQ(error_of("free 1\n least 4.5\n"),
            "2:8: found \"4.5\", expected whole points from 0 to 10000, or ?");
  EXPECT_EQ(error_of("free 1\n least\n"),
            "2:7: found no points of this bin, expected whole points from 0 to 10000, or ?");
  EXPECT_EQ(error_of("free 1\n least 4\n 1 2\n missing 3\nup 2\n"),
            "5:1: found \"up\", expected rising, falling, free or either");
  EXPECT_EQ(error_of("free 1\n least 4 5\n"),
            "2:10: found \"5\" after the points, expected the end of the line");
  EXPECT_EQ(error_of("free 1\n least 4\n 1 2\n missing 3\n 5 2\n"),
            "5:2: found a bin after the bin of missing values, expected the next feature");
  EXPECT_EQ(error_of("rising 1\n least 4\n 1 ?\n 2 3\n"),
            "4:4: found 3 points after 4 in a feature that is rising, expected at least as many, "
            "or the direction free");
  EXPECT_EQ(error_of("either 1\n least 4\n 1 3\n 2 3\n 3 4\n"),
            "5:4: found 4 points after 3 in a feature that is falling, expected at most as many, "
            "or the direction free");
  EXPECT_EQ(error_of("rising 1\n least 4\n", false),
            "2:2: found \"least\", expected rising, falling, free or either");
}

/// Feature 1 helps and feature 2 harms.
TEST(card_text, direct_the_features_that_they_name) {
  auto const data = random_set(400, 31);
  auto const plain = fit_one(data, recipe_of({}, false));
  ASSERT_EQ(plain.card.features.front(), 1U);
  EXPECT_LT(points_in(plain.card, 1)[0], points_in(plain.card, 1)[1]);

  auto const agreed = fit_one(data, recipe_of({{1, card_direction::rising}}, false));
  EXPECT_EQ(agreed.card.points, plain.card.points);

  // A direction that the labels contradict removes the feature.
  auto const forbidden = fit_one(data, recipe_of({{1, card_direction::falling}}, false));
  EXPECT_EQ(std::ranges::count(forbidden.card.features, 1U), 0);
  EXPECT_EQ(forbidden.card.features.size(), 3U);  // others take its place

  auto const free = fit_one(
      data,
      recipe_of({{2, card_direction::free}, {5, card_direction::free}, {7, card_direction::free}},
                true));
  EXPECT_EQ(free.card.features, (std::vector<std::uint32_t>{2, 5, 7}));
  EXPECT_FALSE(is_monotone(points_in(free.card, 7)));  // a random feature
}

TEST(card_text, that_inspect_writes_give_the_same_card) {
  auto const data = random_set(400, 32);
  for (card_loss const loss : {card_loss::pair, card_loss::point}) {
    auto const first = fit_one(data, recipe_of({}, false, loss));
    auto const again = fit_one(data, recipe_of(read(text_of(first)), true, loss));
    EXPECT_EQ(again.card.points, first.card.points);
    EXPECT_EQ(text_of(again), text_of(first));
    ASSERT_EQ(again.totals.size(), first.totals.size());
    EXPECT_EQ(again.totals.back().from, first.totals.back().from);
  }
}

TEST(card_text, say_the_options_that_read_values) {
  auto const first = fit_one(random_set(400, 32), recipe_of({}, false, card_loss::pair));
  datasets::discretizer cuts = *first.cuts;
  EXPECT_NE(to_text(first.card, cuts, {}).find("--model MODEL\n"), std::string::npos);
  cuts.options.norm = datasets::normalization::query_minmax;
  cuts.options.missing = datasets::missing_values::zero;
  cuts.options.unlisted = datasets::unlisted_values::missing;
  EXPECT_NE(
      to_text(first.card, cuts, {})
          .find("--model MODEL --norm query-minmax --missing-values zero --unlisted missing\n"),
      std::string::npos);
}

TEST(card_text, say_the_names_of_numbered_features_in_comments) {
  auto const first = fit_one(random_set(400, 32), recipe_of({}, false, card_loss::pair));
  std::uint32_t const feature = first.card.features.front();
  std::string const text =
      to_text(first.card, *first.cuts, {{feature, "title # words"}, {feature + 1000, "absent"}});
  EXPECT_NE(text.find("\n# title # words\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("absent"), std::string::npos);
  auto const read_again = read(text), plain = read(text_of(first));
  ASSERT_EQ(read_again.size(), plain.size());
  EXPECT_EQ(read_again.front().feature, feature);
}

TEST(card_text, with_open_points_give_points_near_the_former_ones) {
  auto const data = random_set(400, 33);
  for (card_loss const loss : {card_loss::pair, card_loss::list, card_loss::point}) {
    auto const first = fit_one(data, recipe_of({}, false, loss));
    auto features = read(text_of(first));
    for (std::size_t b = 0; b < features[0].points.size(); b += 2) features[0].points[b].reset();
    auto const again = fit_one(data, recipe_of(features, true, loss));
    ASSERT_EQ(again.card.item_begin, first.card.item_begin) << name_of(loss);
    auto const before = points_in(first.card, features[0].feature);
    auto const after = points_in(again.card, features[0].feature);
    for (std::size_t b = 0; b < before.size(); ++b) {
      EXPECT_NEAR(static_cast<double>(after[b]), static_cast<double>(before[b]),
                  features[0].points[b] ? 0 : 2)
          << name_of(loss);
    }
    for (int const threads : {2, 5})
      EXPECT_EQ(fit_one(data, recipe_of(features, true, loss), threads).card.points,
                again.card.points);
  }
}

TEST(card_text, keep_the_points_that_they_give) {
  auto const data = random_set(400, 34);
  auto const features = read(
      "rising 1\n least 0\n 10 40\n 20 ?\n 30 50\nfalling 2\n least ?\n 20 ?\n"
      "free 3\n least 3\n 15 0\n missing 9\n");
  auto const card = fit_one(data, recipe_of(features, true)).card;
  auto const first = points_in(card, 1);
  EXPECT_EQ(first.front(), 0);
  EXPECT_EQ(first[1], 40);
  EXPECT_EQ(first[first.size() - 2], 50);
  EXPECT_TRUE(is_monotone(first));
  EXPECT_EQ(points_in(card, 3), (std::vector<std::int64_t>{3, 0, 9}));
  // Open points are in the same unit: feature 2 weighs about as much as feature 1.
  auto const second = points_in(card, 2);
  EXPECT_GT(second[0], second[1] + 10);
  EXPECT_EQ(second[1], 0);
}

TEST(card_text, with_more_bins_than_documents_would_get_give_models_that_can_be_read) {
  auto const data = random_set(200, 38);
  for (std::size_t const cuts : {std::size_t{8}, std::size_t{12}, datasets::most_cuts}) {
    card_feature many{.feature = 1, .direction = card_direction::rising};
    for (std::size_t k = 0; k < cuts; ++k) many.cuts.push_back(static_cast<double>(k) / 8);
    for (std::size_t k = 0; k <= cuts; ++k) many.points.emplace_back(static_cast<int>(k));
    model fitted;
    fitted.members.emplace_back(fit_one(data, recipe_of({many}, true)));
    model const read = model_from_bytes(to_bytes(fitted), "many");
    auto const& member = std::get<scorecard_member>(read.members.front());
    EXPECT_EQ(member.cuts->features.front().cuts, many.cuts);
    EXPECT_EQ(member.card.points, std::get<scorecard_member>(fitted.members.front()).card.points);
  }
}

TEST(card_text, with_more_bins_than_codes_are_refused) {
  std::string text = "rising 1\n least 0\n";
  for (std::size_t k = 0; k < datasets::most_cuts; ++k) text += fmt::format(" {} ?\n", k);
  EXPECT_EQ(read(text).front().cuts.size(), datasets::most_cuts);
  EXPECT_EQ(error_of(text + " 1000 ?\n"), "252:2: found 251 bins of values, expected at most 250");
}

TEST(card_text, with_points_against_the_labels_are_refused) {
  auto const data = random_set(200, 35);
  auto const features = read("falling 1\n least 90\n 20 0\neither 2\n");
  EXPECT_THROW(fit_one(data, recipe_of(features, true)), usage_error);
}

TEST(card_text, need_features_that_the_documents_have) {
  auto const data = random_set(40, 36);
  EXPECT_THROW(fit_one(data, recipe_of(read("rising 4\n"), true)), error);
  EXPECT_THROW(fit_one(data, recipe_of(read("rising 99\n least 0\n 1 2\n"), true)), error);
}

TEST(card_text, are_noted_in_the_model) {
  context const ctx;
  auto const data = random_set(200, 37);
  recipe const recipes[] = {recipe_of({{3, card_direction::free}}, false)};
  model const read = model_from_bytes(to_bytes(fit(ctx, data, recipes)), "kept");
  auto const& page = *std::get<scorecard_member>(read.members.front()).options.page;
  ASSERT_EQ(page.features.size(), 1U);
  EXPECT_EQ(page.features.front().feature, 3U);
  EXPECT_EQ(page.features.front().direction, card_direction::free);
  EXPECT_FALSE(page.only_these);
}

}  // namespace
}  // namespace rulerank::l2r::given_card_test
