#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/process_group_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight.hpp"
#include "eval/evaluate.hpp"
#include "l2r/model/options_json.hpp"
#include "l2r/model/recommended.hpp"
#include "l2r/model/scorer.hpp"
#include "l2r/rules/ranker.hpp"
#include "tuning/search_space.hpp"
#include "tuning/settings_file.hpp"
#include "tuning/settings_json.hpp"
#include "tuning/tuner.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::tuning::tuning_test {
namespace {

using testing_tools::temporary_folder;

/// Documents whose first features correlate weakly with the label.
datasets::dataset drawn_set(temporary_folder const& folder, std::string const& name,
                            std::uint64_t seed, std::size_t queries, std::size_t documents) {
  random_engine engine(seed);
  std::string text;
  for (std::size_t q = 0; q < queries; ++q)
    for (std::size_t d = 0; d < documents; ++d) {
      std::uint64_t const label = uniform_below(engine, 3);
      text += fmt::format("{} qid:{}", label, q + 1);
      for (int f = 1; f <= 5; ++f)
        text += fmt::format(" {}:{:.3f}", f,
                            uniform_unit(engine) + (f < 3 ? 0.3 * static_cast<double>(label) : 0));
      text += "\n";
    }
  write_file(folder / name, text);
  return datasets::read_svmlight({}, folder / name);
}

search_space small_search_space() {
  search_space s;
  s.methods = {datasets::binning::width, datasets::binning::frequency};
  s.bins = {3, 6};
  s.rule_sizes = {2, 3};
  s.min_supports = {1};
  s.min_confidences = {0.001};
  s.support_weights = {0, -0.5};
  s.smoothings = {0, 5};
  return s;
}

class Tuner : public testing::Test {
 protected:
  Tuner() { ctx_.threads = 1; }

  prepare_fn preparing() {
    return [this](cuts const& how) {
      ++prepared_;
      datasets::discretizer_options options;
      options.method = how.method;
      options.bins = how.bins;
      auto const fitted = datasets::fit_discretizer(ctx_, train_, options);
      return prepared{datasets::apply_discretizer(ctx_, train_, fitted),
                      datasets::apply_discretizer(ctx_, vali_, fitted)};
    };
  }
  tuner make(context const& ctx, search_space const& s = small_search_space()) {
    return tuner(ctx, vali_, candidates_of(s), measures_, rules_, preparing());
  }
  tuner make() { return make(ctx_); }

  /// Evaluates the whole validation set at once, as rank and evaluate do.
  std::vector<double> reference(candidate const& c) {
    prepared const items = preparing()(c.cuts);
    l2r::ranker_options options;
    options.scoring = c.scoring;
    auto const scores = l2r::ranker(ctx_, items.training, options).score(ctx_, items.validation);
    return eval::evaluate(ctx_, vali_, scores.scores, measures_, rules_).averages();
  }

  temporary_folder const folder_;
  context ctx_;
  datasets::dataset train_ = drawn_set(folder_, "train", 1, 20, 10);
  datasets::dataset vali_ = drawn_set(folder_, "vali", 2, 10, 12);
  std::vector<eval::measure> measures_ = eval::parse_measures("MAP,NDCG@5");
  eval::profile rules_ = eval::make_profile("letor");
  /// Expects settings to have their kinds' options.
  void expect_kinds(tuner& t, search_result const& result) {
    auto const read = settings_from(
        best_settings(ctx_, t, result, 0, {}, rules_, datasets::discretizer_options{}).dump(), "s");
    ASSERT_EQ(read.size(), result.chosen.size());
    for (std::size_t k = 0; k < read.size(); ++k) {
      candidate const& c = t.candidates()[result.trials[result.chosen[k]].candidate];
      EXPECT_EQ(read[k].linear.has_value(), c.linear.has_value());
      EXPECT_EQ(read[k].scorecard.has_value(), c.scorecard.has_value());
      if (c.linear) {
        EXPECT_EQ(read[k].linear->strength, c.linear->strength);
      }
      if (c.scorecard) {
        EXPECT_EQ(read[k].scorecard->loss, c.scorecard->loss);
      }
      if (!c.linear) {
        EXPECT_EQ(read[k].discretizer->bins, c.cuts.bins);
      }
    }
  }

  std::atomic<int> prepared_ = 0;
};

TEST(Space, EveryCombinationOnceInItsOrder) {
  auto const all = candidates_of(small_search_space());
  ASSERT_EQ(all.size(), 2u * 2 * 2 * 2 * 2);
  std::set<std::string> distinct;
  for (candidate const& c : all) distinct.insert(to_json(c).dump());
  EXPECT_EQ(distinct.size(), all.size());
  EXPECT_EQ(to_json(all[0]).dump(),
            R"({"method":"width","bins":3,"rule_size":2,"min_support":1,"min_confidence":0.001,)"
            R"("support_weight":0.0,"smoothing":0.0,"feature_share":1.0})");
  EXPECT_EQ(all[1].cuts.bins, 6);
  EXPECT_EQ(all[2].cuts.method, datasets::binning::frequency);
  EXPECT_EQ(all[4].scoring.smoothing, 5);
  EXPECT_EQ(all[8].scoring.support_weight, -0.5);
  EXPECT_EQ(all[16].scoring.rule_size, 3u);
  search_space shares = small_search_space();
  shares.feature_shares = {1, 0.5};
  auto const twice = candidates_of(shares);
  ASSERT_EQ(twice.size(), 2 * all.size());
  EXPECT_EQ(twice[3].scoring.feature_share, 1);
  EXPECT_EQ(twice[4].scoring.feature_share, 0.5);
}

TEST(Space, RefusesWhatMakesNoSense) {
  EXPECT_EQ(candidates_of(search_space{}).size(), 648u);
  auto const refused = [](auto change) {
    search_space s = small_search_space();
    change(s);
    EXPECT_THROW(candidates_of(s), usage_error);
  };
  refused([](search_space& s) { s.methods.clear(); });
  refused([](search_space& s) { s.bins = {1}; });
  refused([](search_space& s) { s.bins = {3, 3}; });
  refused([](search_space& s) { s.rule_sizes = {1}; });
  refused([](search_space& s) { s.min_confidences = {1.5}; });
  refused([](search_space& s) { s.smoothings = {-1}; });
  refused([](search_space& s) { s.support_weights = {}; });
  refused([](search_space& s) { s.feature_shares = {0.5, 2}; });
}

TEST_F(Tuner, AGridGivesWhatRankAndEvaluateGive) {
  tuner t = make();
  search_options options;
  options.rungs = 1;
  search_result const result = t.search(ctx_, 0, options);
  EXPECT_EQ(prepared_, 4);  // once for each way to cut
  ASSERT_EQ(result.trials.size(), t.candidates().size());
  double best = -1;
  for (trial const& one : result.trials) {
    EXPECT_EQ(one.queries, 10u);
    EXPECT_EQ(one.values, reference(t.candidates()[one.candidate]));  // bit for bit
    best = std::max(best, one.values[0]);
  }
  trial const& chosen = result.trials[result.chosen.front()];
  EXPECT_EQ(chosen.values[0], best);
  for (trial const& one : result.trials)
    if (one.candidate < chosen.candidate) {
      EXPECT_LT(one.values[0], best);
    }
}

TEST_F(Tuner, HalvingTriesTheBestOfARungOnMoreQueries) {
  tuner t = make();
  search_result const result = t.search(ctx_, 1, {});
  std::vector<std::vector<trial>> rungs(3);
  for (trial const& one : result.trials) rungs.at(one.rung).push_back(one);
  EXPECT_EQ(rungs[0].size(), 32u);
  EXPECT_EQ(rungs[1].size(), 16u);
  EXPECT_EQ(rungs[2].size(), 8u);
  for (std::size_t k = 0; k < 3; ++k)
    for (trial const& one : rungs[k])
      EXPECT_EQ(one.queries, std::vector<std::size_t>({3, 5, 10})[k]);  // of 10, rounded up
  for (std::size_t k = 1; k < 3; ++k) {
    double worst_kept = 1, best_left = 0;
    for (trial const& one : rungs[k - 1]) {
      bool const kept = std::ranges::any_of(
          rungs[k], [&](trial const& next) { return next.candidate == one.candidate; });
      if (kept)
        worst_kept = std::min(worst_kept, one.values[1]);
      else
        best_left = std::max(best_left, one.values[1]);
    }
    EXPECT_GE(worst_kept, best_left);
  }
  // Queries judged on several rungs give the same bits as all at once.
  for (trial const& one : rungs[2]) EXPECT_EQ(one.values, reference(t.candidates()[one.candidate]));
  EXPECT_EQ(result.trials[result.chosen.front()].rung, 2u);
}

TEST_F(Tuner, CrossFittingRanksATrainingQueryByTheOthers) {
  train_ = drawn_set(folder_, "few", 4, 7, 10);
  search_space s = small_search_space();
  s.bins = {4};
  s.smoothings = {5};
  // As many folds as queries: however they are dealt, each query is ranked by all others.
  tuner t(ctx_, vali_, candidates_of(s), measures_, rules_, preparing(), {}, {7, &train_});
  search_result const result = t.search(ctx_, 0, {});
  for (trial const& one : result.trials) {
    if (one.rung + 1 < 3) continue;
    EXPECT_EQ(one.queries, 17u);
    candidate const& c = t.candidates()[one.candidate];
    prepared const items = preparing()(c.cuts);
    l2r::ranker_options options;
    options.scoring = c.scoring;
    std::vector<double> sums = reference(c);
    for (double& sum : sums) sum *= 10;
    for (datasets::query_group const& q : train_.queries) {
      std::vector<std::size_t> own, others;
      for (std::size_t d = 0; d < train_.size(); ++d)
        (d >= q.begin && d < q.end ? own : others).push_back(d);
      l2r::ranker ranker(ctx_, datasets::subset(items.training, others), options);
      auto const scores = ranker.score(ctx_, datasets::subset(items.training, own)).scores;
      auto const got =
          eval::evaluate(ctx_, datasets::subset(train_, own), scores, measures_, rules_);
      for (std::size_t m = 0; m < sums.size(); ++m) sums[m] += got.at(0, m);
    }
    for (std::size_t m = 0; m < sums.size(); ++m) EXPECT_NEAR(one.values[m], sums[m] / 17, 1e-12);
  }
  // Independent of threads, and of a loaded state.
  context three = ctx_;
  three.threads = 3;
  tuner again(three, vali_, candidates_of(s), measures_, rules_, preparing(), {}, {7, &train_});
  again.search(three, 0, {});
  EXPECT_EQ(again.state("f"), t.state("f"));
  tuner taken(ctx_, vali_, candidates_of(s), measures_, rules_, preparing(), {}, {7, &train_});
  taken.restore(t.state("f"), "f", "state");
  prepared_ = 0;
  taken.search(ctx_, 0, {});
  EXPECT_EQ(prepared_, 0);
  for (std::size_t const folds : {1, 8})
    EXPECT_THROW(
        tuner(ctx_, vali_, candidates_of(s), measures_, rules_, preparing(), {}, {folds, &train_}),
        usage_error);
}

TEST_F(Tuner, SeveralThatRankTogether) {
  tuner t = make();
  search_options options;
  options.members = 3;
  search_result const result = t.search(ctx_, 0, options);
  ASSERT_EQ(result.chosen.size(), 3u);
  std::vector<std::size_t> members;
  for (std::size_t const at : result.chosen) {
    EXPECT_EQ(result.trials[at].rung, 2u);
    members.push_back(result.trials[at].candidate);
  }
  for (trial const& one : result.trials) {
    if (one.rung == 2 && std::ranges::find(members, one.candidate) == members.end()) {
      EXPECT_LE(one.values[0], result.trials[result.chosen[2]].values[0]);
    }
  }
  std::vector<std::vector<double>> scores;
  for (std::size_t const c : members) {
    prepared const items = preparing()(t.candidates()[c].cuts);
    l2r::ranker_options how;
    how.scoring = t.candidates()[c].scoring;
    scores.push_back(l2r::ranker(ctx_, items.training, how).score(ctx_, items.validation).scores);
  }
  auto const together =
      eval::evaluate(ctx_, vali_, l2r::combine(vali_.queries, scores), measures_, rules_);
  EXPECT_EQ(t.judge(ctx_, members), together.averages());
  EXPECT_EQ(t.judge(ctx_, std::span(members).first(1)), reference(t.candidates()[members[0]]));
  auto const json =
      best_settings(ctx_, t, result, 0, options, rules_, datasets::discretizer_options{});
  EXPECT_EQ(json["validation"]["MAP"], together.averages()[0]);
  auto const read = settings_from(json.dump(), "best");
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[2].scoring.smoothing, t.candidates()[members[2]].scoring.smoothing);
  // The table begins with the chosen ones; at most those of the last rung.
  EXPECT_EQ(std::get<double>(trials_table(t, result, 0, 3).rows[2][2]),
            result.trials[result.chosen[2]].values[0]);
  options.members = 100;
  EXPECT_EQ(t.search(ctx_, 0, options).chosen.size(), 8u);
  options.members = 0;
  EXPECT_THROW(t.search(ctx_, 0, options), usage_error);
}

TEST_F(Tuner, ANormIsSearchedForWhereItIsAsked) {
  search_space s = small_search_space();
  EXPECT_FALSE(candidates_of(s)[0].cuts.norm);
  s.norms = {datasets::normalization::query_minmax, datasets::normalization::none};
  auto const all = candidates_of(s);
  ASSERT_EQ(all.size(), 64u);
  EXPECT_EQ(to_json(all[0])["norm"], "query-minmax");
  EXPECT_EQ(to_json(all[1])["norm"], "none");
  EXPECT_EQ(to_json(s)["norm"].size(), 2u);
  s.norms.push_back(datasets::normalization::none);
  EXPECT_THROW(candidates_of(s), usage_error);
  std::set<std::optional<datasets::normalization>> seen;
  tuner t(ctx_, vali_, all, measures_, rules_, [&](cuts const& how) {
    seen.insert(how.norm);
    return preparing()(how);
  });
  search_options grid;
  grid.rungs = 1;
  search_result result = t.search(ctx_, 0, grid);
  EXPECT_EQ(seen.size(), 2u);
  result.chosen = {0};
  auto const read = settings_from(
      best_settings(ctx_, t, result, 0, grid, rules_, datasets::discretizer_options{}).dump(), "s");
  EXPECT_EQ(read[0].discretizer->norm, datasets::normalization::query_minmax);
  EXPECT_EQ(trials_table(t, result, 0, 1).columns[6].name, "norm");
}

search_space search_space_of_kinds() {
  search_space s = small_search_space();
  s.kinds = {"linear", "scorecard", "rules"};
  s.methods = {datasets::binning::frequency};
  s.bins = {3, 6};
  s.rule_sizes = {3};
  s.support_weights = {0};
  s.losses = {l2r::card_loss::list, l2r::card_loss::point};
  s.points_penalties = {1e-2};
  s.smoothnesses = {.1, 1};
  s.strengths = {10, 300};
  return s;
}

TEST(Space, KindsComeOneAfterTheOther) {
  auto const all = candidates_of(search_space_of_kinds());
  ASSERT_EQ(all.size(), 2u + 2 * 2 * 2 + 2 * 2);
  std::set<std::string> distinct;
  for (candidate const& c : all) distinct.insert(to_json(c).dump());
  EXPECT_EQ(distinct.size(), all.size());
  EXPECT_EQ(to_json(all[1])["kind"], "linear");
  EXPECT_EQ(to_json(all[1])["strength"], 300);
  EXPECT_EQ(to_json(all[2]).dump(), R"({"kind":"scorecard","method":"frequency","bins":3,)"
                                    R"("loss":"list","points_penalty":0.01,"smoothness":0.1})");
  EXPECT_EQ(all[3].cuts.bins, 6);
  EXPECT_EQ(all[4].scorecard->smoothness, 1);
  EXPECT_FALSE(all[10].scorecard || all[10].linear);
  EXPECT_EQ(to_json(search_space_of_kinds())["strength"].size(), 2u);
  EXPECT_FALSE(to_json(small_search_space()).contains("kind"));
  auto const refused = [](auto change) {
    search_space s = search_space_of_kinds();
    change(s);
    EXPECT_THROW(candidates_of(s), usage_error);
  };
  refused([](search_space& s) { s.kinds = {}; });
  refused([](search_space& s) { s.kinds = {"rules", "rules"}; });
  refused([](search_space& s) { s.kinds = {"trees"}; });
  refused([](search_space& s) { s.losses = {}; });
  refused([](search_space& s) { s.points_penalties = {0}; });
  refused([](search_space& s) { s.smoothnesses = {-1}; });
  refused([](search_space& s) { s.strengths = {-1}; });
  refused([](search_space& s) { s.strengths = {0, 0}; });
  refused([](search_space& s) { s.strengths = {10, 10}; });
  refused([](search_space& s) { s.bins = {1}; });
}

TEST_F(Tuner, KindsGetWhatFitAndScoreGive) {
  // As many folds as queries: however they are dealt, each query is ranked by all others.
  train_ = drawn_set(folder_, "few", 4, 7, 10);
  auto const all = candidates_of(search_space_of_kinds());
  std::string first;
  for (int const threads : {1, 2, 5}) {
    context ctx = ctx_;
    ctx.threads = threads;
    tuner t(ctx, vali_, all, measures_, rules_, preparing(), {}, {7, &train_});
    search_options options;
    options.members = 3;
    search_result result = t.search(ctx, 0, options);
    t.compare(ctx, 0, {candidate{}}, result);
    std::string const shown =
        eval::render(trials_table(t, result, 0, 3), eval::table_format::tsv) + t.state("f");
    if (threads == 1) first = shown;
    EXPECT_EQ(shown, first);
    std::set<std::size_t> kinds;
    for (trial const& one : result.trials) {
      if (one.rung + 1 < 3 || threads > 1) continue;
      candidate const& c = t.candidates()[one.candidate];
      kinds.insert(c.linear ? 2 : c.scorecard ? 1 : 0);
      datasets::discretizer_options how{c.cuts.method, c.cuts.bins};
      auto const cuts = std::make_shared<datasets::discretizer const>(
          datasets::fit_discretizer(ctx, train_, how));
      l2r::recipe recipe = l2r::rules_recipe{how, cuts, c.scoring};
      if (c.scorecard) recipe = l2r::scorecard_recipe{how, cuts, *c.scorecard};
      if (c.linear) recipe = l2r::linear_recipe{*c.linear};
      auto const value = [&](datasets::dataset const& from, datasets::dataset const& of) {
        auto const model = l2r::fit(ctx, from, std::span(&recipe, 1));
        return eval::evaluate(ctx, of, l2r::scorer(ctx, model).score(ctx, of).scores, measures_,
                              rules_)
            .averages()[0];
      };
      double sum = 10 * value(train_, vali_);
      for (datasets::query_group const& q : train_.queries) {
        std::vector<std::size_t> own, others;
        for (std::size_t d = 0; d < train_.size(); ++d)
          (d >= q.begin && d < q.end ? own : others).push_back(d);
        sum += value(datasets::subset(train_, others), datasets::subset(train_, own));
      }
      EXPECT_NEAR(one.values[0], sum / 17, 1e-12) << to_json(c).dump();
    }
    if (threads == 1) {
      EXPECT_GT(kinds.size(), 1u);
    }
    result.chosen = {0, 2, 10};
    expect_kinds(t, result);
  }
  EXPECT_THROW(tuner(ctx_, vali_, all, measures_, rules_, preparing()), usage_error);
}

TEST(Space, CardsAndJointMembersKeepTheirRecipes) {
  search_space s;
  s.kinds = {"joint", "card"};
  auto const all = candidates_of(s);
  ASSERT_EQ(all.size(), 1u + 4 * 3);
  EXPECT_EQ(kind_of(all[0]), "joint");
  EXPECT_EQ(kind_of(all[1]), "card");
  std::set<std::string> distinct;
  for (candidate const& c : all) distinct.insert(to_json(c).dump());
  EXPECT_EQ(distinct.size(), all.size());
  // They include the defaults of fit.
  EXPECT_TRUE(distinct.contains(to_json(candidate_of(l2r::card_recipe())).dump()));
  EXPECT_TRUE(distinct.contains(to_json(candidate_of(l2r::joint_recipe{})).dump()));
  EXPECT_EQ(to_json(all[2])["max_features"], 3);
  EXPECT_EQ(to_json(all[2])["discretizer"]["bins"], 12);
  EXPECT_EQ(to_json(all[2])["smoothness"], "cross-fit");
  EXPECT_EQ(all[2].cuts.bins, 12);
  s.norms = {datasets::normalization::none, datasets::normalization::query_zscore};
  EXPECT_EQ(candidates_of(s).size(), 2 * all.size());
  EXPECT_EQ(to_json(candidates_of(s)[1])["discretizer"]["norm"], "query-zscore");
  EXPECT_EQ(candidates_of(s)[1].cuts.norm, datasets::normalization::query_zscore);
  auto const refused = [](auto change) {
    search_space wrong;
    wrong.kinds = {"card"};
    change(wrong);
    EXPECT_THROW(candidates_of(wrong), usage_error);
  };
  refused([](search_space& x) { x.max_features = {}; });
  refused([](search_space& x) { x.max_features = {0}; });
  refused([](search_space& x) { x.max_features = {3, 3}; });
  refused([](search_space& x) { x.card_bins = {}; });
  refused([](search_space& x) { x.card_bins = {251}; });
}

TEST_F(Tuner, CardsAndJointMembersGetWhatFitAndScoreGive) {
  // As many folds as queries: however they are dealt, each query is ranked by all others.
  train_ = drawn_set(folder_, "few", 4, 7, 10);
  search_space s;
  s.kinds = {"card", "joint"};
  s.max_features = {2, 3};
  s.card_bins = {5};
  std::string first;
  for (int const threads : {1, 2, 5}) {
    context ctx = ctx_;
    ctx.threads = threads;
    tuner t(ctx, vali_, candidates_of(s), measures_, rules_, preparing(), {}, {7, &train_});
    search_options options;
    options.rungs = 1;
    options.members = 3;
    search_result const result = t.search(ctx, 0, options);
    std::string const shown =
        eval::render(trials_table(t, result, 0, 1), eval::table_format::tsv) + t.state("f");
    if (threads == 1) first = shown;
    EXPECT_EQ(shown, first);
    if (threads > 1) continue;
    std::vector<l2r::recipe> recipes;
    for (std::size_t const at : result.chosen)
      recipes.push_back(*t.candidates()[result.trials[at].candidate].recipe);
    auto const value = [&](std::span<l2r::recipe const> by, datasets::dataset const& from,
                           datasets::dataset const& of) {
      auto const scores = l2r::score(ctx, l2r::fit(ctx, from, by), of).scores;
      return eval::evaluate(ctx, of, scores, measures_, rules_).averages()[0];
    };
    auto const expected = [&](std::span<l2r::recipe const> by) {
      double sum = 10 * value(by, train_, vali_);
      for (datasets::query_group const& q : train_.queries) {
        std::vector<std::size_t> own, others;
        for (std::size_t d = 0; d < train_.size(); ++d)
          (d >= q.begin && d < q.end ? own : others).push_back(d);
        sum += value(by, datasets::subset(train_, others), datasets::subset(train_, own));
      }
      return sum / 17;
    };
    std::vector<std::size_t> members;
    for (std::size_t k = 0; k < 3; ++k) {
      trial const& one = result.trials[result.chosen[k]];
      members.push_back(one.candidate);
      EXPECT_NEAR(one.values[0], expected(std::span(recipes).subspan(k, 1)), 1e-12);
    }
    // All of them combined, and as settings.
    EXPECT_NEAR(t.judge(ctx, members)[0], expected(recipes), 1e-12);
    auto const read = settings_from(
        best_settings(ctx, t, result, 0, options, rules_, datasets::discretizer_options{}).dump(),
        "s");
    ASSERT_EQ(read.size(), 3u);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(member_json(read[k]), member_json(settings_of(recipes[k])));
  }
  EXPECT_THROW(tuner(ctx_, vali_, candidates_of(s), measures_, rules_, preparing()), usage_error);
}

TEST_F(Tuner, WhatIsChosenIsComparedWithTheDefaults) {
  std::size_t kept = 0, gained = 0;  // below some candidates, above others
  for (candidate const& defaults : candidates_of(small_search_space())) {
    search_space s = small_search_space();
    s.methods = {datasets::binning::frequency};
    s.bins = {3};
    tuner t = make(ctx_, s);
    search_result result = t.search(ctx_, 0, {});
    search_result const before = result;
    t.compare(ctx_, 0, {defaults}, result);
    ASSERT_TRUE(result.compared);
    against_defaults const& of = *result.compared;
    EXPECT_EQ(of.queries, 10u);
    EXPECT_EQ(of.values, reference(defaults));
    EXPECT_EQ(of.found, before.trials[before.chosen[0]].values);
    EXPECT_NEAR(of.gain.mean, of.found[0] - of.values[0], 1e-12);
    EXPECT_LE(of.gain.low, of.gain.mean);
    EXPECT_LE(of.gain.mean, of.gain.high);
    EXPECT_EQ(of.kept, of.found[0] <= of.values[0]);
    auto const json =
        best_settings(ctx_, t, result, 0, {}, rules_, datasets::discretizer_options{});
    EXPECT_EQ(json["defaults"]["kept"], of.kept);
    EXPECT_EQ(json["defaults"]["validation"]["MAP"], of.values[0]);
    ASSERT_EQ(result.chosen.size(), 1u);
    if (of.kept) {
      ++kept;
      EXPECT_EQ(result.trials.size() - result.compared_trials, before.trials.size());
      EXPECT_EQ(to_json(t.candidates()[result.trials[result.chosen[0]].candidate]),
                to_json(defaults));
      EXPECT_EQ(json["smoothing"], defaults.scoring.smoothing);
      EXPECT_EQ(json["discretizer"]["bins"], defaults.cuts.bins);
      EXPECT_EQ(json["validation"]["MAP"], of.values[0]);
      EXPECT_EQ(std::get<double>(trials_table(t, result, 0, 3).rows[0][2]), of.values[0]);
    } else {
      ++gained;
      EXPECT_EQ(result.chosen, before.chosen);
      EXPECT_EQ(result.trials.size(), before.trials.size());
    }
    // A comparison with others chooses and tries nothing.
    search_result const chosen = result;
    candidate const other = candidates_of(small_search_space()).front();
    t.judge_beside(ctx_, 0, {other}, result);
    ASSERT_TRUE(result.beside);
    EXPECT_EQ(result.beside->values, reference(other));
    EXPECT_EQ(result.beside->found, result.trials[result.chosen[0]].values);
    EXPECT_EQ(result.chosen, chosen.chosen);
    EXPECT_EQ(result.trials.size(), chosen.trials.size());
    // Defaults that were not candidates are not searched later.
    search_result const again = t.search(ctx_, 1, {});
    EXPECT_EQ(again.candidates, 8u);
    EXPECT_EQ(again.tried, 8u);
  }
  EXPECT_GT(kept, 0u);
  EXPECT_GT(gained, 0u);
  tuner t = make();
  search_result result = t.search(ctx_, 0, {});
  EXPECT_THROW(t.compare(ctx_, 2, {candidate{}}, result), usage_error);
  EXPECT_THROW(t.compare(ctx_, 0, {}, result), usage_error);
  EXPECT_THROW(t.judge_beside(ctx_, 0, {}, result), usage_error);
}

TEST_F(Tuner, SeveralAreComparedWithTheDefaultsTogether) {
  for (int const threads : {1, 2, 5}) {
    context ctx = ctx_;
    ctx.threads = threads;
    tuner t(ctx, vali_, candidates_of(small_search_space()), measures_, rules_, preparing(), {},
            {4, &train_});
    search_options options;
    options.members = 3;
    search_result result = t.search(ctx, 0, options);
    std::vector<std::size_t> members;
    for (std::size_t const at : result.chosen) members.push_back(result.trials[at].candidate);
    t.compare(ctx, 0, {candidate{}}, result);
    EXPECT_EQ(result.compared->queries, 30u);
    EXPECT_EQ(result.compared->found, t.judge(ctx, members));
    ASSERT_EQ(result.compared->candidates.size(), 1u);
    std::size_t const defaults = result.compared->candidates[0];
    EXPECT_EQ(to_json(t.candidates()[defaults]), to_json(candidate{}));
    EXPECT_EQ(result.compared->values, t.judge(ctx, std::span(&defaults, 1)));
    static std::string first;
    std::string const text =
        best_settings(ctx, t, result, 0, options, rules_, datasets::discretizer_options{}).dump();
    if (threads == 1) first = text;
    EXPECT_EQ(text, first);
  }
}

TEST(Space, WhatFitRecommendsIsAmongTheKinds) {
  search_space s;
  s.kinds = {"rules", "scorecard", "linear"};
  std::set<std::string> all;
  for (candidate const& c : candidates_of(s)) all.insert(to_json(c).dump());
  EXPECT_EQ(all.size(), 648u + 2 * 3 * 3 * 9 + 4);
  EXPECT_EQ(to_json(s)["strength"].back(), "cross-fit");
  l2r::label_counts many;
  many.documents = 1000;
  many.features = 10;
  l2r::recommendation const found = l2r::recommend(many);
  ASSERT_EQ(found.name, "several-labels");
  std::vector<std::string> kinds;
  for (l2r::recipe const& one : found.recipes) {
    auto const json = to_json(candidate_of(one));
    kinds.push_back(json.at("kind"));
    EXPECT_TRUE(all.contains(json.dump())) << json;
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"scorecard", "linear"}));
  // Rules, and given cuts.
  many.features = 10'000;
  auto const cuts = std::make_shared<datasets::discretizer>();
  cuts->options.bins = 7;
  cuts->features.resize(1);
  auto const by = l2r::rules_recipe{{}, cuts, {4, {}, 0, 5, 1}};
  EXPECT_EQ(to_json(candidate_of(by)).dump(),
            R"({"method":"tube","bins":7,"rule_size":4,"min_support":1,"min_confidence":0.001,)"
            R"("support_weight":0.0,"smoothing":5.0,"feature_share":1.0})");
  auto const rules = candidate_of(l2r::recommend(many).recipes.front());
  EXPECT_EQ(to_json(rules)["method"], "frequency");
  EXPECT_EQ(rules.scoring.rule_size, 3u);
}

TEST_F(Tuner, DefaultsOfSeveralMembersAreJudgedAndKeptTogether) {
  // The recommendation of fit, and its model's result on the validation set.
  l2r::recommendation const found = l2r::recommend(l2r::count_labels(train_));
  std::vector<candidate> defaults;
  for (l2r::recipe const& one : found.recipes) defaults.push_back(candidate_of(one));
  ASSERT_EQ(defaults.size(), 2u);
  l2r::scorer const scorer(ctx_, l2r::fit(ctx_, train_, found.recipes));
  std::vector<double> const given =
      eval::evaluate(ctx_, vali_, scorer.score(ctx_, vali_).scores, measures_, rules_).averages();
  std::size_t kept = 0, gained = 0;
  for (double const penalty : {1e4, 1e-3})
    for (std::size_t const folds : {0, 4}) {
      search_space s = search_space_of_kinds();
      s.kinds = {"scorecard"};
      s.points_penalties = {penalty};
      tuner t(ctx_, vali_, candidates_of(s), measures_, rules_, preparing(), {}, {folds, &train_});
      search_result result = t.search(ctx_, 1, {});
      search_result const before = result;
      t.compare(ctx_, 1, defaults, result);
      against_defaults const& of = result.compared.value();
      ASSERT_EQ(of.candidates.size(), 2u);
      EXPECT_EQ(of.values, t.judge(ctx_, of.candidates));
      if (folds == 0) {
        EXPECT_EQ(of.values, given);
      }
      EXPECT_EQ(of.found, before.trials[before.chosen[0]].values);
      EXPECT_EQ(of.kept, of.found[1] <= of.values[1]);
      auto const json =
          best_settings(ctx_, t, result, 1, {}, rules_, datasets::discretizer_options{});
      EXPECT_EQ(json["validation"]["NDCG@5"], std::max(of.found[1], of.values[1]));
      ASSERT_EQ(json["defaults"]["members"].size(), 2u);
      EXPECT_EQ(json["defaults"]["members"][1], to_json(defaults[1]));
      (of.kept ? kept : gained) += 1;
      if (!of.kept) {
        EXPECT_EQ(result.chosen, before.chosen);
        continue;
      }
      // The recommended members, on the last rung.
      EXPECT_EQ(json["queries"], folds == 0 ? 10 : 30);
      expect_kinds(t, result);
      auto const read = settings_from(json.dump(), "s");
      ASSERT_EQ(read.size(), 2u);
      EXPECT_EQ(l2r::to_json(read[0].scorecard.value()), l2r::to_json(*defaults[0].scorecard));
      EXPECT_EQ(read[0].discretizer->bins, 20);
      EXPECT_EQ(l2r::to_json(read[1].linear.value()), l2r::to_json(*defaults[1].linear));
      for (std::size_t const at : result.chosen) EXPECT_EQ(result.trials[at].rung, 2u);
      auto const rows = trials_table(t, result, 1, 3).rows;
      std::set<std::string> first;
      for (std::size_t k = 0; k < 2; ++k) first.insert(std::get<std::string>(rows[k][4]));
      EXPECT_EQ(first, (std::set<std::string>{"linear", "scorecard"}));
    }
  EXPECT_GT(kept, 0u);
  EXPECT_GT(gained, 0u);
}

TEST_F(Tuner, ThreadsDoNotMatterTheSeedDoes) {
  auto const run = [&](int threads, std::uint64_t seed) {
    context ctx;
    ctx.threads = threads;
    ctx.seed = seed;
    tuner t = make(ctx);
    search_options options;
    options.max_trials = 20;
    auto const result = t.search(ctx, 0, options);
    return eval::render(trials_table(t, result, 0, 3), eval::table_format::tsv) + t.state("f");
  };
  std::string const one = run(1, 1);
  EXPECT_EQ(one, run(3, 1));
  EXPECT_NE(one, run(1, 2));
}

TEST_F(Tuner, ProcessesDoNotMatter) {
  search_space several = small_search_space();
  several.kinds = {"rules", "scorecard", "linear"};
  several.losses = {l2r::card_loss::pair};
  several.points_penalties = {0.001};
  several.smoothnesses = {1};
  several.strengths = {1, 100};
  for (std::size_t const folds : {0, 3}) {
    auto const run = [&](context const& ctx) {
      tuner t(ctx, vali_, candidates_of(several), measures_, rules_, preparing(), {},
              {folds, &train_});
      trials_file trials(t, {}, {});
      search_options options;
      options.members = 2;
      search_result const result = trials.search(ctx, 0, options);
      return eval::render(trials_table(t, result, 0, 3), eval::table_format::tsv) + t.state("f");
    };
    std::string const expected = run(ctx_);
    for (int const processes : {2, 3})
      testing_tools::run_processes(processes, [&](process_group const& group) {
        context ctx = ctx_;
        ctx.processes = &group;
        EXPECT_EQ(run(ctx), expected);
      });
  }
}

TEST_F(Tuner, TheFirstProcessHasTheFileAndTheClock) {
  std::string const path = folder_ / "trials";
  tuner whole = make();
  whole.search(ctx_, 0, {});
  tuner begun = make();
  int trials = 0;
  EXPECT_THROW(begun.search(ctx_, 0, {},
                            [&] {
                              if (++trials == 20) throw interrupted();
                            }),
               interrupted);
  write_file(path, begun.state("f"));
  testing_tools::run_processes(3, [&](process_group const& group) {
    context ctx = ctx_;
    ctx.processes = &group;
    tuner t = make(ctx);
    trials_file file(t, group.is_first() ? path : "", "f");
    file.search(ctx, 0, {});
    EXPECT_EQ(file.found(), 20U);
  });
  tuner read = make();
  EXPECT_EQ(read.restore(datasets::read_file(path, "trials"), "f", path), 32U);

  // Two processes; the second one's clock is stopped.
  testing_tools::run_processes(2, [&](process_group const& group) {
    context ctx = ctx_;
    ctx.processes = &group;
    tuner t = make(ctx);
    search_options options;
    options.max_seconds = 30;
    double now = 0;
    options.seconds = [&] { return now; };
    auto const result = t.search(ctx, 0, options, [&] { now += group.is_first() ? 1 : 0; });
    std::vector<std::size_t> tried(3);
    for (trial const& one : result.trials) ++tried[one.rung];
    EXPECT_EQ(tried, (std::vector<std::size_t>{10, 5, 3}));
  });
}

TEST_F(Tuner, ABudgetOfTrialsIsKept) {
  for (std::size_t const budget : {3, 4, 7, 20, 55, 56, 1000}) {
    tuner t = make();
    search_options options;
    options.max_trials = budget;
    search_result const result = t.search(ctx_, 0, options);
    EXPECT_LE(result.trials.size(), budget);
    EXPECT_EQ(result.trials.back().queries, 10u);
    EXPECT_GE(result.tried, 1u);
    if (budget >= 56) {
      EXPECT_EQ(result.tried, 32u);
    }
    // One more candidate would not have fitted.
    if (budget < 56) {
      EXPECT_GT(result.trials.size() + 3, budget);
    }
  }
  search_options options;
  options.max_trials = 2;
  tuner t = make();
  EXPECT_THROW(t.search(ctx_, 0, options), usage_error);
}

TEST_F(Tuner, ABudgetOfSecondsIsSharedByTheRungs) {
  tuner t = make();
  search_options options;
  options.max_seconds = 30;
  double now = 0;
  options.seconds = [&] { return now; };
  search_result const result = t.search(ctx_, 0, options, [&] { now += 1; });
  std::vector<std::size_t> tried(3);
  for (trial const& one : result.trials) ++tried[one.rung];
  EXPECT_EQ(tried, (std::vector<std::size_t>{10, 5, 3}));  // 10 s a rung; half, half of them
  EXPECT_EQ(result.tried, 10u);

  // A trial longer than the budget: still one per rung.
  now = 0;
  tuner slow = make();
  EXPECT_EQ(slow.search(ctx_, 0, options, [&] { now += 100; }).trials.size(), 3u);
}

TEST_F(Tuner, GoesOnFromItsState) {
  tuner whole = make();
  search_result const expected = whole.search(ctx_, 0, {});
  std::string const table =
      eval::render(trials_table(whole, expected, 0, 3), eval::table_format::tsv);

  for (int const stop_after : {1, 20, 40, 50}) {
    tuner first = make();
    int trials = 0;
    EXPECT_THROW(first.search(ctx_, 0, {},
                              [&] {
                                if (++trials == stop_after) throw interrupted();
                              }),
                 interrupted);
    tuner second = make();
    EXPECT_EQ(second.restore(first.state("f"), "f", "state"),
              static_cast<std::size_t>(std::min(stop_after, 32)));
    EXPECT_EQ(second.state("f"), first.state("f"));
    search_result const result = second.search(ctx_, 0, {});
    EXPECT_EQ(eval::render(trials_table(second, result, 0, 3), eval::table_format::tsv), table);
    EXPECT_EQ(second.state("f"), whole.state("f"));
  }
  // All results are present: nothing is repeated.
  tuner again = make();
  again.restore(whole.state("f"), "f", "state");
  prepared_ = 0;
  again.search(ctx_, 0, {});
  EXPECT_EQ(prepared_, 0);
  // Another search_space reuses the common candidates.
  search_space fewer = small_search_space();
  fewer.bins = {3};
  tuner other = make(ctx_, fewer);
  EXPECT_EQ(other.restore(whole.state("f"), "f", "state"), 16u);
}

TEST_F(Tuner, RefusesAnotherState) {
  tuner t = make();
  search_options options;
  options.max_trials = 3;
  t.search(ctx_, 0, options);
  std::string const good = t.state("f");
  tuner other = make();
  EXPECT_THROW(other.restore(good, "g", "state"), error);
  EXPECT_THROW(other.restore("", "f", "state"), error);
  EXPECT_THROW(other.restore("{}", "f", "state"), error);
  EXPECT_THROW(other.restore("[1]", "f", "state"), error);
  EXPECT_THROW(other.restore(good.substr(0, good.size() / 2), "f", "state"), error);
  std::string deep = good;
  deep.replace(
      deep.find("\"candidate\":{"), 12,
      "\"candidate\":" + std::string(100'000, '[') + std::string(100'000, ']') + ",\"x\":");
  EXPECT_THROW(other.restore(deep, "f", "state"), error);
  std::string odd = good;
  odd.insert(odd.find("\"values\":[") + 10, "0.5,");
  EXPECT_THROW(other.restore(odd, "f", "state"), error);
}

TEST_F(Tuner, RefusesWhatMakesNoSense) {
  EXPECT_THROW(tuner(ctx_, vali_, {}, measures_, rules_, preparing()), usage_error);
  EXPECT_THROW(tuner(ctx_, vali_, candidates_of(small_search_space()), {}, rules_, preparing()),
               usage_error);
  tuner t = make();
  EXPECT_THROW(t.search(ctx_, 2, {}), usage_error);
  search_options options;
  options.rungs = 0;
  EXPECT_THROW(t.search(ctx_, 0, options), usage_error);
  options = {};
  options.keep = 1;
  EXPECT_THROW(t.search(ctx_, 0, options), usage_error);
  vali_.labels[5] = datasets::unlabelled;
  EXPECT_THROW(make(), error);
}

TEST_F(Tuner, OneQueryOneCandidate) {
  vali_ = drawn_set(folder_, "one", 3, 1, 4);
  search_space s;
  s.methods = {datasets::binning::width};
  s.bins = {4};
  s.rule_sizes = {3};
  s.min_supports = {1};
  s.min_confidences = {0.001};
  s.support_weights = {0};
  s.smoothings = {0};
  tuner t = make(ctx_, s);
  search_result const result = t.search(ctx_, 0, {});
  EXPECT_EQ(result.trials.size(), 3u);
  for (trial const& one : result.trials) EXPECT_EQ(one.queries, 1u);
  EXPECT_EQ(result.trials[result.chosen.front()].values, reference(t.candidates()[0]));
}

TEST_F(Tuner, StopsWhenTold) {
  std::stop_source stop;
  context ctx;
  ctx.stop = stop.get_token();
  tuner t = make();
  stop.request_stop();
  EXPECT_THROW(t.search(ctx, 0, {}), interrupted);
}

TEST_F(Tuner, TheTableBeginsWithWhatIsChosen) {
  tuner t = make();
  search_result const result = t.search(ctx_, 0, {});
  eval::table const table = trials_table(t, result, 0, 3);
  EXPECT_EQ(table.rows.size(), 32u);  // a row per candidate
  trial const& best = result.trials[result.chosen.front()];
  EXPECT_EQ(std::get<double>(table.rows[0][2]), best.values[0]);
  auto const json = best_settings(ctx_, t, result, 0, {}, rules_, datasets::discretizer_options{});
  settings_file const read = settings_from(json.dump(), "best").at(0);
  candidate const& chosen = t.candidates()[best.candidate];
  ASSERT_TRUE(read.discretizer);
  EXPECT_EQ((cuts{read.discretizer->method, read.discretizer->bins, {}}), chosen.cuts);
  EXPECT_EQ(read.scoring.rule_size, chosen.scoring.rule_size);
  EXPECT_EQ(read.scoring.support_weight, chosen.scoring.support_weight);
  EXPECT_EQ(read.scoring.smoothing, chosen.scoring.smoothing);
  EXPECT_EQ(json["validation"]["MAP"], best.values[0]);
  EXPECT_FALSE(settings_from(best_settings(ctx_, t, result, 0, {}, rules_, {}).dump(), "b")
                   .at(0)
                   .discretizer);
}

settings_file some_settings() {
  settings_file s;
  s.discretizer.emplace();
  s.discretizer->bins = 0;
  s.discretizer->norm = datasets::normalization::query_zscore;
  s.scoring = {4, {2, 0.1}, -0.3, 7.5, 0.25};
  return s;
}

TEST(SettingsFile, KindsOfMembers) {
  settings_file const s = some_settings();
  settings_file card, linear;
  card.discretizer = s.discretizer;
  card.scorecard = {l2r::card_loss::list, .5, 2};
  linear.linear = {0, 7, datasets::missing_values::none, datasets::unlisted_values::missing};
  auto const kinds = to_json({s, card, linear});
  auto const found = settings_from(kinds.dump(), "s");
  EXPECT_EQ(to_json(found), kinds);
  EXPECT_FALSE(found.at(0).scorecard || found[0].linear || found[1].linear || found[2].scorecard);
  EXPECT_EQ(found.at(1).scorecard.value().smoothness, 2);
  EXPECT_EQ(found.at(2).linear.value().folds, 7u);
  EXPECT_FALSE(to_json({s}).contains("kind"));
  EXPECT_EQ(to_json(settings_from(to_json({card}).dump(), "s")), to_json({card}));
  for (auto const& [key, value] : {std::pair{"kind", "points"}, {"loss", "pairs"}}) {
    auto wrong = to_json({card});
    wrong[key] = value;
    EXPECT_THROW(settings_from(wrong.dump(), "s"), error) << key;
  }
}

TEST(SettingsFile, OfRecipes) {
  auto const cuts = std::make_shared<datasets::discretizer const>();
  l2r::rules_recipe rules;
  rules.scoring.rule_size = 5;
  rules.discretizer.bins = 7;
  EXPECT_EQ(settings_of(rules).scoring.rule_size, 5u);
  EXPECT_EQ(settings_of(rules).discretizer.value().bins, 7);
  rules.cuts = cuts;
  EXPECT_FALSE(settings_of(rules).discretizer);
  EXPECT_EQ(settings_of(l2r::linear_recipe{{7}}).linear.value().strength, 7);
  EXPECT_EQ(settings_of(l2r::joint_recipe{{}, cuts, {9, 4}}).joint.value().max_pairs, 9u);
  EXPECT_FALSE(settings_of(l2r::scorecard_recipe{}).scorecard.value().page);
  EXPECT_TRUE(settings_of(l2r::card_recipe()).scorecard.value().page);
}

TEST(SettingsFile, CardsAndJointMembers) {
  settings_file card, joint;
  l2r::scorecard_recipe const page = l2r::card_recipe();
  card.discretizer = page.discretizer;
  card.scorecard = page.options;
  joint.discretizer = l2r::joint_recipe{}.discretizer;
  joint.joint = {7, 3};
  auto const kinds = to_json({card, joint});
  EXPECT_EQ(kinds["members"][0]["kind"], "card");
  EXPECT_EQ(kinds["members"][0]["loss"], "auto");
  EXPECT_EQ(kinds["members"][0]["smoothness"], "cross-fit");
  EXPECT_EQ(kinds["members"][1]["kind"], "joint");
  auto const found = settings_from(kinds.dump(), "s");
  EXPECT_EQ(to_json(found), kinds);
  l2r::scorecard_options const read = found.at(0).scorecard.value();
  EXPECT_EQ(read.page.value().max_features, page.options.page->max_features);
  EXPECT_EQ(read.points_penalty, page.options.points_penalty);
  EXPECT_TRUE(read.cross_fit && read.page->choose_loss);
  EXPECT_EQ(found.at(1).joint.value().max_pairs, 7u);
  card.scorecard->cross_fit = card.scorecard->page->choose_loss = false;
  card.scorecard->loss = l2r::card_loss::point;
  card.scorecard->smoothness = 3;
  EXPECT_EQ(to_json(settings_from(to_json({card}).dump(), "s")), to_json({card}));
  for (auto const& [key, value] : {std::pair<char const*, nlohmann::ordered_json>{"loss", "pairs"},
                                   {"smoothness", "some"},
                                   {"smoothness", -1},
                                   {"max_features", 0},
                                   {"max_points", 10001},
                                   {"target", "people"}}) {
    auto wrong = to_json({card});
    wrong[key] = value;
    EXPECT_THROW(settings_from(wrong.dump(), "s"), error) << key;
  }
  auto wrong = to_json({joint});
  wrong["max_pairs"] = 1001;
  EXPECT_THROW(settings_from(wrong.dump(), "s"), error);
}

TEST(SettingsFile, RoundTripAndRefusal) {
  settings_file const s = some_settings();
  auto const json = to_json({s});
  auto const back = settings_from(json.dump(), "s");
  EXPECT_EQ(to_json(back), json);
  EXPECT_EQ(back.at(0).scoring.feature_share, 0.25);
  // Several combined members; and a file older than feature shares.
  settings_file other;
  other.scoring.rule_size = 5;
  auto const both = to_json({s, other});
  auto const members = settings_from(both.dump(), "s");
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(to_json(members), both);
  EXPECT_FALSE(members[1].discretizer);
  EXPECT_EQ(members[1].scoring.rule_size, 5u);
  auto older = json;
  older.erase("feature_share");
  EXPECT_EQ(settings_from(older.dump(), "s").at(0).scoring.feature_share, 1);
  EXPECT_THROW(settings_from(R"({"rulerank_settings":1,"members":[]})", "s"), error);
  EXPECT_THROW(settings_from(R"({"rulerank_settings":1,"members":[{}]})", "s"), error);
  EXPECT_EQ(json["discretizer"]["bins"], "cv");
  // The key's older spelling.
  older = json;
  older["discretiser"] = older["discretizer"];
  older.erase("discretizer");
  EXPECT_EQ(to_json(settings_from(older.dump(), "s")), json);
  auto const refused = [&](auto change) {
    auto wrong = json;
    change(wrong);
    EXPECT_THROW(settings_from(wrong.dump(), "s"), error) << wrong;
  };
  refused([](auto& j) { j["rulerank_settings"] = 2; });
  refused([](auto& j) { j.erase("rulerank_settings"); });
  refused([](auto& j) { j.erase("smoothing"); });
  refused([](auto& j) { j["rule_size"] = 1; });
  refused([](auto& j) { j["feature_share"] = 0; });
  refused([](auto& j) { j["discretizer"]["bins"] = 1; });
  refused([](auto& j) { j["discretizer"]["bins"] = 10.5; });
  refused([](auto& j) { j["discretizer"]["method"] = "best"; });
  refused([](auto& j) { j["min_confidence"] = "x"; });
  // Numbers that a conversion would truncate or wrap.
  refused([](auto& j) { j["rule_size"] = 3.9; });
  refused([](auto& j) { j["rule_size"] = 4294967299; });
  refused([](auto& j) { j["min_support"] = -1; });
  refused([](auto& j) { j["min_support"] = true; });
  refused([](auto& j) { j["rulerank_settings"] = 1.5; });
  EXPECT_THROW(settings_from("", "s"), error);
  EXPECT_THROW(settings_from("[]", "s"), error);
  EXPECT_THROW(read_settings("/nowhere/s.json"), error);
  std::string const deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THROW(settings_from("{\"rulerank_settings\":" + deep + "}", "s"), error);
  EXPECT_THROW(
      settings_from(R"({"rulerank_settings":1,"members":[{"discretizer":)" + deep + "}]}", "s"),
      error);
}

}  // namespace
}  // namespace rulerank::tuning::tuning_test
