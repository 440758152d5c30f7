#include "learners/second_stage.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"
#include "learners/disagreement.hpp"
#include "learners/learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

namespace rulerank::inline v0::learners::second_stage_test {
namespace {

using rulerank::testing_tools::message_of;

context with_threads(int n) {
  context ctx;
  ctx.threads = n;
  return ctx;
}

struct set {
  datasets::dataset data;
  datasets::binned_dataset items;
  documents view() const { return {data, items}; }
};

set made(std::string const& text) {
  context const ctx = with_threads(1);
  set s;
  s.data = datasets::parse_svmlight(ctx, text, "drawn");
  s.items = datasets::apply_discretizer(
      ctx, s.data,
      datasets::fit_discretizer(ctx, s.data, {.method = datasets::binning::width, .bins = 6}));
  return s;
}

/// Up to `most` documents per query. The label depends on features 1 and 2; feature 3 is noise of a
/// much larger scale. Some values are unlisted, some missing.
set drawn(std::uint64_t seed, std::size_t queries, std::size_t most, double gaps = 0) {
  random_engine engine(seed);
  std::string text;
  for (std::size_t q = 0; q < queries; ++q)
    for (std::size_t d = 0, n = 1 + uniform_below(engine, most); d < n; ++d) {
      double const x = uniform_unit(engine), y = uniform_unit(engine);
      text += fmt::format("{} qid:{}", x + y > 1.2 ? 2 : x + y > 0.8 ? 1 : 0, q);
      for (auto const& [f, value] : {std::pair{1, x}, {2, y}, {3, 1e6 * uniform_unit(engine)}}) {
        double const kind = uniform_unit(engine);
        if (kind < gaps / 2) continue;
        text += kind < gaps ? fmt::format(" {}:nan", f) : fmt::format(" {}:{}", f, value);
      }
      text += '\n';
    }
  return made(text);
}

std::vector<std::size_t> every(std::size_t step, std::size_t n) {
  std::vector<std::size_t> documents;
  for (std::size_t d = 0; d < n; d += step) documents.push_back(d);
  return documents;
}

// Disagreement

std::vector<std::uint64_t> of(std::vector<std::vector<double>> const& scores) {
  std::vector<std::span<double const>> views(scores.begin(), scores.end());
  return disagreements(views);
}

TEST(disagreements, of_orders_worked_by_hand) {
  // The second member ranks the first document last: it disagrees with the other two, and they with
  // it.
  EXPECT_EQ(of({{3, 2, 1}, {1, 3, 2}}), (std::vector<std::uint64_t>{2, 1, 1}));
  EXPECT_EQ(of({{3, 2, 1}, {1, 2, 3}}), (std::vector<std::uint64_t>{2, 2, 2}));
  EXPECT_EQ(of({{3, 2, 1}, {30, 20, 10}}), (std::vector<std::uint64_t>{0, 0, 0}));
  // A member with equal scores does not count for the order.
  EXPECT_EQ(of({{3, 2, 1}, {0, 0, 0}}), (std::vector<std::uint64_t>{0, 0, 0}));
  EXPECT_EQ(of({{2, 1, 1}, {1, 1, 2}}), (std::vector<std::uint64_t>{1, 0, 1}));
  // Two against one: two pairs of members differ.
  EXPECT_EQ(of({{1, 0}, {1, 0}, {0, 1}}), (std::vector<std::uint64_t>{2, 2}));
  EXPECT_EQ(of({{1}, {2}}), (std::vector<std::uint64_t>{0}));
  EXPECT_TRUE(of({{}, {}}).empty());
  EXPECT_EQ(of({{1, 2}}), (std::vector<std::uint64_t>{0, 0}));
}

TEST(disagreements, equal_a_count_of_all_pairs) {
  random_engine engine(5);
  for (int round = 0; round < 200; ++round) {
    std::size_t const n = uniform_below(engine, 40), members = 1 + uniform_below(engine, 4);
    std::uint64_t const values = 1 + uniform_below(engine, 50);  // few: ties
    std::vector<std::vector<double>> scores(members, std::vector<double>(n));
    for (auto& s : scores)
      for (double& x : s) x = static_cast<double>(uniform_below(engine, values)) - 7.5;
    std::vector<std::uint64_t> want(n);
    for (std::size_t d = 0; d < n; ++d)
      for (std::size_t e = 0; e < n; ++e) {
        std::uint64_t above = 0, below = 0;
        for (auto const& s : scores) {
          above += static_cast<std::uint64_t>(s[d] > s[e]);
          below += static_cast<std::uint64_t>(s[d] < s[e]);
        }
        want[d] += above * below;
      }
    ASSERT_EQ(of(scores), want);
  }
}

TEST(margins, of_scores_worked_by_hand) {
  std::vector<double> const scores{0.5, 0.1, 0.75, 0.5, 2};
  EXPECT_EQ(margins(scores), (std::vector<double>{0, 0.4, 0.25, 0, 1.25}));
  EXPECT_EQ(margins(std::vector<double>{1}),
            std::vector<double>{std::numeric_limits<double>::infinity()});
  EXPECT_TRUE(margins({}).empty());
}

// Members

class each_learner : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<learner> make() const { return make_learner(GetParam(), {}); }
  void SetUp() override {
    for (learner_info const& l : learners())
      if (l.name == GetParam() && !l.available) {
        EXPECT_THROW(make(), usage_error);
        GTEST_SKIP() << "needs a build with " << l.library;
      }
  }
};

/// The share of pairs with different labels that are ordered correctly.
double right(set const& s, std::vector<double> const& scores) {
  double good = 0, all = 0;
  for (auto const& q : s.data.queries)
    for (std::size_t a = q.begin; a < q.end; ++a)
      for (std::size_t b = q.begin; b < q.end; ++b)
        if (s.data.labels[a] > s.data.labels[b]) {
          ++all;
          good += scores[a] > scores[b] ? 1 : scores[a] == scores[b] ? 0.5 : 0;
        }
  return good / all;
}

TEST_P(each_learner, orders_what_can_be_told_apart) {
  set const train = drawn(1, 40, 20), test = drawn(2, 30, 20);
  context const ctx = with_threads(1);
  auto const member = make();
  std::vector<std::size_t> const known = every(2, train.data.size());
  member->fit(ctx, train.view(), {known, train.data.labels});
  set shared = test;  // with the training set's cuts
  shared.items = datasets::apply_discretizer(
      ctx, test.data,
      datasets::fit_discretizer(ctx, train.data, {.method = datasets::binning::width, .bins = 6}));
  std::vector<double> const scores = member->score(ctx, shared.view());
  ASSERT_EQ(scores.size(), test.data.size());
  EXPECT_GT(right(test, scores), 0.93);
  // A second fit discards the first: with reversed labels the order reverses.
  std::vector<std::int32_t> turned = train.data.labels;
  for (std::int32_t& label : turned) label = 2 - label;
  member->fit(ctx, train.view(), {known, turned});
  EXPECT_LT(right(test, member->score(ctx, shared.view())), 0.07);
}

TEST_P(each_learner, has_the_same_bits_for_any_number_of_threads) {
  set const s = drawn(3, 40, 30, 0.2);
  std::vector<std::size_t> const known = every(3, s.data.size());
  std::vector<double> want;
  int const before = omp_get_max_threads();
  for (int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);  // libraries may ask
    context const ctx = with_threads(threads);
    auto const member = make();
    member->fit(ctx, s.view(), {known, s.data.labels});
    std::vector<double> const scores = member->score(ctx, s.view());
    if (want.empty()) want = scores;
    EXPECT_EQ(scores, want) << threads << " threads";
  }
  omp_set_num_threads(before);
  EXPECT_GT(std::set<double>(want.begin(), want.end()).size(), 10U);
}

TEST_P(each_learner, depends_on_the_labels_given_alone) {
  set const s = drawn(4, 20, 20);
  std::vector<std::size_t> const known = every(3, s.data.size());
  std::vector<std::int32_t> others(s.data.size(), datasets::unlabelled);
  for (std::size_t d : known) others[d] = s.data.labels[d];
  set blind = s;
  blind.data.labels = others;
  blind.items.labels = others;
  context const ctx = with_threads(1);
  auto const seeing = make(), not_seeing = make();
  seeing->fit(ctx, s.view(), {known, s.data.labels});
  not_seeing->fit(ctx, blind.view(), {known, others});
  EXPECT_EQ(seeing->score(ctx, s.view()), not_seeing->score(ctx, blind.view()));
}

TEST_P(each_learner, takes_few_documents_and_odd_values) {
  context const ctx = with_threads(1);
  set const s =
      made("1 qid:a 1:2 2:0 7:1e308\n0 qid:a 1:1 2:0 7:-1e308\n0 qid:b 1:3 2:nan\n2 qid:c 2:0\n");
  auto const member = make();
  for (std::vector<std::size_t> const& known :
       {std::vector<std::size_t>{0, 1}, {0, 1, 2, 3}, {0}, {1, 2, 3}}) {
    member->fit(ctx, s.view(), {known, s.data.labels});
    std::vector<double> const scores = member->score(ctx, s.view());
    ASSERT_EQ(scores.size(), 4U);
    for (double x : scores) EXPECT_TRUE(std::isfinite(x));
    // Without a known pair, learners from pairs give all documents equal scores.
    bool const pairs = known.size() == 2 || known.size() == 4;
    if (!pairs && GetParam() != "rules") {
      EXPECT_EQ(std::set<double>(scores.begin(), scores.end()), std::set<double>{scores[0]});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(of, each_learner, testing::Values("rules", "ranksvm", "xgboost"),
                         [](auto const& named) { return named.param; });

TEST(ranksvm, learns_from_one_pair_and_from_a_part_of_the_pairs) {
  if (!learners()[1].available) GTEST_SKIP() << "needs a build with liblinear";
  context const ctx = with_threads(1);
  set const two = made("0 qid:a 1:1\n1 qid:a 1:2\n0 qid:b 1:9\n");
  auto const member = make_ranksvm({});
  std::vector<std::size_t> const known{0, 1};
  member->fit(ctx, two.view(), {known, two.data.labels});
  std::vector<double> const scores = member->score(ctx, two.view());
  EXPECT_GT(scores[1], scores[0]);
  EXPECT_GT(scores[2], scores[1]);

  set const s = drawn(7, 30, 30);
  auto const few = make_ranksvm({.c = 1, .max_pairs = 50});
  few->fit(ctx, s.view(), {every(1, s.data.size()), s.data.labels});
  EXPECT_GT(right(s, few->score(ctx, s.view())), 0.9);
}

TEST(learners, names_and_options_that_are_wrong) {
  EXPECT_EQ(message_of<usage_error>([] { make_learner("rankboost", {}); }),
            "committee: found 'rankboost', expected one of rules, ranksvm, xgboost");
  EXPECT_THROW(make_ranksvm({.c = 0}), usage_error);
  EXPECT_THROW(make_ranksvm({.c = 1, .max_pairs = 0}), usage_error);
  EXPECT_THROW(make_boosted({.trees = 0}), usage_error);
  EXPECT_THROW(make_learner("", {}), usage_error);
}

// Rounds

members fixed(std::vector<std::vector<double>> scores) {
  members who;
  who.fixed = std::move(scores);
  return who;
}

/// All learners of this build, and one with fixed scores.
members everybody(set const& s) {
  members who;
  for (learner_info const& l : learners())
    if (l.available) who.learners.push_back(make_learner(l.name, {}));
  std::vector<double> outside;
  for (std::size_t d = 0; d < s.data.size(); ++d)
    outside.push_back(std::cos(static_cast<double>(d)));
  who.fixed.push_back(outside);
  return who;
}

std::vector<std::size_t> documents_of(std::vector<pick> const& picks) {
  std::vector<std::size_t> documents;
  for (pick const& p : picks) documents.push_back(p.document);
  return documents;
}

void answer_as(second_stage& stage, context const& ctx, set const& s) {
  std::vector<std::int32_t> said;
  for (pick const& p : stage.select(ctx)) said.push_back(s.data.labels[p.document]);
  stage.answer(said);
}

TEST(second_stage, picks_worked_by_hand) {
  // Two queries of four documents. In the first the members disagree about document 0, in the
  // second about document 7.
  set const s = made(
      "0 qid:a 1:0\n1 qid:a 1:1\n0 qid:a 1:2\n1 qid:a 1:3\n"
      "0 qid:b 1:4\n1 qid:b 1:5\n0 qid:b 1:6\n1 qid:b 1:7\n");
  std::vector<std::vector<double>> const scores{{4, 3, 2, 1, 4, 3, 2, 1}, {1, 4, 3, 2, 3, 2, 1, 4}};
  context const ctx = with_threads(1);
  std::vector<std::size_t> const start{3};
  {
    second_stage stage(s.view(), start, s.data.labels, fixed(scores),
                       {.rounds = 2, .per_query = 2});
    // Each query's first, then each query's second; ties in disagreement by document number.
    EXPECT_EQ(stage.select(ctx), (std::vector<pick>{{0, 1, 3}, {7, 1, 3}, {1, 1, 1}, {4, 1, 1}}));
    EXPECT_EQ(stage.select(ctx).size(), 4U);  // unchanged
    answer_as(stage, ctx, s);
    EXPECT_EQ(stage.labelled_documents(), (std::vector<std::size_t>{0, 1, 3, 4, 7}));
    EXPECT_EQ(documents_of(stage.select(ctx)), (std::vector<std::size_t>{2, 5, 6}));
    answer_as(stage, ctx, s);
    EXPECT_TRUE(stage.select(ctx).empty());
    EXPECT_EQ(stage.rounds_done(), 2U);
    EXPECT_EQ(stage.picks().size(), 7U);
  }
  {  // the budget includes the initial documents
    second_stage stage(s.view(), start, s.data.labels, fixed(scores),
                       {.per_query = 2, .max_documents = 4});
    EXPECT_EQ(documents_of(stage.select(ctx)), (std::vector<std::size_t>{0, 7, 1}));
    answer_as(stage, ctx, s);
    EXPECT_TRUE(stage.select(ctx).empty());
  }
  {  // left out from the start, or when selected: the next one replaces it
    std::vector<std::size_t> const out{0};
    second_stage stage(s.view(), start, s.data.labels, fixed(scores), {.per_query = 1}, out);
    EXPECT_EQ(documents_of(stage.select(ctx)), (std::vector<std::size_t>{1, 7}));
    stage.leave_out(7);
    EXPECT_EQ(documents_of(stage.select(ctx)), (std::vector<std::size_t>{1, 4}));
    EXPECT_THROW(stage.leave_out(7), usage_error);
    EXPECT_THROW(stage.leave_out(3), usage_error);
    stage.answer(std::vector<std::int32_t>{5, 0});
    EXPECT_EQ(stage.labelled_documents(), (std::vector<std::size_t>{1, 3, 4}));
    EXPECT_EQ(stage.labels()[1], 5);
    EXPECT_EQ(documents_of(stage.select(ctx)), (std::vector<std::size_t>{2, 5}));
    EXPECT_EQ(stage.picks(), (std::vector<pick>{{1, 1, 1}, {4, 1, 1}}));
    for (std::size_t d : {2, 5, 6}) stage.leave_out(d);  // all remaining ones
    EXPECT_TRUE(stage.select(ctx).empty());
  }
}

class each_strategy : public testing::TestWithParam<strategy> {};

TEST_P(each_strategy, takes_each_document_once_until_none_is_left) {
  set const s = drawn(11, 15, 12);
  context const ctx = with_threads(1);
  std::vector<std::size_t> const start = every(7, s.data.size());
  round_options const options{.by = GetParam(), .rounds = 100, .per_query = 2};
  second_stage stage(s.view(), start, s.data.labels, everybody(s), options);
  std::set<std::size_t> seen(start.begin(), start.end());
  while (!stage.select(ctx).empty()) {
    std::map<std::string, std::size_t> of_query;
    std::size_t query_at = 0;
    for (pick const& p : stage.select(ctx)) {
      EXPECT_TRUE(seen.insert(p.document).second);
      EXPECT_EQ(p.round, stage.rounds_done() + 1);
      auto const q = std::find_if(s.data.queries.begin(), s.data.queries.end(),
                                  [&](auto const& g) { return p.document < g.end; });
      EXPECT_LE(++of_query[q->qid], 2U);
      ++query_at;
    }
    EXPECT_LE(query_at, 30U);
    answer_as(stage, ctx, s);
  }
  EXPECT_EQ(seen.size(), s.data.size());
  EXPECT_EQ(stage.labelled_documents().size(), s.data.size());
  EXPECT_LT(stage.rounds_done(), 10U);
}

TEST_P(each_strategy, picks_the_same_for_any_number_of_threads) {
  set const s = drawn(12, 30, 15, 0.1);
  std::vector<std::size_t> const start = every(9, s.data.size());
  std::vector<pick> want;
  for (int threads : {1, 2, 5}) {
    context const ctx = with_threads(threads);
    second_stage stage(s.view(), start, s.data.labels, everybody(s),
                       {.by = GetParam(), .rounds = 3, .per_query = 2});
    while (!stage.select(ctx).empty()) answer_as(stage, ctx, s);
    EXPECT_EQ(stage.rounds_done(), 3U);
    if (want.empty()) want = stage.picks();
    EXPECT_EQ(stage.picks(), want) << threads << " threads";
  }
}

TEST_P(each_strategy, leaving_a_later_pick_out_changes_nothing_before_it) {
  set const s = drawn(13, 12, 15);
  context const ctx = with_threads(1);
  std::vector<std::size_t> const start = every(8, s.data.size());
  round_options const options{.by = GetParam(), .rounds = 3, .per_query = 2};
  second_stage first(s.view(), start, s.data.labels, everybody(s), options);
  while (!first.select(ctx).empty()) answer_as(first, ctx, s);
  pick const out = *std::find_if(first.picks().begin(), first.picks().end(),
                                 [](pick const& p) { return p.round == 3; });
  std::vector<std::size_t> const left_out{out.document};
  second_stage again(s.view(), start, s.data.labels, everybody(s), options, left_out);
  while (!again.select(ctx).empty()) answer_as(again, ctx, s);
  auto const before = [](std::vector<pick> picks) {
    std::erase_if(picks, [](pick const& p) { return p.round == 3; });
    return picks;
  };
  EXPECT_EQ(before(again.picks()), before(first.picks()));
  second_stage late(s.view(), start, s.data.labels, everybody(s), options);
  while (!late.select(ctx).empty()) {
    if (late.rounds_done() == 2) late.leave_out(out.document);
    answer_as(late, ctx, s);
  }
  EXPECT_EQ(late.picks(), again.picks());
  for (pick const& p : again.picks()) EXPECT_NE(p.document, out.document);
}

INSTANTIATE_TEST_SUITE_P(of, each_strategy,
                         testing::Values(strategy::committee, strategy::margin, strategy::random),
                         [](auto const& named) { return std::string(name_of(named.param)); });

TEST(second_stage, draws_by_the_seed) {
  set const s = drawn(14, 20, 20);
  std::vector<std::size_t> const start{0};
  auto const drawn_with = [&](std::uint64_t seed) {
    context ctx = with_threads(1);
    ctx.seed = seed;
    second_stage stage(s.view(), start, s.data.labels, {}, {.by = strategy::random});
    return documents_of(stage.select(ctx));
  };
  EXPECT_EQ(drawn_with(1), drawn_with(1));
  EXPECT_NE(drawn_with(1), drawn_with(2));
}

TEST(second_stage, a_stop_request_ends_it) {
  set const s = drawn(15, 5, 10);
  std::vector<std::size_t> const start{0, 1, 2};
  std::stop_source source;
  context ctx = with_threads(1);
  ctx.stop = source.get_token();
  second_stage stage(s.view(), start, s.data.labels, everybody(s), {});
  source.request_stop();
  EXPECT_THROW(stage.select(ctx), interrupted);
}

TEST(second_stage, what_makes_no_sense) {
  set const s = drawn(16, 3, 5);
  std::size_t const n = s.data.size();
  std::vector<double> const scores(n);
  std::vector<std::size_t> const start{0}, none;
  std::vector<std::int32_t> const unknown(n, datasets::unlabelled), few(n - 1);
  auto const make = [&](members who, std::span<std::size_t const> chosen,
                        std::span<std::int32_t const> labels, round_options const& options) {
    second_stage stage(s.view(), chosen, labels, std::move(who), options);
  };
  auto const& labels = s.data.labels;
  EXPECT_NO_THROW(make(fixed({scores, scores}), start, labels, {}));
  EXPECT_THROW(make(fixed({scores}), start, labels, {}), usage_error);
  EXPECT_THROW(make(fixed({scores, {1.0}}), start, labels, {}), usage_error);
  EXPECT_THROW(make(fixed({scores, scores}), none, labels, {}), usage_error);
  EXPECT_THROW(make(fixed({scores, scores}), start, unknown, {}), usage_error);
  EXPECT_THROW(make(fixed({scores, scores}), start, few, {}), usage_error);
  EXPECT_THROW(make(fixed({scores, scores}), start, labels, {.per_query = 0}), usage_error);
  EXPECT_THROW(make(fixed({scores, scores}), start, labels, {.by = strategy::margin}), usage_error);
  EXPECT_THROW(strategy_from("entropy"), usage_error);

  second_stage stage(s.view(), start, labels, fixed({scores, scores}), {.per_query = 1});
  std::size_t const picked = stage.select(with_threads(1)).size();
  EXPECT_THROW(stage.answer(std::vector<std::int32_t>(picked + 1)), usage_error);
  EXPECT_THROW(stage.answer(std::vector<std::int32_t>(picked, -1)), usage_error);
}

}  // namespace
}  // namespace rulerank::learners::second_stage_test
