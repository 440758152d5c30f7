#include "experiment/experiment.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/process_group_testing.hpp"
#include "core/random.hpp"
#include "core/sha256.hpp"
#include "core/testing.hpp"
#include "datasets/scores.hpp"
#include "datasets/split.hpp"
#include "datasets/svmlight.hpp"
#include "experiment/baselines.hpp"
#include "experiment/earlier_folds.hpp"
#include "experiment/fold_result.hpp"
#include "experiment/report.hpp"
#include "experiment/report_json.hpp"
#include "experiment/settings.hpp"
#include "l2r/model/scorer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <mutex>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::experiment::experiment_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;

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
  s.outside = {"theirs"};
  EXPECT_EQ(names_of(s), (std::vector<std::string>{
                             "full-rank-2", "reduced-3-rank-2", "random-3-rank-2", "full-rank-3",
                             "reduced-3-rank-3", "random-3-rank-3", "feature", "theirs"}));
  s.full = s.random = s.feature = false;
  EXPECT_EQ(names_of(s),
            (std::vector<std::string>{"reduced-3-rank-2", "reduced-3-rank-3", "theirs"}));
  s.reduce_sizes.clear();
  s.outside.clear();
  EXPECT_THROW(systems_of(s), usage_error);
}

TEST(Settings, MembersHaveRuleSizesOfTheirOwn) {
  settings s = small_settings();
  s.feature = s.random = false;
  s.members.resize(3);
  s.members[1].scoring.rule_size = 4;
  check(s);
  EXPECT_EQ(names_of(s), (std::vector<std::string>{"full-rank-2", "reduced-3-rank-2", "full-rank-3",
                                                   "reduced-3-rank-3"}));
  s.rank_sizes = {0};
  check(s);
  EXPECT_EQ(names_of(s), (std::vector<std::string>{"full-members-3", "reduced-3-members-3"}));
  EXPECT_EQ(to_json(s)["members"].size(), 3u);
  EXPECT_EQ(to_json(s)["members"][1]["rule_size"], 4);
  s.members.resize(1);
  EXPECT_EQ(names_of(s), (std::vector<std::string>{"full-rank-3", "reduced-3-rank-3"}));
  EXPECT_FALSE(to_json(s).contains("members"));
}

TEST(Settings, RecipesNameTheSystems) {
  settings s = small_settings();
  s.feature = s.random = false;
  s.rank_sizes = {0};
  s.recipes = {l2r::card_recipe()};
  check(s);
  EXPECT_EQ(names_of(s), (std::vector<std::string>{"full-card", "reduced-3-card"}));
  EXPECT_EQ(to_json(s)["members"][0]["kind"], "card");
  s.recipes.emplace_back(l2r::rules_recipe{});
  EXPECT_EQ(names_of(s), (std::vector<std::string>{"full-members-2", "reduced-3-members-2"}));
  s.rank_sizes = {4};
  EXPECT_EQ(names_of(s), (std::vector<std::string>{"full-rank-4", "reduced-3-rank-4"}));
  EXPECT_FALSE(to_json(s).contains("ties"));
  s.seeded_ties = true;
  EXPECT_EQ(to_json(s)["ties"], "seeded");
}

TEST(Settings, RefusesWhatMakesNoSense) {
  check(small_settings());
  auto const refused = [](auto change) {
    settings s = small_settings();
    change(s);
    EXPECT_THROW(check(s), usage_error);
  };
  refused([](settings& s) { s.reduce_sizes = {1}; });
  refused([](settings& s) { s.reduce_sizes = {3, 3}; });
  refused([](settings& s) { s.rank_sizes = {65}; });
  refused([](settings& s) { s.rank_sizes = {0, 3}; });
  refused([](settings& s) { s.random_draws = 0; });
  refused([](settings& s) { s.measures.clear(); });
  refused([](settings& s) { s.measures.push_back(s.measures.front()); });
  refused([](settings& s) { s.members.clear(); });
  refused([](settings& s) { s.members.front().scoring.smoothing = -1; });
  refused([](settings& s) { s.tune.emplace(); });
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
  s.outside = {"reduced-3-tuned-MAP"};
  EXPECT_THROW(systems_of(s), usage_error);
  s.tune.reset();
  EXPECT_FALSE(to_json(s).contains("tune"));
}

TEST(Settings, OutsideNamesAreDistinctAndFitForAFolder) {
  settings s = small_settings();
  s.outside = {"feature"};
  EXPECT_THROW(systems_of(s), usage_error);
  s.outside = {"a", "a"};
  EXPECT_THROW(systems_of(s), usage_error);
  for (char const* const wrong : {"", "a/b", ".."}) {
    s.outside = {wrong};
    EXPECT_THROW(systems_of(s), usage_error) << wrong;
  }
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
  file_folds_options options;
  options.outside = {{"theirs", folder / "theirs"}};
  file_folds const found(folder.path().string(), options);
  auto const& folds = found.folds();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found.number(0), 1u);
  EXPECT_EQ(found.number(1), 2u);
  EXPECT_EQ(found.number(2), 10u);
  EXPECT_EQ(folds[2].train, folder / "Fold10/train.txt.gz");
  EXPECT_EQ(folds[2].outside, std::vector<std::string>{folder / "theirs/Fold10.score"});
  EXPECT_EQ(found.files().size(), 12u);
  std::map<std::string, std::string> const sums = found.checksums(2);
  EXPECT_EQ(sums.size(), 4u);
  EXPECT_EQ(sums.at("Fold10/train.txt.gz"), sha256_hex("x"));
  EXPECT_EQ(sums.at("theirs/Fold10.score"), sha256_hex("1\n"));

  auto const message = [&] {
    return message_of([&] { file_folds(folder.path().string(), options); });
  };
  fs::remove(folder / "theirs/Fold2.score");
  EXPECT_NE(message().find("Fold2.score"), std::string::npos) << message();
  EXPECT_NE(message().find("theirs"), std::string::npos) << message();
  options.outside.clear();
  fs::remove(folder / "Fold10/vali.txt");
  EXPECT_NE(message().find("vali.txt"), std::string::npos) << message();
  options.vali = false;
  EXPECT_TRUE(file_folds(folder.path().string(), options).folds()[2].vali.empty());
  options.group_files = {folder / "Fold1/test.txt"};
  EXPECT_THROW(file_folds(folder.path().string(), options), usage_error);
  EXPECT_THROW(file_folds(folder / "Fold1"), error);
  EXPECT_THROW(file_folds(folder / "absent"), error);
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
  // Feature 1 is constant; features 2 and 3 rank best ascending; 4 has one error.
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
  // Processes try a share each, possibly none; of equally good features the first one remains.
  for (int const processes : {2, 3, 5})
    testing_tools::run_processes(processes, [&](process_group const& group) {
      context shared;
      shared.processes = &group;
      auto const found = best_feature(shared, data, map, eval::make_profile("letor"));
      EXPECT_EQ(found.feature, 2u) << processes;
      EXPECT_TRUE(found.ascending);
      EXPECT_EQ(found.value, 1.0);
      EXPECT_THROW(best_feature(shared, bare, map, eval::make_profile("letor")), error);
    });
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
  fold.feature = ranking_feature{12, true, .1 + .2, "bm25"};
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
  fold.tuned["full-tuned-MAP"] =
      "{\n  \"rule_size\": 3,\n  \"smoothing\": 0.30000000000000004\n}\n";
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
  EXPECT_EQ(again.feature->name, "bm25");
  EXPECT_EQ(again.inputs, fold.inputs);
}

TEST(FoldResult, WhatIsCutShortOrChangedIsRefused) {
  std::string const text = to_text(example("Fold1"));
  for (std::size_t const size : {std::size_t{0}, std::size_t{1}, text.size() / 2})
    EXPECT_THROW(fold_result_from(text.substr(0, size), "x"), error);
  EXPECT_THROW(fold_result_from("[]", "x"), error);
  EXPECT_THROW(fold_result_from(std::string(80'000, '[') + std::string(80'000, ']'), "x"), error);
  // With a correct checksum.
  auto const refused = [&](auto change) {
    auto json = nlohmann::ordered_json::parse(text);
    json.erase("sha256");
    change(json);
    json["sha256"] = sha256_hex(json.dump(1));
    EXPECT_THROW(fold_result_from(json.dump(1), "x"), error);
  };
  refused([](auto& json) { json["systems"][0]["values"].push_back(1); });
  refused([](auto& json) { json["metrics"][0] = "best"; });
  refused([](auto& json) { json.erase("qids"); });
}

TEST(FoldResult, NoChangedByteChangesAResult) {
  std::string const text = to_text(example("Fold1"));
  std::size_t refused = 0;
  for (std::size_t at = 0; at < text.size(); ++at)
    for (char const other : {'0', '7', 'e', ' ', '"', '-'}) {
      if (text[at] == other) continue;
      std::string changed = text;
      changed[at] = other;
      try {
        EXPECT_EQ(to_text(fold_result_from(changed, "x")), text) << at << other;
      } catch (error const&) {
        ++refused;
      }
    }
  EXPECT_GT(refused, 4 * text.size()) << "all but blanks between values";
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
  EXPECT_FALSE(find_finished(out, "Fold1", "g").damaged) << "other settings";
  write_file(folder / "scores.txt", "2\n");
  EXPECT_NE(find_finished(out, "Fold1", "f").why_not.find("scores.txt"), std::string::npos);
  EXPECT_TRUE(find_finished(out, "Fold1", "f").damaged);
  for (std::string const& text : {std::string("{"), std::string()}) {
    write_file(finished_path(out, "Fold1"), text);
    EXPECT_FALSE(find_finished(out, "Fold1", "f").result);
    EXPECT_TRUE(find_finished(out, "Fold1", "f").damaged);
    EXPECT_NE(find_finished(out, "Fold1", "f").why_not, "");
  }
}

TEST(Finished, TheFingerprintFollowsWhatMatters) {
  settings const s = small_settings();
  std::map<std::string, std::string> const inputs{{"a", "1"}};
  std::string const base = fingerprint_of(s, "Fold1", inputs);
  EXPECT_EQ(base.size(), 64u);
  EXPECT_EQ(base, fingerprint_of(s, "Fold1", inputs));
  EXPECT_NE(base, fingerprint_of(s, "Fold2", inputs));
  EXPECT_NE(base, fingerprint_of(s, "Fold1", {{"a", "2"}}));
  std::vector<settings> others(12, s);
  others[0].seed = 2;
  others[1].members[0].discretizer.bins = 9;
  others[2].members[0].scoring.smoothing = 1;
  others[3].random_draws = 3;
  others[4].rank_sizes = {2};
  others[5].profile.max_label = 3;
  others[6].measures.pop_back();
  others[7].partitions = 4;
  others[8].feature = false;
  others[9].members.resize(2);
  others[10].recipes = {l2r::card_recipe()};
  others[11].seeded_ties = true;
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
  // The samples' means of fold means: .1 and .2, .05 and .15.
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
  std::string const message = message_of([&] { make_report({}, small_settings(), {fold}, {}); });
  EXPECT_PRED2(says, message, "...Fold4...");
  EXPECT_PRED2(says, message, "...feature...");
}

class Run : public testing::Test {
 protected:
  Run() {
    random_engine engine(3);
    std::string text;
    for (std::size_t q = 0; q < 9; ++q)
      for (std::size_t d = 0; d < 12; ++d) {
        std::uint64_t const label = uniform_below(engine, 3);
        text += fmt::format("{} qid:{}", label, q + 1);
        for (int f = 1; f <= 5; ++f)
          text +=
              fmt::format(" {}:{:.3f}", f,
                          uniform_unit(engine) + (f < 3 ? 0.3 * static_cast<double>(label) : 0));
        text += fmt::format(" # docid = d{}\n", d);
      }
    data_ = datasets::parse_svmlight(ctx_, text, "data");
    what_.settings = small_settings();
    what_.settings.outside = {"first"};
    what_.compared.permutations = 99;
    datasets::split_options deal;
    deal.folds = 3;
    auto const parts = datasets::split_queries(ctx_, data_, deal);
    for (std::size_t f = 0; f < deal.folds; ++f) {
      auto const rotated = datasets::letor_rotation(f, deal.folds);
      memory_fold& fold = folds_.emplace_back();
      fold.number = f + 1;
      for (std::size_t const p : rotated.train) fold.train = documents_of(parts[p], fold.train);
      fold.vali = documents_of(parts[rotated.vali], {});
      fold.test = documents_of(parts[rotated.test], {});
    }
    datasets::write_split(ctx_, data_, deal, folder_ / "data");
    fs::create_directories(folder_.path() / "first");
    for (memory_fold const& fold : folds_) {
      std::string scores;
      for (std::size_t const d : fold.test) scores += fmt::format("{}\n", first_[d]);
      write_file(folder_ / fmt::format("first/Fold{}.txt", fold.number), scores);
    }
  }

  std::vector<std::size_t> documents_of(std::vector<std::size_t> const& queries,
                                        std::vector<std::size_t> documents) const {
    for (std::size_t const q : queries)
      for (std::size_t d = data_.queries[q].begin; d < data_.queries[q].end; ++d)
        documents.push_back(d);
    std::sort(documents.begin(), documents.end());
    return documents;
  }
  file_folds in_files() const {
    file_folds_options options;
    options.outside = {{"first", folder_ / "first"}};
    return file_folds(folder_ / "data", options);
  }
  memory_folds in_memory() const { return memory_folds(data_, folds_, {{"first", first_}}); }
  options writing(char const* name) const {
    options what = what_;
    what.out_dir = folder_ / name;
    return what;
  }
  std::map<std::string, std::string> written(std::string const& folder) const {
    std::map<std::string, std::string> files;
    for (fs::directory_entry const& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file())
        files[fs::relative(entry.path(), folder).string()] = sha256_of_file(entry.path().string());
    return files;
  }

  temporary_folder const folder_;
  context const ctx_;
  datasets::dataset data_;
  std::vector<double> first_ = std::vector<double>(108, 0.5);
  std::vector<memory_fold> folds_;
  options what_;
};

TEST_F(Run, DataSetsInMemoryGiveWhatFilesGive) {
  file_folds const files = in_files();
  for (std::size_t f = 0; f < folds_.size(); ++f) folds_[f].checksums = files.checksums(f);
  std::vector<std::string> notes;
  sinks out;
  out.note = [&](std::string const& message) { notes.push_back(message); };
  results const by_files = run(ctx_, writing("a"), files, out);
  EXPECT_EQ(notes.size(), 3u);
  results const by_memory = run(ctx_, writing("b"), in_memory(), {});
  EXPECT_EQ(to_text(by_files.report, by_files.settings),
            to_text(by_memory.report, by_memory.settings));
  EXPECT_EQ(written(folder_ / "a"), written(folder_ / "b"));
  EXPECT_EQ(by_files.settings.profile.max_label, 2);
  EXPECT_FALSE(by_files.engines.at("rank").empty());
  // Nothing is repeated, whatever the source; without a folder nothing is written.
  results const again = run(ctx_, writing("a"), in_memory(), out);
  EXPECT_EQ(notes.back(), "Fold3: finished by an earlier run");
  EXPECT_FALSE(again.times.at(2).seconds);
  EXPECT_EQ(to_text(again.report, again.settings), to_text(by_files.report, by_files.settings));
  results const unwritten = run(ctx_, what_, in_memory(), {});
  EXPECT_EQ(unwritten.report.systems[0].means, by_files.report.systems[0].means);
}

TEST_F(Run, GivesTheSameOverProcesses) {
  what_.settings.tune = {eval::parse_measures("MAP"), {}, {}};
  what_.settings.tune->search_space.bins = {4, 10};
  what_.settings.tune->search_space.rule_sizes = {2};
  std::map<std::pair<std::size_t, std::string>, std::vector<double>> expected_scores;
  sinks out;
  out.scores = [&](std::size_t fold, std::string const& system, datasets::dataset const& test,
                   std::span<double const> scores) {
    EXPECT_EQ(test.size(), scores.size());
    expected_scores[{fold, system}].assign(scores.begin(), scores.end());
  };
  results const one = run(ctx_, writing("one"), in_memory(), out);
  auto const expected = written(folder_ / "one");
  // Three folds: 2 processes deal two folds and share one; 3 deal all; 4 share all.
  for (int const processes : {2, 3, 4})
    for (bool const goes_on : {false, true}) {
      std::string const name = fmt::format("of-{}", processes);
      if (goes_on) {
        fs::remove(folder_.path() / name / "folds/Fold1.json");
        fs::remove(folder_.path() / name / "folds/Fold3.json");
      }
      decltype(expected_scores) found_scores;
      std::vector<std::string> notes;
      std::mutex mutex;
      testing_tools::run_processes(processes, [&](process_group const& group) {
        context ctx;
        ctx.threads = 1;
        ctx.processes = &group;
        sinks told;
        told.note = [&](std::string const& note) {
          std::lock_guard const lock(mutex);
          notes.push_back(note);
        };
        told.scores = [&](std::size_t fold, std::string const& system, datasets::dataset const&,
                          std::span<double const> scores) {
          EXPECT_TRUE(group.is_first());
          found_scores[{fold, system}].assign(scores.begin(), scores.end());
        };
        results const found = run(ctx, writing(name.c_str()), in_memory(), told);
        if (group.is_first())
          EXPECT_EQ(to_text(found.report, found.settings), to_text(one.report, one.settings));
        else
          EXPECT_TRUE(found.report.comparisons.empty());
        EXPECT_EQ(found.report.systems.size(), one.report.systems.size());
        EXPECT_EQ(found.engines, one.engines);
        EXPECT_EQ(found.times.size(), 3U);
      });
      EXPECT_EQ(written(folder_ / name), expected) << processes;
      EXPECT_EQ(notes.size(), 3U);
      if (goes_on) {
        EXPECT_EQ(std::ranges::count(notes, "Fold2: finished by an earlier run"), 1);
      } else {
        EXPECT_EQ(found_scores, expected_scores);
      }
    }
}

TEST_F(Run, ReadsEachSetOnce) {
  struct counting final : fold_source {
    explicit counting(memory_folds folds) : folds_(std::move(folds)) {}
    std::size_t size() const override { return folds_.size(); }
    std::uint64_t number(std::size_t fold) const override { return folds_.number(fold); }
    std::map<std::string, std::string> checksums(std::size_t fold) const override {
      return folds_.checksums(fold);
    }
    data_reading reading() const override { return folds_.reading(); }
    datasets::dataset read(context const& ctx, std::size_t fold, fold_set which,
                           message_fn const& warn) const override {
      ++read_[{fold, which}];
      return folds_.read(ctx, fold, which, warn);
    }
    std::vector<double> scores(context const& ctx, std::size_t fold, std::string const& system,
                               datasets::dataset const& test) const override {
      return folds_.scores(ctx, fold, system, test);
    }
    memory_folds folds_;
    mutable std::map<std::pair<std::size_t, fold_set>, int> read_;
  } const source(in_memory());
  run(ctx_, writing("a"), source, {});
  EXPECT_EQ(source.read_.size(), 9u);
  for (auto const& [which, times] : source.read_) EXPECT_EQ(times, 1);
}

TEST_F(Run, OtherDocumentsAreNotTakenFromAnEarlierRun) {
  run(ctx_, writing("a"), in_memory(), {});
  data_.labels[folds_[1].train.front()] ^= 1;
  results const again = run(ctx_, writing("a"), in_memory(), {});
  EXPECT_TRUE(again.times.at(1).seconds);
  first_[folds_[0].test.front()] = 7;
  EXPECT_TRUE(run(ctx_, writing("a"), in_memory(), {}).times.at(0).seconds);
}

TEST_F(Run, ADamagedFoldIsDoneAgainWithAWarning) {
  results const first = run(ctx_, writing("a"), in_memory(), {});
  std::map<std::string, std::string> const files = written(folder_ / "a");
  std::string const path = finished_path(folder_ / "a", "Fold2");
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(std::ifstream(path));
  json["systems"][0]["values"][0] = 0.125;
  write_file(path, json.dump(1) + "\n");
  std::vector<std::string> warnings;
  sinks out;
  out.warn = [&](std::string const& message) { warnings.push_back(message); };
  results const again = run(ctx_, writing("a"), in_memory(), out);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(
      warnings[0],
      fmt::format("Fold2: runs again: {}: these results are damaged: their checksum does not match",
                  path));
  EXPECT_TRUE(again.times.at(1).seconds);
  EXPECT_FALSE(again.times.at(0).seconds);
  EXPECT_EQ(written(folder_ / "a"), files);
}

TEST_F(Run, OneAtATimeWritesIntoAFolder) {
  run(ctx_, writing("a"), in_memory(), {});
  folder_lock const other(folder_ / "a/folds");
  EXPECT_THROW(run(ctx_, writing("a"), in_memory(), {}), output_error);
  EXPECT_NO_THROW(run(ctx_, writing("b"), in_memory(), {}));
}

TEST_F(Run, MembersRankAsEachOfThemCombined) {
  what_.settings.random = what_.settings.feature = false;
  what_.settings.rank_sizes = {0};
  ranking_settings other;
  other.discretizer.method = datasets::binning::frequency;
  other.discretizer.bins = 4;
  other.scoring.rule_size = 2;
  other.scoring.smoothing = 5;
  auto const scores_by = [&](char const* name, std::vector<ranking_settings> members) {
    options what = writing(name);
    what.settings.members = std::move(members);
    results const done = run(ctx_, what, in_memory(), {});
    std::string const system = done.report.systems.front().what.name;
    auto const test = in_memory().read(ctx_, 1, fold_set::test, {});
    return datasets::read_scores_of(
        ctx_, folder_ / fmt::format("{}/scores/{}/Fold2.txt", name, system), test);
  };
  ranking_settings const first = what_.settings.members.front();
  auto const test = in_memory().read(ctx_, 1, fold_set::test, {});
  EXPECT_EQ(scores_by("both", {first, other}),
            l2r::combine(test.queries,
                         std::vector{scores_by("one", {first}), scores_by("two", {other})}));
}

TEST_F(Run, RecipesRankAsTheModelThatTheyFit) {
  what_.settings.feature = false;
  what_.settings.rank_sizes = {0};
  options what = writing("card");
  what.settings.recipes = {l2r::card_recipe(), l2r::rules_recipe{}, l2r::joint_recipe{}};
  results const done = run(ctx_, what, in_memory(), {});
  ASSERT_EQ(done.report.systems.size(), 4u);
  EXPECT_EQ(done.report.systems[2].what.name, "random-3-members-3");
  EXPECT_EQ(done.report.folds[1].systems[2].draws.size(), 2u);
  auto const test = in_memory().read(ctx_, 1, fold_set::test, {});
  auto const train = in_memory().read(ctx_, 1, fold_set::train, {});
  auto const written = [&](char const* system) {
    return datasets::read_scores_of(ctx_, folder_ / fmt::format("card/scores/{}/Fold2.txt", system),
                                    test);
  };
  auto const by = [&](datasets::dataset const& from) {
    return l2r::score(ctx_, l2r::fit(ctx_, from, what.settings.recipes), test).scores;
  };
  EXPECT_EQ(written("full-members-3"), by(train));
  // Documents that were not chosen have no label.
  auto const reduced = datasets::read_svmlight(ctx_, folder_ / "card/reduced/Fold2-size3.txt");
  ASSERT_LT(reduced.size(), train.size());
  auto part = train;
  std::ranges::fill(part.labels, datasets::unlabelled);
  auto const place = [&](datasets::dataset const& of, std::size_t d) {
    auto const q = std::ranges::find_if(of.queries, [&](auto const& one) { return d < one.end; });
    return std::pair(q->qid, of.docid(d));
  };
  for (std::size_t d = 0; d < train.size(); ++d)
    for (std::size_t r = 0; r < reduced.size(); ++r)
      if (place(train, d) == place(reduced, r)) part.labels[d] = reduced.labels[r];
  EXPECT_EQ(written("reduced-3-members-3"), by(part));
  EXPECT_NE(written("reduced-3-members-3"), by(train));
  // Rules have the rank size.
  what.settings.rank_sizes = {2};
  what.out_dir = folder_ / "card";
  run(ctx_, what, in_memory(), {});
  std::get<l2r::rules_recipe>(what.settings.recipes[1]).scoring.rule_size = 2;
  EXPECT_EQ(written("full-rank-2"), by(train));
}

TEST_F(Run, SeededTiesDoNotFollowTheOrderOfTheFile) {
  auto const chosen = [&](bool seeded, std::uint64_t seed) {
    options what = writing("ties");
    what.settings.random = what.settings.feature = false;
    what.settings.members.front().discretizer.bins = 2;  // produces ties
    what.settings.seeded_ties = seeded;
    context ctx = ctx_;
    ctx.seed = seed;
    run(ctx, what, in_memory(), {});
    return sha256_of_file(folder_ / "ties/reduced/Fold1-size3.tsv");
  };
  std::string const by_index = chosen(false, 1);
  EXPECT_EQ(chosen(false, 2), by_index);
  std::string const by_seed = chosen(true, 1);
  EXPECT_NE(by_seed, by_index);
  EXPECT_NE(chosen(true, 2), by_seed);
  EXPECT_EQ(chosen(true, 1), by_seed);
}

TEST_F(Run, RefusesFoldsThatDoNotFit) {
  EXPECT_THROW(memory_folds(data_, {}), usage_error);
  EXPECT_THROW(memory_folds(data_, {folds_[1], folds_[0]}), usage_error);
  EXPECT_THROW(memory_folds(data_, folds_, {{"first", {1, 2}}}), usage_error);
  folds_[0].train.push_back(data_.size());
  EXPECT_THROW(in_memory(), usage_error);
  folds_[0].train.pop_back();
  EXPECT_THROW(run(ctx_, what_, memory_folds(data_, folds_), {}), usage_error);  // no scores
  data_.labels[folds_[2].train.front()] = datasets::unlabelled;
  EXPECT_THROW(run(ctx_, what_, in_memory(), {}), error);
}

}  // namespace
}  // namespace rulerank::experiment::experiment_test
