#include "l2r/model/recommended.hpp"

#include "core/error.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model/options_json.hpp"
#include "l2r/model/scorer.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::l2r::recommended_test {
namespace {

/// Queries of so many documents, with labels 0 and 1 in turn.
datasets::dataset lists(std::size_t queries, std::size_t documents) {
  std::string text;
  for (std::size_t q = 0; q < queries; ++q)
    for (std::size_t d = 0; d < documents; ++d)
      text += fmt::format("{} qid:{} 1:{} 3:{}\n", (q + d) % 2, q, (q * 7 + d) % 11,
                          d % 5 == 0 ? "NULL" : fmt::format("{}", (q + d * 3) % 7));
  return datasets::parse_svmlight(context{}, text, "small");
}

std::vector<std::string_view> kinds_of(recommendation const& of) {
  std::vector<std::string_view> kinds;
  for (recipe const& one : of.recipes) kinds.push_back(member_kind_names()[one.index()]);
  return kinds;
}

TEST(recommended, counts_of_labels) {
  auto const data = datasets::parse_svmlight(
      context{}, "0 qid:1 1:1\n2 qid:1 1:2\n1 qid:1 4:2\n1 qid:2 1:1\n0 qid:3 1:1\n0 qid:3 1:2\n",
      "small");
  label_counts const counts = count_labels(data);
  EXPECT_EQ(counts.documents, 6U);
  EXPECT_EQ(counts.relevant, 3U);
  EXPECT_EQ(counts.queries, 3U);
  EXPECT_EQ(counts.queries_with_pairs, 1U);
  EXPECT_EQ(counts.documents_compared, 3U);
  EXPECT_EQ(counts.features, 2U);
  EXPECT_EQ(counts.share_compared(), .5);
  EXPECT_EQ(label_counts{}.share_compared(), 0);
  auto pool = data;
  for (std::size_t const d : {1U, 4U, 5U}) pool.labels[d] = datasets::unlabelled;
  label_counts const known = count_labels(pool);
  EXPECT_EQ(known.documents, 3U);
  EXPECT_EQ(known.relevant, 2U);
  EXPECT_EQ(known.queries, 2U);
  EXPECT_EQ(known.queries_with_pairs, 1U);
  EXPECT_EQ(known.documents_compared, 2U);
  EXPECT_EQ(known.features, 2U);
  pool.labels.assign(pool.size(), datasets::unlabelled);
  EXPECT_THROW(count_labels(pool), error);
}

TEST(recommended, the_table_has_an_answer_for_everything) {
  auto const rows = recommended_cases();
  ASSERT_GE(rows.size(), 2U);
  EXPECT_EQ(rows.back().least_documents, 0U);
  EXPECT_EQ(rows.back().most_items, 0U);
  // Each row is reached at its bounds, and not with a document less or a feature more.
  for (recommended_case const& row : rows) {
    EXPECT_FALSE(row.members.empty()) << row.name;
    label_counts at;
    at.documents = std::max<std::size_t>(row.least_documents, 1);
    at.features =
        row.most_items == 0 ? 1'000'000 : row.most_items / (static_cast<std::size_t>(row.bins) + 1);
    auto const has_its_reason = [&](label_counts const& labels) {
      return recommend(labels).reason.find(row.why_without_pool) != std::string::npos;
    };
    EXPECT_EQ(recommend(at).name, row.name);
    EXPECT_TRUE(has_its_reason(at)) << recommend(at).reason;
    label_counts less = at;
    --less.documents;
    EXPECT_EQ(has_its_reason(less), row.least_documents == 0);
    label_counts more = at;
    ++more.features;
    EXPECT_EQ(has_its_reason(more), row.most_items == 0);
  }
}

TEST(recommended, what_is_recommended_is_fitted_and_scores) {
  context const ctx;
  for (auto const& [data, name] :
       {std::pair{lists(1, 1), "few-labels"}, {lists(60, 40), "several-labels"}}) {
    // One document has no two bins: given cuts are used.
    auto const wide = lists(20, 10);
    auto const cuts =
        std::make_shared<datasets::discretizer const>(datasets::fit_discretizer(ctx, wide, {}));
    recommendation const found = recommend(count_labels(data), {}, cuts);
    EXPECT_EQ(found.name, name);
    EXPECT_NE(found.reason.find(fmt::format("{} labelled document", data.size())),
              std::string::npos)
        << found.reason;
    model const m = fit(ctx, data, found.recipes);
    ASSERT_EQ(m.members.size(), found.recipes.size());
    for (std::size_t k = 0; k < m.members.size(); ++k)
      EXPECT_EQ(kind_of(m.members[k]), kinds_of(found)[k]);
    EXPECT_EQ(std::get<scorecard_member>(m.members[0]).cuts, cuts);
    EXPECT_EQ(scorer(ctx, m).score(ctx, wide).scores.size(), wide.size());
    EXPECT_EQ(to_bytes(model_from_bytes(to_bytes(m), "m")), to_bytes(m));
  }
}

TEST(recommended, the_reason_is_what_was_measured_with_a_pool_or_without) {
  for (auto const& [data, with, without] :
       {std::tuple{lists(60, 40), "with 470 labels or more and a known pool",
                   "with 470 labels or more and no pool"},
        {lists(35, 10), "with a known pool, a smooth scorecard and linear together had .0021",
         "without a pool, a smooth scorecard and linear together had .0060"},
        {lists(10, 20), "and a known pool", "not measured without"}}) {
    datasets::dataset pool = data;
    pool.labels[1] = datasets::unlabelled;
    label_counts const whole = count_labels(data), part = count_labels(pool);
    EXPECT_FALSE(whole.knows_pool());
    EXPECT_TRUE(part.knows_pool());
    EXPECT_EQ(part.pool, data.size());
    EXPECT_EQ(part.documents, data.size() - 1);
    EXPECT_NE(recommend(part).reason.find(with), std::string::npos) << recommend(part).reason;
    EXPECT_NE(recommend(whole).reason.find(without), std::string::npos) << recommend(whole).reason;
    EXPECT_EQ(to_json(recommend(part), part)["labels"]["pool"], data.size());
  }
}

TEST(recommended, the_reason_names_numbers_of_labels_that_hold) {
  for (auto const& [documents, name, words] :
       {std::tuple{299U, "few-labels", "with 94 and 188 labels"},
        {300U, "several-labels",
         ".0060 MAP less than the best of 175 settings with 188 labels and .0027"},
        {469U, "several-labels", "nothing was measured in between"},
        {470U, "several-labels", "with 470 labels or more"}}) {
    label_counts labels;
    labels.documents = labels.pool = documents;
    labels.features = 40;
    recommendation const found = recommend(labels);
    EXPECT_EQ(found.name, name) << documents;
    EXPECT_NE(found.reason.find(words), std::string::npos) << found.reason;
  }
}

TEST(recommended, cuts_are_the_rows_and_values_those_asked_for) {
  datasets::discretizer_options how;
  how.missing = datasets::missing_values::zero;
  how.unlisted = datasets::unlisted_values::missing;
  auto const found = recommend(count_labels(lists(60, 40)), how);
  EXPECT_EQ(kinds_of(found), (std::vector<std::string_view>{"scorecard", "linear"}));
  auto const& cut = std::get<scorecard_recipe>(found.recipes[0]).discretizer;
  EXPECT_EQ(cut.method, datasets::binning::frequency);
  EXPECT_EQ(cut.bins, 20);
  EXPECT_EQ(cut.missing, datasets::missing_values::zero);
  auto const& linear = std::get<linear_recipe>(found.recipes[1]).options;
  EXPECT_EQ(linear.missing, datasets::missing_values::zero);
  EXPECT_EQ(linear.unlisted, datasets::unlisted_values::missing);
  EXPECT_EQ(linear.strength, 0);  // cross-fitted
  EXPECT_EQ(std::get<scorecard_recipe>(recommend(count_labels(lists(10, 20)), how).recipes[0])
                .discretizer.bins,
            20);
  label_counts wide = count_labels(lists(60, 40));
  wide.features = 2000;
  EXPECT_EQ(recommend(wide, how).name, "many-features");
  EXPECT_EQ(recommend(wide, how).unknowns, 0U);
  label_counts fewer = wide;
  fewer.features = 700;
  EXPECT_EQ(recommend(fewer, how).unknowns, 700U * 21);
  EXPECT_NEAR(seconds_to_solve(700 * 21), 106, 1);
  nlohmann::ordered_json const json = to_json(found, wide);
  EXPECT_EQ(json["members"][0]["kind"], "scorecard");
  EXPECT_EQ(json["members"][0]["loss"], "point");
  EXPECT_EQ(json["members"][1]["strength"], "cross-fit");
  EXPECT_EQ(json["labels"]["features"], 2000);
}

TEST(compare_models, ranks_each_query_by_models_of_the_others) {
  // The label follows feature 1; feature 2 is random.
  std::string text;
  for (std::size_t d = 0; d < 300; ++d)
    text +=
        fmt::format("{} qid:{} 1:{} 2:{}\n", d * 7 % 10 * 3 / 10, d / 10, d * 7 % 10, d * 13 % 11);
  context ctx;
  auto const data = datasets::parse_svmlight(ctx, text, "plain");
  linear_recipe const line;
  scorecard_recipe none;  // penalties so large that no points remain after rounding
  none.options = {card_loss::pair, 1e4, 1e4};
  std::vector<compared_model> models{{"none", {none}}, {"linear", {line}}, {"again", {line}}};
  compare_models(ctx, data, models);
  EXPECT_EQ(models[0].queries, 30U);
  EXPECT_EQ(models[0].ahead.mean, 0);
  EXPECT_FALSE(models[0].is_better);
  EXPECT_TRUE(models[1].is_better);
  EXPECT_EQ(models[1].quality, 1);  // feature 1 orders every query
  EXPECT_EQ(models[2].quality, models[1].quality);
  EXPECT_NEAR(models[1].ahead.mean, models[1].quality - models[0].quality, 1e-12);
  ctx.threads = 3;
  std::vector<compared_model> more{{"none", {none}}, {"linear", {line}}};
  compare_models(ctx, data, more);
  EXPECT_EQ(more[1].ahead.mean, models[1].ahead.mean);
  EXPECT_EQ(more[1].ahead.low, models[1].ahead.low);
}

TEST(compare_card, gives_the_choice_and_its_reason) {
  // The label depends on two features jointly: rules can learn it, a sum of points cannot.
  std::string text;
  for (int d = 0; d < 1200; ++d) {
    int const a = d * 7 % 4, b = d * 11 % 6;
    text += fmt::format("{} qid:{} 1:{} 2:{}\n", (a / 2) ^ (b / 3), d / 20, a, b);
  }
  context const ctx;
  auto const train = datasets::parse_svmlight(ctx, text, "xor");
  std::vector<recipe> const recipes{card_recipe()};
  fit_result kept = result_of(fit(ctx, train, recipes));
  EXPECT_TRUE(kept.compared.empty());
  EXPECT_EQ(kept.reason, "");
  fit_result best = kept;
  card_comparison how{.card = card_recipe().discretizer};
  compare_card(ctx, train, kept, how);
  ASSERT_EQ(kept.compared.size(), 6U);
  EXPECT_EQ(kept.chosen, 0U);
  EXPECT_EQ(kept.compared[kept.best].name, "rules");
  EXPECT_EQ(kept.reason, "rules ranks significantly better than the card");
  EXPECT_EQ(kind_of(kept.model.members.front()), "card");
  how.fits_best = true;
  compare_card(ctx, train, best, how);
  EXPECT_EQ(best.chosen, kept.best);
  EXPECT_EQ(kind_of(best.model.members.front()), "rules");
  // A peer that ranks perfectly is named; the fitted model is the best of our own.
  auto const by_label = [](context const&, datasets::dataset const&,
                           datasets::dataset const& test) {
    return std::vector<double>(test.labels.begin(), test.labels.end());
  };
  how.peers = {{"peer", {}, by_label}};
  compare_card(ctx, train, kept, how);
  ASSERT_EQ(kept.compared.size(), 7U);
  EXPECT_EQ(kept.compared.back().quality, 1);
  EXPECT_EQ(kept.compared[kept.best].name, "rules");
  EXPECT_TRUE(kept.reason.ends_with("rules ranks significantly better than the card"))
      << kept.reason;
}

TEST(compare_card, of_one_query_keeps_the_card_and_says_why) {
  context const ctx;
  std::string text;
  for (int d = 0; d < 100; ++d) text += fmt::format("{} qid:1 1:{}\n", d % 2, d % 7);
  auto const train = datasets::parse_svmlight(ctx, text, "one");
  std::vector<recipe> const recipes{card_recipe()};
  fit_result result = result_of(fit(ctx, train, recipes));
  compare_card(ctx, train, result, {.card = card_recipe().discretizer, .fits_best = true});
  EXPECT_TRUE(result.compared.empty());
  EXPECT_EQ(result.reason, "fewer than two queries have documents of different labels");
  EXPECT_EQ(kind_of(result.model.members.front()), "card");
}

TEST(compare_models, ranks_by_a_function_fitted_to_the_other_queries) {
  std::string text;
  for (std::size_t d = 0; d < 60; ++d) text += fmt::format("{} qid:{} 1:{}\n", d % 3, d / 6, d % 3);
  context const ctx;
  auto const data = datasets::parse_svmlight(ctx, text, "plain");
  std::size_t calls = 0;
  auto const by_feature = [&](context const&, datasets::dataset const& train,
                              datasets::dataset const& test) {
    ++calls;
    EXPECT_EQ(train.size() + test.size(), data.size());
    std::vector<double> scores;
    for (std::size_t d = 0; d < test.size(); ++d) scores.push_back(test.document(d)[0].value);
    return scores;
  };
  auto const by_nothing = [](context const&, datasets::dataset const&,
                             datasets::dataset const& test) {
    return std::vector<double>(test.size());
  };
  std::vector<compared_model> models{{"nothing", {}, by_nothing}, {"feature 1", {}, by_feature}};
  compare_models(ctx, data, models);
  EXPECT_EQ(calls, 5U);
  EXPECT_LT(models[0].quality, 1);
  EXPECT_EQ(models[1].quality, 1);
  EXPECT_TRUE(models[1].is_better);
}

TEST(compare_models, of_equal_labels_or_one_query_compares_nothing) {
  context const ctx;
  auto const compared = [&](std::string const& text) {
    std::vector<compared_model> models{{"linear", {linear_recipe{}}}};
    compare_models(ctx, datasets::parse_svmlight(ctx, text, "few"), models);
    return models.front().queries;
  };
  EXPECT_EQ(compared("1 qid:1 1:1\n1 qid:1 1:2\n1 qid:2 1:1\n"), 0U);
  EXPECT_EQ(compared("1 qid:1 1:1\n0 qid:1 1:2\n"), 0U);
}

TEST(compare_models, a_card_is_compared_with_models_of_all_kinds) {
  auto const beside = models_beside_card(lists(10, 12));
  ASSERT_EQ(beside.size(), 5U);
  for (compared_model const& one : beside) EXPECT_FALSE(one.recipes.empty()) << one.name;
  EXPECT_TRUE(std::holds_alternative<rules_recipe>(beside[3].recipes.front()));
  EXPECT_TRUE(std::holds_alternative<joint_recipe>(beside.back().recipes.front()));
  // A joint member has few enough weights and points where features have few values.
  for (int const values : {2, 40}) {
    std::string wide;
    for (int d = 0; d < 40; ++d) {
      wide += "1 qid:1";
      for (int f = 1; f <= 200; ++f) wide += fmt::format(" {}:{}", f, (f + d) % values);
      wide += '\n';
    }
    auto const of_wide = models_beside_card(datasets::parse_svmlight({}, wide, "wide"));
    EXPECT_EQ(of_wide.back().name, values == 2 ? "joint" : "rules");
  }
}

}  // namespace
}  // namespace rulerank::l2r::recommended_test
