#include "l2r/model/scorer.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/process_group_testing.hpp"
#include "core/testing.hpp"
#include "datasets/discretizer/discretizer_json.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model/row_scores.hpp"
#include "l2r/rules/ranker.hpp"
#include "l2r/rules/shared_scores.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::l2r::scorer_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;

std::vector<std::uint64_t> bits_of(std::vector<double> const& scores) {
  std::vector<std::uint64_t> bits;
  for (double s : scores) bits.push_back(std::bit_cast<std::uint64_t>(s));
  return bits;
}

/// Documents of five features; values and labels follow from `salt`.
datasets::dataset documents_of(int count, int salt, int a_query = 9) {
  std::string text;
  for (int d = 0; d < count; ++d) {
    int const x = (d * 37 + salt * 101) % 997;
    text += fmt::format("{} qid:{} 1:{} 2:{} 3:{} 5:{} 8:{}\n", x % 3, d / a_query, x % 11 * .5,
                        x % 5 == 0 ? "NULL" : fmt::format("{}", x % 7), d % a_query, x % 29,
                        (x * 13) % 17);
  }
  return datasets::parse_svmlight(context{}, text, "drawn");
}

std::vector<recipe> some_recipes() {
  using datasets::binning;
  rules_recipe tube, width, other;
  tube.discretizer = {binning::tube, 5};
  tube.scoring = {3, {1, .001}, 0, 0};
  width.discretizer = {binning::width, 4};
  width.scoring = {4, {2, .01}, -.25, 5};
  other = tube;  // the same items, another score
  other.scoring = {2, {1, .1}, .5, 0, .6};
  return {tube, width, other};
}

rules_member const& rules_of(model const& m, std::size_t k) {
  return std::get<rules_member>(m.members.at(k));
}

std::vector<engine> engines_for_cpu() {
  std::vector<engine> all;
  for (engine_info const& d : engines())
    if (includes(d.where, runs_on::cpu)) all.push_back(d.which);
  return all;
}

/// The combined scores of the members' rankers, by brute force.
std::vector<double> expected_scores(context const& ctx, model const& m, engine which,
                                    datasets::dataset const& test) {
  std::vector<std::vector<double>> scores;
  for (std::size_t k = 0; k < m.members.size(); ++k) {
    rules_member const& one = rules_of(m, k);
    ranker const r(ctx, *one.training, {one.scoring, {.engine = which}});
    scores.push_back(r.score(ctx, datasets::apply_discretizer(ctx, test, *one.cuts)).scores);
  }
  return combine(test.queries, scores);
}

TEST(scorer, gives_what_rankers_give) {
  context ctx;
  ctx.threads = 2;
  datasets::dataset const train = documents_of(200, 1);
  datasets::dataset const test = documents_of(70, 2);
  auto const recipes = some_recipes();
  for (std::size_t members : {std::size_t{1}, recipes.size()}) {
    model const m = fit(ctx, train, std::span(recipes).first(members));
    for (engine which : engines_for_cpu()) {
      auto const expected = bits_of(expected_scores(ctx, m, which, test));
      engine_options const how{which};
      scorer const s(ctx, m, how);
      EXPECT_EQ(s.engine(), which);
      scored const all = s.score(ctx, test);
      EXPECT_EQ(bits_of(all.scores), expected) << name_of(which);
      EXPECT_EQ(all.engine, which);
      EXPECT_EQ(count_of(all.counts, "cache_hits") + count_of(all.counts, "cache_misses") > 0,
                which == engine::lrar);
      EXPECT_EQ(bits_of(score(ctx, m, test, how).scores), expected);
      // Likewise for items.
      std::vector<datasets::binned_dataset> items;
      for (std::size_t k = 0; k < members; ++k)
        items.push_back(datasets::apply_discretizer(ctx, test, *rules_of(m, k).cuts));
      binned_lists lists{test.queries, {}};
      for (auto const& one : items) lists.items.push_back(&one);
      EXPECT_EQ(bits_of(s.score(ctx, lists).scores), expected);
      EXPECT_EQ(bits_of(score(ctx, m, lists, how).scores), expected);
    }
  }
}

TEST(scorer, recipes_share_what_is_equal) {
  context const ctx;
  datasets::dataset const train = documents_of(60, 1);
  auto recipes = some_recipes();
  model const m = fit(ctx, train, recipes);
  EXPECT_EQ(rules_of(m, 0).cuts, rules_of(m, 2).cuts);
  EXPECT_EQ(rules_of(m, 0).training, rules_of(m, 2).training);
  EXPECT_NE(rules_of(m, 0).cuts, rules_of(m, 1).cuts);
  // Given cuts are used.
  rules_recipe given;
  given.cuts = rules_of(m, 1).cuts;
  model const by_given = fit(ctx, train, std::vector<recipe>{given, recipes[1]});
  EXPECT_EQ(rules_of(by_given, 0).cuts, given.cuts);
  EXPECT_EQ(rules_of(by_given, 0).training->codes, rules_of(m, 1).training->codes);
}

TEST(scorer, members_of_several_kinds) {
  context const ctx;
  datasets::dataset const train = documents_of(200, 1), test = documents_of(70, 2);
  scorecard_recipe card;
  card.discretizer = {datasets::binning::tube, 5};
  model const m = fit(ctx, train, std::vector<recipe>{linear_recipe{}, some_recipes()[0], card});
  auto const& points = std::get<scorecard_member>(m.members[2]);
  EXPECT_EQ(points.cuts, rules_of(m, 1).cuts);  // made once
  auto const items = datasets::apply_discretizer(ctx, test, *points.cuts);
  std::vector<std::vector<double>> scores{
      score(ctx, std::get<linear_member>(m.members[0]).weights, test),
      ranker(ctx, *rules_of(m, 1).training, {rules_of(m, 1).scoring}).score(ctx, items).scores,
      score(ctx, points.card, items)};
  auto const expected = bits_of(combine(test.queries, scores));
  scorer const s(ctx, m);
  EXPECT_EQ(s.engine(), engine::project);
  EXPECT_EQ(bits_of(s.score(ctx, test).scores), expected);
  EXPECT_EQ(s.score(ctx, test).engine, engine::project);
  EXPECT_EQ(bits_of(score(ctx, m, test).scores), expected);
  auto const each = s.score_each(ctx, test);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(bits_of(each[k].scores), bits_of(scores[k]));
  // linear cannot score items.
  binned_lists const lists{test.queries, {&items}};
  for (auto const& score : {std::function([&] { s.score(ctx, lists); }),
                            std::function([&] { score(ctx, m, lists); })}) {
    EXPECT_PRED2(says, message_of<usage_error>(score), "...member 1 is of the kind linear...");
  }
  model without = m;
  without.members.erase(without.members.begin());
  EXPECT_EQ(bits_of(scorer(ctx, without).score(ctx, lists).scores),
            bits_of(scorer(ctx, without).score(ctx, test).scores));
  without.members.erase(without.members.begin());
  EXPECT_EQ(scorer(ctx, without).engine(), engine::automatic);
  EXPECT_EQ(bits_of(scorer(ctx, without).score(ctx, test).scores), bits_of(scores[2]));
}

TEST(scorer, points_and_weights_wake_no_threads_for_little_work) {
  context one;
  one.threads = 1;
  datasets::dataset const train = documents_of(200, 1), few = documents_of(5000, 2),
                          many = documents_of(40000, 3);
  scorecard_recipe card;
  card.discretizer = {datasets::binning::tube, 5};
  scorer const s(one, fit(one, train, std::vector<recipe>{linear_recipe{}, card}));
  context four;
  four.threads = 4;
  EXPECT_EQ(rulerank::testing_tools::threads_woken_by([&] { s.score(four, few); }), 0);
  EXPECT_GT(rulerank::testing_tools::threads_woken_by([&] { s.score(four, many); }), 0);
}

TEST(scorer, rules_wake_no_threads_for_little_work) {
  context one, four;
  one.threads = 1;
  four.threads = 4;
  rules_recipe rules;
  rules.scoring = {4, {1, .001}, 0, 0};
  model const m = fit(one, documents_of(200, 1), std::vector<recipe>{rules});
  scorer const s(one, m);
  datasets::dataset const few = documents_of(1000, 2), many = documents_of(200'000, 3);
  EXPECT_EQ(rulerank::testing_tools::threads_woken_by([&] { s.score(four, few); }), 0);
  auto const items = datasets::apply_discretizer(one, many, *rules_of(m, 0).cuts);
  binned_lists const lists{many.queries, {&items}};
  EXPECT_GT(rulerank::testing_tools::threads_woken_by([&] { s.score(four, lists); }), 0);
}

TEST(scorer, one_set_of_items_serves_members_with_the_same_cuts) {
  context const ctx;
  datasets::dataset const train = documents_of(90, 1);
  datasets::dataset const test = documents_of(40, 2);
  auto const recipes = some_recipes();
  model const m = fit(ctx, train, std::vector<recipe>{recipes[0], recipes[2]});
  auto const items = datasets::apply_discretizer(ctx, test, *rules_of(m, 0).cuts);
  scorer const s(ctx, m);
  EXPECT_EQ(bits_of(s.score(ctx, binned_lists{test.queries, {&items}}).scores),
            bits_of(s.score(ctx, test).scores));
  EXPECT_THROW(s.score(ctx, binned_lists{test.queries, {&items, &items, &items}}), usage_error);
}

TEST(scorer, members_may_be_items_alone) {
  context const ctx;
  datasets::dataset const train = documents_of(90, 1);
  model m = fit(ctx, train, some_recipes());
  m.members.resize(1);
  std::get<rules_member>(m.members[0]).cuts = nullptr;
  scorer const s(ctx, m);
  auto const& items = *rules_of(m, 0).training;
  EXPECT_EQ(s.score(ctx, binned_lists{train.queries, {&items}}).scores.size(), train.size());
  EXPECT_THROW(s.score(ctx, train), usage_error);
  EXPECT_THROW(score(ctx, m, train), usage_error);
}

// Run under the thread sanitizer, this test supports the claim of thread safety.
constexpr std::size_t row_columns = 9, row_stride = 11;
datasets::feature_names const row_names{{1, "a"}, {2, "b"}, {3, "c"}, {5, "e"}, {8, "h"}};

datasets::dense_rows<double> rows_in(std::vector<double> const& values) {
  return {values.data(), values.size() / row_stride, row_columns, row_stride};
}

/// Compares score_rows with the scores of the rows as documents, by numbers of columns from 1 and
/// by others.
void expect_scores_of_documents(context const& ctx, scorer const& by,
                                std::vector<double> const& values, bool named) {
  datasets::dense_rows<double> const rows = rows_in(values);
  std::vector<float> const single(values.begin(), values.end());
  datasets::dense_rows<float> const as_float{single.data(), rows.documents, rows.columns,
                                             rows.stride};
  std::vector<std::size_t> const lists{rows.documents};
  std::vector<std::uint32_t> const numbers{0, 1, 2, 3, 5, 6, 7, 8, 9};
  for (auto const& features : {std::vector<std::uint32_t>{}, numbers}) {
    datasets::document_arrays about;
    about.group_sizes = lists;
    about.features = features;
    about.names = named ? &row_names : nullptr;
    auto const expected = by.score(ctx, datasets::make_dataset(ctx, rows, about)).scores;
    EXPECT_EQ(bits_of(score_rows(ctx, by, rows, about).scores), bits_of(expected));
    EXPECT_EQ(bits_of(score_rows(ctx, by, as_float, about).scores), bits_of(expected));
  }
}

void expect_refusals_of_rows(context const& ctx, scorer const& by, std::vector<double> values,
                             bool named) {
  std::size_t const count = values.size() / row_stride;
  values[(count - 1) * row_stride + 3] = -std::numeric_limits<double>::infinity();  // has no items
  datasets::document_arrays about;
  about.name = "X";
  about.names = named ? &row_names : nullptr;
  EXPECT_EQ(message_of([&] { score_rows(ctx, by, rows_in(values), about); }),
            fmt::format("X:{}:1: value of feature 4 is infinite, expected a finite number or NaN",
                        count));
  std::vector<std::size_t> const too_long{count, 1};
  about.group_sizes = too_long;
  EXPECT_THROW(score_rows(ctx, by, rows_in(values), about), usage_error);
}

TEST(scorer, rows_get_the_scores_of_their_documents) {
  using datasets::missing_values, datasets::unlisted_values, datasets::normalization;
  auto const card = [](missing_values of_null, unlisted_values unlisted, normalization norm) {
    scorecard_recipe how;
    how.discretizer = {datasets::binning::frequency, 6, of_null, unlisted, norm};
    return how;
  };
  std::vector<std::vector<recipe>> const kinds{
      {card(missing_values::item, unlisted_values::zero, normalization::none)},
      {card(missing_values::item, unlisted_values::missing, normalization::none)},
      {card(missing_values::zero, unlisted_values::missing, normalization::none)},
      {card(missing_values::none, unlisted_values::zero, normalization::none)},
      {card(missing_values::item, unlisted_values::zero, normalization::query_zscore)},
      {card_recipe()},
      {linear_recipe{}},
      {rules_recipe{}},
      {scorecard_recipe{}, linear_recipe{}}};
  std::mt19937_64 engine(7);
  for (bool const named : {false, true})
    for (auto const& recipes : kinds) {
      datasets::dataset train = documents_of(90, 1);
      if (named) train.names = row_names;
      scorer const by({}, fit({}, train, recipes));
      for (std::size_t const count : {1, 2, 9, 64, 65, 300}) {
        context ctx;
        ctx.threads = count > 64 ? 3 : 1;
        std::vector<double> values(count * row_stride, std::numeric_limits<double>::quiet_NaN());
        for (double& value : values)
          if (engine() % 8 != 0) value = static_cast<double>(engine() % 61) / 2;
        expect_scores_of_documents(ctx, by, values, named);
        expect_refusals_of_rows(ctx, by, values, named);
      }
    }
}

TEST(scorer, many_threads_score_at_once) {
  context const ctx;
  datasets::dataset const train = documents_of(200, 1);
  auto recipes = some_recipes();
  recipes.emplace_back(scorecard_recipe{});
  recipes.emplace_back(linear_recipe{});
  model const m = fit(ctx, train, recipes);
  std::vector<datasets::dataset> lists;
  for (int salt = 2; salt < 8; ++salt) lists.push_back(documents_of(20 + salt, salt));
  for (engine which : engines_for_cpu()) {
    scorer const s(ctx, m, {which});
    std::vector<std::vector<std::uint64_t>> expected;
    for (auto const& list : lists) expected.push_back(bits_of(s.score(ctx, list).scores));
    std::vector<std::size_t> wrong(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t)
      threads.emplace_back([&, t] {
        context own;
        own.threads = t % 2 == 0 ? 1 : 2;
        for (std::size_t i = 0; i < 3 * lists.size(); ++i) {
          std::size_t const at = (i + t) % lists.size();
          wrong[t] += bits_of(s.score(own, lists[at]).scores) != expected[at];
        }
      });
    for (std::thread& one : threads) one.join();
    EXPECT_EQ(wrong, std::vector<std::size_t>(wrong.size())) << name_of(which);
  }
}

TEST(scorer, scores_do_not_depend_on_processes) {
  context const one;
  auto const train = documents_of(90, 1);
  auto const test = documents_of(50, 2);  // 6 queries
  auto const recipes = some_recipes();
  model const by = fit(one, train, recipes);
  scorer const all(one, by);
  auto const expected = bits_of(all.score(one, test).scores);
  auto const items =
      datasets::apply_discretizer(one, test, *std::get<rules_member>(by.members.front()).cuts);
  model first;
  first.members.push_back(by.members.front());
  binned_lists const lists{test.queries, {&items}};
  scored const of_items = score(one, first, lists);
  for (int const processes : {2, 3, 7})  // once more than queries
    rulerank::testing_tools::run_processes(processes, [&](process_group const& group) {
      context ctx;
      ctx.processes = &group;
      EXPECT_EQ(bits_of(all.score(ctx, test).scores), expected);
      EXPECT_EQ(bits_of(score(ctx, by, test).scores), expected);
      scored const found = score(ctx, first, lists);
      EXPECT_EQ(bits_of(found.scores), bits_of(of_items.scores));
      EXPECT_EQ(found.engine, of_items.engine);
    });
}

TEST(scorer, queries_of_a_process_stay_whole_and_share_out_documents) {
  // The second query has 90 of 100 documents.
  std::vector<datasets::query_group> const queries{
      {"1", 0, 4}, {"2", 4, 94}, {"3", 94, 95}, {"4", 95, 100}};
  for (int const size : {1, 2, 3, 5, 16}) {
    std::size_t next = 0;
    for (int r = 0; r < size; ++r) {
      query_range const some = queries_of_process(queries, r, size);
      EXPECT_EQ(some.begin, next);
      next = some.end;
    }
    EXPECT_EQ(next, queries.size());
  }
  EXPECT_EQ(queries_of_process(queries, 0, 2).end, 2U);
  EXPECT_EQ(queries_of_process({}, 0, 2).end, 0U);
}

TEST(scorer, documents_without_a_label_count_where_none_is_read) {
  context const ctx;
  datasets::dataset const all = documents_of(60, 1);
  datasets::dataset pool = all;
  std::vector<std::size_t> known;
  for (std::size_t d = 0; d < pool.size(); ++d)
    if (d % 3 == 0)
      known.push_back(d);
    else
      pool.labels[d] = datasets::unlabelled;
  for (auto const norm : {datasets::normalization::none, datasets::normalization::query_minmax}) {
    datasets::discretizer_options how;
    how.norm = norm;
    std::vector<recipe> const recipes{rules_recipe{how, nullptr, {}},
                                      scorecard_recipe{how, nullptr, {}}};
    model const fitted = fit(ctx, pool, recipes);
    auto const cuts = datasets::fit_discretizer(ctx, all, how);
    auto const& rules = std::get<rules_member>(fitted.members[0]);
    EXPECT_EQ(datasets::to_json(*rules.cuts), datasets::to_json(cuts));
    auto const items = datasets::subset(datasets::apply_discretizer(ctx, all, cuts), known);
    EXPECT_EQ(rules.training->codes, items.codes);
    EXPECT_EQ(rules.training->labels, items.labels);
    auto const card = fit_scorecard(ctx, {datasets::subset(all, known).queries, items}, {});
    EXPECT_EQ(std::get<scorecard_member>(fitted.members[1]).card.points, card.points);
  }
}

TEST(scorer, what_is_refused) {
  context const ctx;
  datasets::dataset train = documents_of(30, 1);
  EXPECT_THROW(fit(ctx, train, {}), usage_error);
  EXPECT_THROW(scorer(ctx, model{}), usage_error);
  EXPECT_THROW(score(ctx, model{}, train), usage_error);
  rules_recipe wrong;
  wrong.scoring.rule_size = 1;
  EXPECT_THROW(fit(ctx, train, std::vector<recipe>{wrong}), usage_error);
  train.labels.assign(train.size(), datasets::unlabelled);
  for (recipe const& one :
       {recipe(rules_recipe{}), recipe(scorecard_recipe{}), recipe(linear_recipe{})}) {
    EXPECT_PRED2(says, message_of([&] { fit(ctx, train, std::span(&one, 1)); }), "drawn:1:...");
  }
  auto const constant = datasets::parse_svmlight(ctx, "1 qid:1 1:5\n0 qid:1 1:5\n", "constant");
  EXPECT_THROW(fit(ctx, constant, some_recipes()), error);
  EXPECT_THROW(fit(ctx, constant, std::vector<recipe>{scorecard_recipe{}}), error);
}

}  // namespace
}  // namespace rulerank::l2r::scorer_test
