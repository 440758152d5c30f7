#include "knn/fusion.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/random.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::fusion_test {
namespace {

using datasets::run;
using datasets::run_query;
using rulerank::testing_tools::message_of;

run run_of(std::vector<run_query> queries, std::string name = "a.run") {
  return {std::move(name), "tag", std::move(queries)};
}

std::vector<run> three_runs() {
  return {run_of({{"q1", {{"a", 9}, {"b", 7.5}, {"c", 7.5}, {"d", -1}}}, {"q2", {{"x", 2}}}}),
          run_of({{"q1", {{"a", .1}, {"c", .9}, {"e", .8}}}, {"q2", {{"y", .5}, {"x", .25}}}}),
          run_of({{"q2", {{"x", 1}, {"z", 1}}}, {"q1", {{"e", 3}, {"d", 2}}}})};
}

std::map<std::string, double> scores_of(run_query const& query) {
  std::map<std::string, double> scores;
  for (auto const& entry : query.documents) scores[entry.docno] = entry.score;
  return scores;
}

std::string docnos_of(run_query const& query) {
  std::string all;
  for (auto const& entry : query.documents) all += entry.docno;
  return all;
}

/// The results of ranx 0.3.21 for `three_runs`: documents a to e of q1, x to z of q2.
struct golden {
  char const* method;
  char const* norm;
  double score[8];
};
constexpr golden of_ranx[] = {
    {"rrf",
     "none",
     {0.032266458495966696, 0.016129032258064516, 0.032266458495966696, 0.031754032258064516,
      0.03252247488101534, 0.048915917503966164, 0.01639344262295082, 0.016129032258064516}},
    {"isr", "none", {2.2222222222222223, 0.25, 2.2222222222222223, 0.625, 2.5, 6.75, 1.0, 0.25}},
    {"combsum", "none", {9.1, 7.5, 8.4, 1.0, 3.8, 3.25, 0.5, 1.0}},
    {"combsum", "min-max", {1.0, 0.85, 1.85, 0.0, 1.875, 0.0, 1.0, 0.0}},
    {"combsum",
     "max",
     {1.1111111111111112, 0.8333333333333334, 1.8333333333333335, 0.5555555555555556,
      1.8888888888888888, 2.5, 1.0, 1.0}},
    {"combsum",
     "sum",
     {0.37037037037037035, 0.3148148148148148, 0.8481481481481481, 0.0, 1.4666666666666666, 0.0,
      1.0, 0.0}},
    {"combsum",
     "zmuv",
     {-0.5810371916907199, 0.44360697536713456, 1.2865342057906588, -2.7110554764160906,
      1.5619514869490163, -1.0, 1.0, 0.0}},
    {"combsum", "rank", {1.3333333333333335, 0.75, 1.5, 0.75, 1.6666666666666667, 2.5, 1.0, 0.5}},
    {"combsum", "borda", {2.0, 1.5, 2.0, 1.5, 2.0, 2.666666666666667, 1.8333333333333335, 1.5}},
    {"combmnz", "none", {18.2, 7.5, 16.8, 2.0, 7.6, 9.75, 0.5, 1.0}},
    {"combmnz", "min-max", {2.0, 0.85, 3.7, 0.0, 3.75, 0.0, 1.0, 0.0}},
    {"combmnz",
     "max",
     {2.2222222222222223, 0.8333333333333334, 3.666666666666667, 1.1111111111111112,
      3.7777777777777777, 7.5, 1.0, 1.0}},
    {"combmnz",
     "sum",
     {0.7407407407407407, 0.3148148148148148, 1.6962962962962962, 0.0, 2.933333333333333, 0.0, 1.0,
      0.0}},
    {"combmnz",
     "zmuv",
     {-1.1620743833814398, 0.44360697536713456, 2.5730684115813176, -5.422110952832181,
      3.1239029738980326, -3.0, 1.0, 0.0}},
    {"combmnz", "rank", {2.666666666666667, 0.75, 3.0, 1.5, 3.3333333333333335, 7.5, 1.0, 0.5}},
    {"combmnz", "borda", {6.0, 4.5, 6.0, 4.5, 6.0, 8.0, 5.5, 4.5}},
    {"combanz", "none", {4.55, 7.5, 4.2, 0.5, 1.9, 1.0833333333333333, 0.5, 1.0}},
    {"combanz", "min-max", {0.5, 0.85, 0.925, 0.0, 0.9375, 0.0, 1.0, 0.0}},
    {"combanz",
     "max",
     {0.5555555555555556, 0.8333333333333334, 0.9166666666666667, 0.2777777777777778,
      0.9444444444444444, 0.8333333333333334, 1.0, 1.0}},
    {"combanz",
     "sum",
     {0.18518518518518517, 0.3148148148148148, 0.42407407407407405, 0.0, 0.7333333333333333, 0.0,
      1.0, 0.0}},
    {"combanz",
     "zmuv",
     {-0.29051859584535994, 0.44360697536713456, 0.6432671028953294, -1.3555277382080453,
      0.7809757434745082, -0.3333333333333333, 1.0, 0.0}},
    {"combanz",
     "rank",
     {0.6666666666666667, 0.75, 0.75, 0.375, 0.8333333333333334, 0.8333333333333334, 1.0, 0.5}},
    {"combanz",
     "borda",
     {0.6666666666666666, 0.5, 0.6666666666666666, 0.5, 0.6666666666666666, 0.888888888888889,
      0.6111111111111112, 0.5}},
    {"combmax", "none", {9.0, 7.5, 7.5, 2.0, 3.0, 2.0, 0.5, 1.0}},
    {"combmax", "min-max", {1.0, 0.85, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0}},
    {"combmax", "max", {1.0, 0.8333333333333334, 1.0, 0.6666666666666666, 1.0, 1.0, 1.0, 1.0}},
    {"combmax",
     "sum",
     {0.37037037037037035, 0.3148148148148148, 0.5333333333333333, 0.0, 1.0, 0.0, 1.0, 0.0}},
    {"combmax",
     "zmuv",
     {0.8238415256818213, 0.44360697536713456, 0.8429272304235244, -1.0, 1.0, 0.0, 1.0, 0.0}},
    {"combmax", "rank", {1.0, 0.75, 1.0, 0.5, 1.0, 1.0, 1.0, 0.5}},
    {"combmax", "borda", {1.0, 0.8, 1.0, 0.8, 1.0, 1.0, 1.0, 0.6666666666666667}},
    {"combmin", "none", {0.1, 7.5, 0.9, -1.0, 0.8, 0.25, 0.5, 1.0}},
    {"combmin", "min-max", {0.0, 0.85, 0.85, 0.0, 0.875, 0.0, 1.0, 0.0}},
    {"combmin",
     "max",
     {0.11111111111111112, 0.8333333333333334, 0.8333333333333334, -0.1111111111111111,
      0.888888888888889, 0.5, 1.0, 1.0}},
    {"combmin",
     "sum",
     {0.0, 0.3148148148148148, 0.3148148148148148, 0.0, 0.4666666666666666, 0.0, 1.0, 0.0}},
    {"combmin",
     "zmuv",
     {-1.4048787173725412, 0.44360697536713456, 0.44360697536713456, -1.7110554764160903,
      0.5619514869490162, -1.0, 1.0, 0.0}},
    {"combmin", "rank", {0.33333333333333337, 0.75, 0.5, 0.25, 0.6666666666666667, 0.5, 1.0, 0.5}},
    {"combmin",
     "borda",
     {0.4, 0.3, 0.4, 0.3, 0.2, 0.6666666666666667, 0.33333333333333337, 0.33333333333333337}},
    {"combmed", "none", {4.55, 7.5, 4.2, 0.5, 1.9, 1.0, 0.5, 1.0}},
    {"combmed", "min-max", {0.5, 0.85, 0.925, 0.0, 0.9375, 0.0, 1.0, 0.0}},
    {"combmed",
     "max",
     {0.5555555555555556, 0.8333333333333334, 0.9166666666666667, 0.2777777777777778,
      0.9444444444444444, 1.0, 1.0, 1.0}},
    {"combmed",
     "sum",
     {0.18518518518518517, 0.3148148148148148, 0.42407407407407405, 0.0, 0.7333333333333333, 0.0,
      1.0, 0.0}},
    {"combmed",
     "zmuv",
     {-0.29051859584535994, 0.44360697536713456, 0.6432671028953294, -1.3555277382080453,
      0.7809757434745082, 0.0, 1.0, 0.0}},
    {"combmed", "rank", {0.6666666666666667, 0.75, 0.75, 0.375, 0.8333333333333334, 1.0, 1.0, 0.5}},
    {"combmed", "borda", {0.6, 0.4, 0.6, 0.4, 0.8, 1.0, 0.5, 0.5}},
};

TEST(Fusion, GivesTheScoresOfRanx) {
  auto const runs = three_runs();
  for (golden const& one : of_ranx) {
    SCOPED_TRACE(std::string(one.method) + " " + one.norm);
    fusion_options options;
    options.method = fusion_method_from(one.method);
    options.norm = score_norm_from(one.norm);
    run const fused = fuse({}, runs, options);
    ASSERT_EQ(fused.queries.size(), 2U);
    EXPECT_EQ(fused.queries[0].qid, "q1");
    EXPECT_EQ(fused.queries[1].qid, "q2");
    double const* expected = one.score;
    for (std::string_view const docnos : {"abcde", "xyz"}) {
      auto const scores = scores_of(fused.queries[docnos == "xyz" ? 1 : 0]);
      ASSERT_EQ(scores.size(), docnos.size());
      for (char const docno : docnos) {
        EXPECT_DOUBLE_EQ(scores.at(std::string(1, docno)), *expected) << docno;
        ++expected;
      }
    }
  }
}

TEST(Fusion, EveryMethodAndNormIsComparedWithRanx) {
  std::size_t expected = 0;
  for (auto const method : fusion_method_names())
    expected += ignores_scores(fusion_method_from(method)) ? 1 : score_norm_names().size();
  EXPECT_EQ(std::size(of_ranx), expected);
}

TEST(Fusion, WeightsMultiplyScores) {
  fusion_options options;
  options.method = fusion_method::comb_sum;
  options.weights = {2, 1, .5};
  auto const runs = three_runs();
  // The results of ranx's wsum with the same weights.
  std::map<std::string, double> const expected{
      {"a", 2}, {"b", 1.7}, {"c", 2.7}, {"d", 0}, {"e", 1.375}};
  EXPECT_EQ(scores_of(fuse({}, runs, options).queries[0]), expected);
  options.method = fusion_method::rrf;
  options.rrf_k = 0;
  EXPECT_EQ(scores_of(fuse({}, runs, options).queries[0]).at("a"), 2. / 1 + 1. / 3);
  options.weights = {0, 1, 0};
  EXPECT_EQ(docnos_of(fuse({}, runs, options).queries[0]), "ceabd") << "documents of 0 stay";
}

TEST(Fusion, OrdersEqualScoresByTheFirstRunThatHasThem) {
  // b and c tie in the first run, where b comes first; so c has rank 3 there, and 1 in the second.
  auto const runs = three_runs();
  EXPECT_EQ(docnos_of(fuse({}, runs).queries[0]), "eacdb");
  std::vector<run> const ties{run_of({{"q", {{"n", 1}, {"m", 1}}}}),
                              run_of({{"q", {{"k", 5}, {"a", 5}, {"m", 4}}}})};
  // n and k have rank 1, m 2 and 3, a 2.
  EXPECT_EQ(docnos_of(fuse({}, ties).queries[0]), "mnka");
  std::vector<run> const turned{ties[1], ties[0]};
  EXPECT_EQ(docnos_of(fuse({}, turned).queries[0]), "mkna");
}

TEST(Fusion, AQueryThatARunLacksHasNoDocumentsThere) {
  std::vector<run> const runs{run_of({{"q2", {{"x", 1}}}}),
                              run_of({{"q3", {{"y", 1}}}, {"q2", {{"z", 1}}}}),
                              run_of({{"q1", {{"w", 1}}}})};
  for (auto const name : fusion_method_names()) {
    fusion_options options;
    options.method = fusion_method_from(name);
    options.norm = score_norm::borda;
    run const fused = fuse({}, runs, options);
    ASSERT_EQ(fused.queries.size(), 3U);
    EXPECT_EQ(fused.queries[0].qid, "q2");
    EXPECT_EQ(docnos_of(fused.queries[0]), "xz");
    EXPECT_EQ(fused.queries[1].qid, "q3");
    EXPECT_EQ(docnos_of(fused.queries[1]), "y");
    EXPECT_EQ(fused.queries[2].qid, "q1");
  }
}

TEST(Fusion, ARunWithoutAQueryScoresNoneOfItsDocumentsWithBorda) {
  run const one = run_of({{"q1", {{"a", 3}, {"b", 2}, {"c", 1}}}});
  for (auto const& lacks : {run_of({{"q2", {{"x", 1}}}}), run_of({{"q1", {}}, {"q2", {{"x", 1}}}})})
    for (auto const name : fusion_method_names()) {
      fusion_options options;
      options.method = fusion_method_from(name);
      if (ignores_scores(options.method)) continue;
      options.norm = score_norm::borda;
      std::vector<run> const runs{one, lacks};
      auto const fused = fuse({}, runs, options).queries[0];
      EXPECT_EQ(docnos_of(fused), "abc") << name;
      EXPECT_EQ(scores_of(fused),
                (std::map<std::string, double>{{"a", 1.}, {"b", 1 - 1. / 3}, {"c", 1 - 2. / 3}}))
          << name;
    }
}

TEST(Fusion, KeepsTheFirstDocuments) {
  fusion_options options;
  auto const runs = three_runs();
  for (options.depth = 1; options.depth < 7; ++options.depth)
    EXPECT_EQ(docnos_of(fuse({}, runs, options).queries[0]),
              std::string("eacdb").substr(0, options.depth));
}

TEST(Fusion, ScoresWithoutSpreadBecomeZero) {
  std::vector<run> const runs{run_of({{"q", {{"a", 3}, {"b", 3}}}}), run_of({{"q", {{"b", 7}}}})};
  fusion_options options;
  options.method = fusion_method::comb_sum;
  for (auto const norm : {score_norm::min_max, score_norm::sum, score_norm::zmuv}) {
    options.norm = norm;
    for (auto const& [docno, score] : scores_of(fuse({}, runs, options).queries[0]))
      EXPECT_EQ(score, 0) << docno;
  }
}

TEST(Fusion, ThreadsChangeNoBit) {
  random_engine draw(7);
  std::vector<run> runs(4);
  for (run& one : runs)
    for (int q = 0; q < 200; ++q) {
      run_query query{fmt::format("q{}", q), {}};
      for (int d = 0; d < 30; ++d)
        if (uniform_below(draw, 2) == 0)
          query.documents.push_back({fmt::format("d{}", d), uniform_unit(draw)});
      one.queries.push_back(query);
    }
  for (auto const name : fusion_method_names()) {
    fusion_options options;
    options.method = fusion_method_from(name);
    options.norm = score_norm::zmuv;
    context one, four;
    one.threads = 1;
    four.threads = 4;
    run const a = fuse(one, runs, options), b = fuse(four, runs, options);
    ASSERT_EQ(a.queries.size(), b.queries.size());
    for (std::size_t q = 0; q < a.queries.size(); ++q) {
      EXPECT_EQ(docnos_of(a.queries[q]), docnos_of(b.queries[q]));
      EXPECT_EQ(scores_of(a.queries[q]), scores_of(b.queries[q]));
    }
  }
}

TEST(Fusion, RefusesWhatMakesNoSense) {
  auto const runs = three_runs();
  EXPECT_THROW(fuse({}, std::span(runs).first(1)), usage_error);
  EXPECT_THROW(fuse({}, {}), usage_error);
  fusion_options options;
  options.weights = {1, 2};
  EXPECT_THROW(fuse({}, runs, options), usage_error);
  for (double const wrong : {-1., std::nan(""), std::numeric_limits<double>::infinity()}) {
    options.weights = {1, 2, wrong};
    EXPECT_THROW(fuse({}, runs, options), usage_error);
    options.weights.clear();
    options.rrf_k = wrong;
    EXPECT_THROW(fuse({}, runs, options), usage_error);
    options.rrf_k = 60;
    std::vector<run> bad = runs;
    if (!(wrong < 0)) {
      bad[1].queries[0].documents[0].score = wrong;
      EXPECT_THROW(fuse({}, bad, options), error);
    }
  }
  EXPECT_THROW(fusion_method_from("combo"), usage_error);
  EXPECT_THROW(score_norm_from("minmax"), usage_error);
}

TEST(Fusion, RefusesDocumentsTwiceAndScoresBeyondDoubles) {
  std::vector<run> runs = three_runs();
  runs[1].name = "b.run";
  runs[1].queries[0].line = 3;
  runs[1].queries[0].documents.push_back({"e", 0});
  EXPECT_EQ(message_of([&] { fuse({}, runs); }),
            "b.run:3:1: found document 'e' of query 'q1' again, expected it once");
  std::vector<run> const far{run_of({{"q", {{"a", 1.7e308}, {"b", -1.7e308}}}}),
                             run_of({{"q", {{"a", 1.7e308}}}})};
  fusion_options options;
  options.method = fusion_method::comb_sum;
  for (auto const norm : {score_norm::none, score_norm::min_max, score_norm::zmuv}) {
    options.norm = norm;
    EXPECT_THROW(fuse({}, far, options), error);
  }
  runs = three_runs();
  runs[2].queries.push_back({"q1", {{"f", 1}}});
  EXPECT_THROW(fuse({}, runs), error) << "a query twice";
}

TEST(Fusion, Stops) {
  std::stop_source source;
  source.request_stop();
  context ctx;
  ctx.stop = source.get_token();
  auto const runs = three_runs();
  EXPECT_THROW(fuse(ctx, runs), interrupted);
}

}  // namespace
}  // namespace rulerank::knn::fusion_test
