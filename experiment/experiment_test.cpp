#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/sha256.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"
#include "experiment/baselines.hpp"
#include "experiment/finished.hpp"
#include "experiment/fold_files.hpp"
#include "experiment/fold_result.hpp"
#include "experiment/report.hpp"
#include "experiment/settings.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

namespace rulerank::experiment {
namespace {

namespace fs = std::filesystem;
using testing_tools::temporary_folder;

settings small_settings() {
  settings s;
  s.reduce_sizes = {3};
  s.rank_sizes = {2, 3};
  s.random_draws = 2;
  s.measures = eval::parse_measures("MAP,NDCG@1");
  return s;
}

std::vector<std::string> names_of(settings const& s) {
  std::vector<std::string> names;
  for (system const& what : systems_of(s)) names.push_back(what.name);
  return names;
}

TEST(Settings, SystemsComeByRankSizeAndThenThoseWithoutOne) {
  settings s = small_settings();
  s.outside = {{"theirs", "d"}};
  EXPECT_EQ(names_of(s), (std::vector<std::string>{
                             "full-rank-2", "reduced-3-rank-2", "random-3-rank-2", "full-rank-3",
                             "reduced-3-rank-3", "random-3-rank-3", "feature", "theirs"}));
  set_baselines(s, "none");
  EXPECT_EQ(names_of(s),
            (std::vector<std::string>{"reduced-3-rank-2", "reduced-3-rank-3", "theirs"}));
  s.reduce_sizes.clear();
  s.outside.clear();
  EXPECT_THROW(systems_of(s), usage_error);
}

TEST(Settings, TunedSystemsComeByMeasureAfterThoseWithARankSize) {
  settings s = small_settings();
  s.random = s.feature = false;
  s.rank_sizes = {3};
  s.tune = {eval::parse_measures("MAP,NDCG@10"), {}, {}};
  EXPECT_EQ(names_of(s),
            (std::vector<std::string>{"full-rank-3", "reduced-3-rank-3", "full-tuned-MAP",
                                      "reduced-3-tuned-MAP", "full-tuned-NDCG@10",
                                      "reduced-3-tuned-NDCG@10"}));
  std::vector<system> const systems = systems_of(s);
  EXPECT_EQ(systems[3].tuned_by, 0u);
  EXPECT_EQ(systems[5].tuned_by, 1u);
  EXPECT_EQ(systems[5].reduce_size, 3u);
  EXPECT_TRUE(to_json(s).contains("tune"));
  s.full = false;
  s.rank_sizes.clear();
  s.tune->measures.pop_back();
  EXPECT_EQ(names_of(s), std::vector<std::string>{"reduced-3-tuned-MAP"});
  s.outside = {{"reduced-3-tuned-MAP", "d"}};
  EXPECT_THROW(systems_of(s), usage_error);
  s.tune.reset();
  EXPECT_FALSE(to_json(s).contains("tune"));
}

TEST(Settings, OutsideNamesAreDistinctAndFitForAFolder) {
  settings s = small_settings();
  s.outside = {{"feature", "d"}};
  EXPECT_THROW(systems_of(s), usage_error);
  s.outside = {{"a", "d"}, {"a", "e"}};
  EXPECT_THROW(systems_of(s), usage_error);
  EXPECT_EQ(outside_from("a=b=c").folder, "b=c");
  for (char const* const wrong : {"a", "a=", "=d", "a/b=d", "..=d", ""})
    EXPECT_THROW(outside_from(wrong), usage_error) << wrong;
}

TEST(Settings, Lists) {
  EXPECT_EQ(rule_sizes_from("--rank-size", "3,2"), (std::vector<std::uint32_t>{3, 2}));
  EXPECT_TRUE(rule_sizes_from("--rank-size", "none").empty());
  for (char const* const wrong : {"", "1", "65", "3,", "3,3", "x", "3x", "-3", "3,none"})
    EXPECT_THROW(rule_sizes_from("--rank-size", wrong), usage_error) << wrong;
  settings s;
  set_baselines(s, "random");
  EXPECT_TRUE(s.random && !s.full && !s.feature);
  EXPECT_THROW(set_baselines(s, "full,best"), usage_error);
}

TEST(FoldFiles, AreFoundInTheOrderOfTheirNumbers) {
  temporary_folder const folder;
  for (std::string const name : {"Fold10", "Fold2", "Fold1"}) {
    fs::create_directories(folder.path() / name);
    write_file(folder / (name + "/train.txt.gz"), "x");
    write_file(folder / (name + "/vali.txt"), "x");
    write_file(folder / (name + "/test.txt"), "x");
    fs::create_directories(folder.path() / "theirs");
    write_file(folder / ("theirs/" + name + ".score"), "1\n");
  }
  for (char const* const other : {"Fold01", "Fold", "Folder1", "Fold3x"})
    fs::create_directories(folder.path() / other);
  settings s = small_settings();
  s.outside = {{"theirs", folder / "theirs"}};
  auto const folds = find_folds(folder.path().string(), s);
  ASSERT_EQ(folds.size(), 3u);
  EXPECT_EQ(folds[0].name, "Fold1");
  EXPECT_EQ(folds[1].name, "Fold2");
  EXPECT_EQ(folds[2].name, "Fold10");
  EXPECT_EQ(folds[2].number, 10u);
  EXPECT_EQ(folds[2].train, folder / "Fold10/train.txt.gz");
  EXPECT_EQ(folds[2].outside, std::vector<std::string>{folder / "theirs/Fold10.score"});

  auto const message = [&] {
    try {
      find_folds(folder.path().string(), s);
    } catch (error const& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  fs::remove(folder / "theirs/Fold2.score");
  EXPECT_NE(message().find("Fold2.score"), std::string::npos) << message();
  EXPECT_NE(message().find("theirs"), std::string::npos) << message();
  s.outside.clear();
  fs::remove(folder / "Fold10/vali.txt");
  EXPECT_NE(message().find("vali.txt"), std::string::npos) << message();
  s.feature = false;
  EXPECT_TRUE(find_folds(folder.path().string(), s)[2].vali.empty());
  EXPECT_THROW(find_folds(folder / "Fold1", s), error);
  EXPECT_THROW(find_folds(folder / "absent", s), error);
}

TEST(Baselines, DrawsAreSeededDistinctAndNested) {
  auto const large = draw_documents(1, 2, 0, 100, 40);
  EXPECT_EQ(large.size(), 40u);
  EXPECT_EQ(large, draw_documents(1, 2, 0, 100, 40));
  EXPECT_TRUE(std::adjacent_find(large.begin(), large.end(), std::greater_equal<>{}) ==
              large.end());
  EXPECT_LT(large.back(), 100u);
  auto const small = draw_documents(1, 2, 0, 100, 10);
  EXPECT_TRUE(std::includes(large.begin(), large.end(), small.begin(), small.end()));
  EXPECT_NE(large, draw_documents(2, 2, 0, 100, 40));
  EXPECT_NE(large, draw_documents(std::uint64_t{1} << 32 | 1, 2, 0, 100, 40));
  EXPECT_NE(large, draw_documents(1, 3, 0, 100, 40));
  EXPECT_NE(large, draw_documents(1, 2, 1, 100, 40));
  EXPECT_EQ(draw_documents(1, 2, 0, 5, 9).size(), 5u);
  EXPECT_TRUE(draw_documents(1, 2, 0, 5, 0).empty());
}

TEST(Baselines, DrawsAreUniform) {
  std::vector<int> times(20);
  for (std::size_t draw = 0; draw < 2000; ++draw)
    for (std::size_t const d : draw_documents(7, 1, draw, times.size(), 5)) ++times[d];
  for (int const t : times) EXPECT_NEAR(t, 500, 5 * std::sqrt(2000 * .25 * .75));
}

TEST(Baselines, TheBestFeatureAndItsDirection) {
  // Feature 1 is constant, feature 2 ranks best upside down, as does feature 3; 4 is wrong once.
  std::string const text =
      "1 qid:1 1:5 2:1 3:-2 4:7\n0 qid:1 1:5 2:2 3:-1 4:1\n"
      "0 qid:2 1:5 2:4 3:8 4:7\n1 qid:2 1:5 2:3 3:7 4:6\n";
  context const ctx;
  auto const data = datasets::parse_svmlight(ctx, text, "vali");
  auto const map = eval::parse_measure("MAP");
  auto const best = best_feature(ctx, data, map, eval::make_profile("letor"));
  EXPECT_EQ(best.feature, 2u);
  EXPECT_TRUE(best.ascending);
  EXPECT_EQ(best.value, 1.0);
  auto const bare = datasets::parse_svmlight(ctx, "1 qid:1\n0 qid:1\n", "vali");
  EXPECT_THROW(best_feature(ctx, bare, map, eval::make_profile("letor")), error);
}

/// Two queries, two measures; `values` row by row.
system_result result(std::string name, std::optional<std::size_t> documents,
                     std::vector<double> values, std::vector<std::vector<double>> draws = {}) {
  return {std::move(name),
          documents,
          {eval::parse_measures("MAP,NDCG@1"), {"7", "8"}, std::move(values)},
          std::move(draws)};
}

fold_result example(std::string name) {
  fold_result fold;
  fold.name = std::move(name);
  fold.fingerprint = "f";
  fold.inputs = {{"Fold1/train.txt", "aa"}};
  fold.train_documents = 100;
  fold.test_documents = 20;
  fold.reductions = {{3, 10, 2}};
  fold.feature = {{12, true, .1 + .2}};
  for (char const* const size : {"2", "3"}) {
    std::string const rank = std::string("-rank-") + size;
    fold.systems.push_back(result("full" + rank, 100, {.5, 1. / 3, .25, 1}));
    fold.systems.push_back(result("reduced-3" + rank, 10, {.4, .1, .2, 0}));
    fold.systems.push_back(result("random-3" + rank, 10, {.3, .2, .1, 0}, {{.1, .05}, {.3, .15}}));
  }
  fold.systems.push_back(result("feature", {}, {.1, .1, 1e-300, .7}));
  return fold;
}

TEST(FoldResult, RoundTripIsExact) {
  fold_result fold = example("Fold1");
  fold.tuned["full-tuned-MAP"] = {{"rule_size", 3}, {"smoothing", .1 + .2}};
  std::string const text = to_text(fold);
  fold_result const again = fold_result_from(text, "x");
  EXPECT_EQ(to_text(again), text);
  EXPECT_EQ(again.tuned, fold.tuned);
  ASSERT_EQ(again.systems.size(), fold.systems.size());
  for (std::size_t i = 0; i < fold.systems.size(); ++i) {
    EXPECT_EQ(again.systems[i].queries.values, fold.systems[i].queries.values);
    EXPECT_EQ(again.systems[i].queries.qids, fold.systems[i].queries.qids);
    EXPECT_EQ(again.systems[i].queries.measures, fold.systems[i].queries.measures);
    EXPECT_EQ(again.systems[i].documents, fold.systems[i].documents);
    EXPECT_EQ(again.systems[i].draws, fold.systems[i].draws);
  }
  EXPECT_EQ(again.feature->value, .1 + .2);
  EXPECT_EQ(again.inputs, fold.inputs);
}

TEST(FoldResult, WhatIsCutShortOrChangedIsRefused) {
  std::string const text = to_text(example("Fold1"));
  for (std::size_t const size : {std::size_t{0}, std::size_t{1}, text.size() / 2})
    EXPECT_THROW(fold_result_from(text.substr(0, size), "x"), error);
  EXPECT_THROW(fold_result_from("[]", "x"), error);
  auto json = nlohmann::ordered_json::parse(text);
  json["systems"][0]["values"].push_back(1);
  EXPECT_THROW(fold_result_from(json.dump(), "x"), error);
  json = nlohmann::ordered_json::parse(text);
  json["metrics"][0] = "best";
  EXPECT_THROW(fold_result_from(json.dump(), "x"), error);
  json = nlohmann::ordered_json::parse(text);
  json.erase("qids");
  EXPECT_THROW(fold_result_from(json.dump(), "x"), error);
}

TEST(Finished, IsUsedOnlyAsItWasWritten) {
  temporary_folder const folder;
  std::string const out = folder.path().string();
  EXPECT_FALSE(find_finished(out, "Fold1", "f").result);
  EXPECT_EQ(find_finished(out, "Fold1", "f").why_not, "");
  fs::create_directories(folder.path() / "folds");
  write_file(folder / "scores.txt", "1\n");
  fold_result fold = example("Fold1");
  fold.files["scores.txt"] = sha256_hex("1\n");
  write_file(finished_path(out, "Fold1"), to_text(fold));
  EXPECT_TRUE(find_finished(out, "Fold1", "f").result);
  EXPECT_FALSE(find_finished(out, "Fold1", "g").result);
  EXPECT_NE(find_finished(out, "Fold1", "g").why_not, "");
  write_file(folder / "scores.txt", "2\n");
  EXPECT_NE(find_finished(out, "Fold1", "f").why_not.find("scores.txt"), std::string::npos);
  write_file(finished_path(out, "Fold1"), "{");
  EXPECT_FALSE(find_finished(out, "Fold1", "f").result);
  EXPECT_NE(find_finished(out, "Fold1", "f").why_not, "");
}

TEST(Finished, TheFingerprintFollowsWhatMatters) {
  settings const s = small_settings();
  std::map<std::string, std::string> const inputs{{"a", "1"}};
  std::string const base = fingerprint_of(s, "Fold1", inputs);
  EXPECT_EQ(base.size(), 64u);
  EXPECT_EQ(base, fingerprint_of(s, "Fold1", inputs));
  EXPECT_NE(base, fingerprint_of(s, "Fold2", inputs));
  EXPECT_NE(base, fingerprint_of(s, "Fold1", {{"a", "2"}}));
  std::vector<settings> others(9, s);
  others[0].seed = 2;
  others[1].discretizer.bins = 9;
  others[2].scoring.smoothing = 1;
  others[3].random_draws = 3;
  others[4].rank_sizes = {2};
  others[5].profile.max_label = 3;
  others[6].measures.pop_back();
  others[7].partitions = "4";
  others[8].feature = false;
  for (settings const& other : others) EXPECT_NE(base, fingerprint_of(other, "Fold1", inputs));
}

TEST(Report, MeansSharesAndSpread) {
  fold_result one = example("Fold1"), two = example("Fold2");
  two.train_documents = 300;
  two.systems[0].documents = 300;
  two.systems[1].documents = 30;
  two.systems[1].queries.values = {.6, .3, .4, .2};
  two.systems[2].draws = {{.1, .05}, {.1, .15}};
  context const ctx;
  report const r = make_report(ctx, small_settings(), {one, two}, {});
  ASSERT_EQ(r.systems.size(), 7u);
  EXPECT_DOUBLE_EQ(r.systems[1].means[0], (.3 + .5) / 2);
  EXPECT_DOUBLE_EQ(*r.systems[1].documents, 20);
  EXPECT_DOUBLE_EQ(*r.systems[1].share, .1);
  EXPECT_DOUBLE_EQ(*r.systems[0].share, 1);
  EXPECT_TRUE(r.systems[1].spread.empty());
  // The draws' means of fold means: .1 and .2, .05 and .15.
  ASSERT_EQ(r.systems[2].spread.size(), 2u);
  EXPECT_DOUBLE_EQ(r.systems[2].spread[0], .1 / std::sqrt(2.));
  EXPECT_DOUBLE_EQ(r.systems[2].spread[1], .1 / std::sqrt(2.));
  EXPECT_FALSE(r.systems[6].documents);
}

TEST(Report, EachRankSizeIsComparedWithItsOwnFull) {
  context const ctx;
  eval::comparison_options options;
  options.permutations = 99;
  settings const s = small_settings();
  report const r = make_report(ctx, s, {example("Fold1")}, options);
  ASSERT_EQ(r.comparisons.size(), 2u);
  std::vector<std::string> systems;
  for (eval::system_values const& system : r.comparisons[1].systems) systems.push_back(system.name);
  EXPECT_EQ(systems, (std::vector<std::string>{"full-rank-3", "reduced-3-rank-3", "random-3-rank-3",
                                               "feature"}));
  EXPECT_EQ(r.comparisons[1].comparisons.size(), 3u * 2u);

  auto const json = to_json(r, s);
  EXPECT_EQ(json["systems"].size(), 7u);
  EXPECT_EQ(json["systems"][0]["folds"][0]["means"]["MAP"], .375);
  EXPECT_EQ(json["comparisons"][1]["reference"], "full-rank-3");
  EXPECT_EQ(nlohmann::ordered_json::parse(json.dump()), json);
  std::string const text = render(r, s, eval::table_format::markdown);
  EXPECT_NE(text.find("| random-3, deviation of 2 draws | 2 |"), std::string::npos) << text;
  EXPECT_NE(text.find("against full-rank-2"), std::string::npos);
  EXPECT_NE(render(r, s, eval::table_format::latex).find("\\begin{tabular}"), std::string::npos);
}

TEST(Report, WithoutFullThereIsNothingToCompareWith) {
  settings s = small_settings();
  s.full = false;
  EXPECT_TRUE(make_report({}, s, {example("Fold1")}, {}).comparisons.empty());
}

TEST(Report, AFoldThatLacksASystemIsNamed) {
  fold_result fold = example("Fold4");
  fold.systems.pop_back();
  try {
    make_report({}, small_settings(), {fold}, {});
    FAIL();
  } catch (error const& e) {
    EXPECT_NE(std::string(e.what()).find("Fold4"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("feature"), std::string::npos);
  }
}

}  // namespace
}  // namespace rulerank::experiment
