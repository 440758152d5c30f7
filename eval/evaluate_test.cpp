#include "eval/evaluate.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"

#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::eval::evaluate_test {
namespace {

using rulerank::testing_tools::message_of;

datasets::dataset three_queries() {
  return datasets::parse_svmlight(context{},
                                  "2 qid:a 1:0.5 2:1 # docid = x\n"
                                  "0 qid:a 1:0.9 # docid = y\n"
                                  "0 qid:b 1:0.1 3:7\n"
                                  "1 qid:c 1:0.3 2:NULL\n"
                                  "1 qid:c 1:0.2 2:-4\n"
                                  "0 qid:c 1:0.2\n",
                                  "test.txt");
}

TEST(evaluate, gives_each_query_each_measure) {
  datasets::dataset const test = three_queries();
  query_values const found = evaluate(context{}, test, std::vector<double>{1, 2, 5, 3, 1, 1},
                                      parse_measures("MAP,P@1"), make_profile("letor"));
  EXPECT_EQ(found.qids, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(found.column(0), (std::vector<double>{0.5, 0, 1}));
  EXPECT_EQ(found.column(1), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(found.averages(), (std::vector<double>{0.5, 1.0 / 3}));
  EXPECT_EQ(found.at(2, 0), 1);
}

TEST(evaluate, of_no_queries_at_all) {
  query_values const found =
      evaluate(context{}, labelled_queries{}, {}, parse_measures("MAP"), make_profile("letor"));
  EXPECT_EQ(found.size(), 0U);
  EXPECT_EQ(found.averages(), std::vector<double>{0.0});
}

TEST(evaluate, is_the_same_for_any_number_of_threads) {
  random_engine engine(3);
  std::vector<std::int32_t> labels;
  std::vector<double> scores;
  std::vector<datasets::query_group> queries;
  for (int q = 0; q < 2600; ++q) {  // documents for three threads
    std::size_t const begin = labels.size();
    for (std::size_t d = uniform_below(engine, 40); d > 0; --d) {
      labels.push_back(static_cast<std::int32_t>(uniform_below(engine, 5)));
      scores.push_back(static_cast<double>(uniform_below(engine, 10)));
    }
    queries.push_back({std::to_string(q), begin, labels.size()});
  }
  profile p = make_profile("standard");
  p.ties = tie_rule::average;
  std::vector<measure> const measures = parse_measures("NDCG@10,MAP,ERR,bpref,MeanNDCG,tau");
  std::vector<double> first;
  for (int threads : {1, 2, 5}) {
    context ctx;
    ctx.threads = threads;
    query_values const found =
        evaluate(ctx, labelled_queries{labels, queries, {}}, scores, measures, p);
    if (first.empty()) first = found.values;
    EXPECT_EQ(found.values, first) << threads;
  }
}

TEST(evaluate, wakes_no_threads_for_little_work) {
  std::vector<std::int32_t> const labels(30000);
  std::vector<double> const scores(labels.size());
  std::vector<datasets::query_group> queries;
  for (std::size_t q = 0; q < 300; ++q)
    queries.push_back({std::to_string(q), 100 * q, 100 * (q + 1)});
  context ctx;
  ctx.threads = 4;
  EXPECT_EQ(testing_tools::threads_woken_by([&] {
              evaluate(ctx, labelled_queries{labels, queries, {}}, scores, parse_measures("MAP"),
                       make_profile("letor"));
            }),
            0);
}

TEST(evaluate, refuses_what_does_not_fit) {
  datasets::dataset const test = three_queries();
  std::vector<measure> const measures = parse_measures("MAP");
  profile const p = make_profile("letor");
  EXPECT_THROW(evaluate(context{}, test, std::vector<double>(5), measures, p), usage_error);
  EXPECT_THROW(evaluate(context{}, test, std::vector<double>(7), measures, p), usage_error);
  std::vector<double> nan(6);
  nan[2] = std::nan("");
  EXPECT_THROW(evaluate(context{}, test, nan, measures, p), error);
  labelled_queries const without_ids{test.labels, test.queries, {}};
  EXPECT_THROW(
      evaluate(context{}, without_ids, std::vector<double>(6), measures, make_profile("trec")),
      usage_error);
}

TEST(evaluate, breaks_ties_by_docid) {
  datasets::dataset const test = three_queries();
  query_values const found = evaluate(context{}, test, std::vector<double>(6),
                                      parse_measures("MRR"), make_profile("trec"));
  EXPECT_EQ(found.at(0, 0), 0.5);  // y before x
}

TEST(evaluate, stops_on_request) {
  std::stop_source stop;
  context ctx;
  ctx.stop = stop.get_token();
  stop.request_stop();
  EXPECT_THROW(evaluate(ctx, three_queries(), std::vector<double>(6), parse_measures("MAP"),
                        make_profile("letor")),
               interrupted);
}

TEST(feature_scores, rank_the_highest_value_first) {
  datasets::dataset const test = three_queries();
  double const last = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(feature_scores(test, 1), (std::vector<double>{0.5, 0.9, 0.1, 0.3, 0.2, 0.2}));
  EXPECT_EQ(feature_scores(test, 2), (std::vector<double>{1, 0, 0, last, -4, 0}));
  EXPECT_EQ(feature_scores(test, 2, true), (std::vector<double>{-1, 0, 0, last, 4, 0}));
  EXPECT_EQ(feature_scores(test, 9), std::vector<double>(6, 0.0));
}

TEST(folds, average_and_pool) {
  query_values one;
  one.measures = parse_measures("MAP,P@1");
  one.qids = {"1"};
  one.values = {1.0, 0.5};
  query_values two = one;
  two.qids = {"2", "3", "4"};
  two.values = {0.0, 0.0, 0.0, 0.0, 0.3, 0.3};
  std::vector<query_values> const folds{one, two};
  EXPECT_EQ(mean_of_folds(folds), (std::vector<double>{(1.0 + 0.1) / 2, (0.5 + 0.1) / 2}));
  query_values const all = pooled(folds);
  EXPECT_EQ(all.qids, (std::vector<std::string>{"1", "2", "3", "4"}));
  EXPECT_DOUBLE_EQ(all.averages()[0], 1.3 / 4);
  EXPECT_TRUE(mean_of_folds({}).empty());
  EXPECT_EQ(pooled({}).size(), 0U);
  two.measures = parse_measures("MAP,P@2");
  EXPECT_THROW(mean_of_folds(std::vector{one, two}), usage_error);
  EXPECT_THROW(pooled(std::vector{one, two}), usage_error);
}

class runs : public ::testing::Test {
 protected:
  runs() {
    write_file(folder_ / "qrels", "1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 a 1\n3 0 a 0\n");
    write_file(folder_ / "run",
               "1 Q0 b 1 3 t\n1 Q0 c 2 2 t\n1 Q0 z 3 1 t\n3 Q0 a 1 1 t\n"
               "9 Q0 a 1 1 t\n");
    qrels_ = datasets::read_qrels(context{}, folder_ / "qrels");
    run_ = datasets::read_run(context{}, folder_ / "run");
  }
  testing_tools::temporary_folder folder_;
  datasets::qrels qrels_;
  datasets::run run_;
};

TEST_F(runs, count_queries_of_both_files) {
  query_values const found = evaluate(context{}, qrels_, run_,
                                      parse_measures("MAP,recall@2,NDCG@1"), make_profile("trec"));
  EXPECT_EQ(found.qids, (std::vector<std::string>{"1", "3"}));
  EXPECT_DOUBLE_EQ(found.at(0, 0), 0.5 / 2);
  EXPECT_DOUBLE_EQ(found.at(0, 1), 0.5);
  EXPECT_DOUBLE_EQ(found.at(0, 2), 0);
  EXPECT_DOUBLE_EQ(found.at(1, 0), 0);
}

TEST_F(runs, count_all_judged_queries_when_complete) {
  profile p = make_profile("trec");
  p.complete = true;
  p.no_relevant = 1;
  query_values const found = evaluate(context{}, qrels_, run_, parse_measures("MAP,NDCG"), p);
  EXPECT_EQ(found.qids, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(found.at(1, 0), 0);  // no results
  EXPECT_EQ(found.at(1, 1), 0);
  EXPECT_EQ(found.at(2, 0), 1);  // no relevant documents
  EXPECT_EQ(found.at(2, 1), 1);
}

TEST_F(runs, must_share_a_query_with_the_judgments) {
  write_file(folder_ / "other", "8 Q0 b 1 3 t\n");
  datasets::run const other = datasets::read_run(context{}, folder_ / "other");
  EXPECT_THROW(evaluate(context{}, qrels_, other, parse_measures("MAP"), make_profile("trec")),
               error);
}

// Fractional labels.

TEST(evaluate, fractional_labels_where_a_measure_has_a_value_for_them) {
  datasets::read_options options;
  options.fractional_labels = true;
  auto const test = datasets::parse_dataset(
      context{}, "0.5 qid:1 1:1\n2.5 qid:1 1:2\n0 qid:1 1:3\n1 qid:1 1:4\n", "test", options);
  std::vector<double> const scores{4, 3, 2, 1};
  profile p = make_profile("trec");
  p.gain = gain_function::linear;
  p.discount = discount_function::log2;
  auto const value = [&](char const* name) {
    auto const measures = parse_measures(name);
    return evaluate(context{}, test, scores, measures, p).at(0, 0);
  };
  auto const discounted = [](double gain, int rank) { return gain / std::log2(rank + 1); };
  double const best = discounted(2.5, 1) + discounted(1, 2) + discounted(.5, 3);
  EXPECT_NEAR(value("NDCG"), (discounted(.5, 1) + discounted(2.5, 2) + discounted(1, 4)) / best,
              1e-15);
  EXPECT_NEAR(value("NDCG@2"),
              (discounted(.5, 1) + discounted(2.5, 2)) / (discounted(2.5, 1) + discounted(1, 2)),
              1e-15);
  // Labels .5, 2.5, 0, 1 in ranked order: 3 pairs of 6 agree.
  EXPECT_EQ(value("tau"), 0);
  p.relevant_from = 0.5;
  EXPECT_NEAR(value("MAP"), (1 + 1 + 3. / 4) / 3, 1e-15);
  p.relevant_from = 0.75;
  EXPECT_NEAR(value("MAP"), (1. / 2 + 2. / 4) / 2, 1e-15);
  EXPECT_EQ(value("P@2"), 0.5);
  EXPECT_EQ(value("MRR"), 0.5);
  EXPECT_EQ(value("bpref"), 0.25);
  EXPECT_NEAR(value("RBP"), .1 * (.9 + .729), 1e-15);
  auto const refused = [&](char const* name) {
    return message_of<usage_error>([&] { value(name); });
  };
  EXPECT_EQ(refused("ERR@10"), "ERR@10 is not defined for fractional labels, expected integers");
  EXPECT_EQ(refused("MAP,pFound"),
            "pFound is not defined for fractional labels, expected integers");
  p.gain = gain_function::exponential;
  for (char const* const name : {"NDCG@5", "MeanNDCG"})
    EXPECT_EQ(refused(name), fmt::format("{}: exponential gains need whole labels, and these "
                                         "labels are fractional; use linear gains",
                                         name));
}

TEST(evaluate, a_threshold_of_fractional_labels) {
  EXPECT_NO_THROW(expect_threshold(parse_measures("NDCG@10,judged@10"), "y", "relevant_from"));
  EXPECT_EQ(message_of<usage_error>(
                [] { expect_threshold(parse_measures("NDCG@10,P@5,MAP"), "y", "relevant_from"); }),
            "P@5 with the fractional labels of y needs relevant_from, the lowest relevant label");
}

}  // namespace
}  // namespace rulerank::eval::evaluate_test
