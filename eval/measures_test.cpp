
#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/random.hpp"
#include "eval/conventions.hpp"
#include "eval/measure.hpp"
#include "eval/measure_definition.hpp"
#include "eval/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::eval::measures_test {
namespace {

using rulerank::testing_tools::message_of;
using labels_of = std::vector<std::int32_t>;
using scores_of = std::vector<double>;

/// A measure of one query.
double value(std::string_view name, labels_of const& labels, scores_of const& scores,
             profile const& p, labels_of const& pool) {
  ranked_query query;
  rank(labels, scores, {}, pool, p, query);
  std::int32_t largest = 0;
  for (std::int32_t label : pool) largest = std::max(largest, label);
  conventions const rules(p, largest, std::max(labels.size(), pool.size()));
  return value_of(parse_measure(name), query, rules);
}

double value(std::string_view name, labels_of const& labels, scores_of const& scores,
             profile const& p) {
  return value(name, labels, scores, p, labels);
}

/// The labels in ranked order.
double ranked(std::string_view name, labels_of const& labels, profile const& p) {
  scores_of scores(labels.size());
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = -static_cast<double>(i);
  return value(name, labels, scores, p);
}

TEST(measures, of_one_ranking_by_every_profile) {
  labels_of const labels{1, 0, 2, 0, 1, 0};
  struct row {
    std::string_view profile;
    std::vector<double> ndcg;  // at 1, 2, 3, 5, 10
    double map;
  };
  std::vector<double> const standard{.3333, .2754, .6052, .6988, .6988};
  for (row const& r :
       {row{"letor", {.3333, .2500, .6247, .7177, 0}, .7556},
        row{"mslr", {.3333, .2500, .6247, .7177, 0}, .3333}, row{"standard", standard, .7556},
        row{"lightgbm", standard, .7556}, row{"yahoo", standard, .7556},
        row{"trec", {.5000, .3801, .6388, .7623, .7623}, .7556}}) {
    profile p = make_profile(r.profile);
    p.ties = tie_rule::stable;  // there are no ties, and no docnos
    std::size_t at = 0;
    for (int k : {1, 2, 3, 5, 10})
      EXPECT_NEAR(ranked(fmt::format("NDCG@{}", k), labels, p), r.ndcg[at++], 5e-5)
          << r.profile << " " << k;
    EXPECT_NEAR(ranked("MAP", labels, p), r.map, 5e-5) << r.profile;
  }
}

TEST(measures, worked_by_hand) {
  labels_of const labels{0, 2, 1, 0, 1};
  profile const p = make_profile("standard");
  auto const at = [&](std::string_view name) { return ranked(name, labels, p); };
  EXPECT_DOUBLE_EQ(at("P@1"), 0);
  EXPECT_DOUBLE_EQ(at("P@3"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(at("P@10"), 0.3);
  EXPECT_DOUBLE_EQ(at("recall@2"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(at("recall@5"), 1);
  EXPECT_DOUBLE_EQ(at("Rprec"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(at("success@1"), 0);
  EXPECT_DOUBLE_EQ(at("success@2"), 1);
  EXPECT_DOUBLE_EQ(at("MRR"), 0.5);
  EXPECT_DOUBLE_EQ(at("MRR@1"), 0);
  EXPECT_DOUBLE_EQ(at("MAP"), (1.0 / 2 + 2.0 / 3 + 3.0 / 5) / 3);
  EXPECT_DOUBLE_EQ(at("MAP@3"), (1.0 / 2 + 2.0 / 3) / 3);
  // N = 2 judged non-relevant, R = 3: each one before a document costs 1/2.
  EXPECT_DOUBLE_EQ(at("bpref"), (0.5 + 0.5 + 0) / 3);
  // stops with 0, 3/4, 1/4, 0, 1/4
  EXPECT_DOUBLE_EQ(at("ERR"), .75 / 2 + .25 * .25 / 3 + .25 * .75 * .25 / 5);
  EXPECT_DOUBLE_EQ(at("ERR@2"), .75 / 2);
  EXPECT_DOUBLE_EQ(at("RBP"), (.9 + .81 + .9 * .9 * .9 * .9) * (1 - .9));
  EXPECT_DOUBLE_EQ(at("pFound"),
                   .85 * .75 + .85 * .85 * .25 * .25 + .85 * .85 * .85 * .85 * .25 * .75 * .25);
  // of ten pairs two are tied in label, four concordant, four discordant
  EXPECT_DOUBLE_EQ(at("tau"), 0);
  EXPECT_DOUBLE_EQ(ranked("tau", {2, 0, 1, 0}, p), 3 / std::sqrt(6.0 * 5.0));
}

TEST(measures, parameters_of_the_reader_models) {
  profile p = make_profile("standard");
  p.max_label = 4;
  EXPECT_DOUBLE_EQ(ranked("ERR", {2, 0}, p), 3.0 / 16);
  p.rbp_persistence = 0.5;
  EXPECT_DOUBLE_EQ(ranked("RBP", {1, 0, 1}, p), 0.5 * 1.25);
  p.pfound_break = 0.5;
  p.prel = {0, 0.2, 0.4};
  EXPECT_DOUBLE_EQ(ranked("pFound", {1, 0, 2}, p), 0.2 + 0.8 * 0.25 * 0.4);
}

TEST(measures, queries_without_a_relevant_document) {
  for (std::string_view name :
       {"NDCG", "NDCG@3", "MeanNDCG", "MAP", "MAP@2", "Rprec", "recall@2", "bpref"}) {
    EXPECT_EQ(ranked(name, {0, 0, 0}, make_profile("letor")), 0) << name;
    EXPECT_EQ(ranked(name, {0, 0, 0}, make_profile("lightgbm")), 1) << name;
    EXPECT_EQ(ranked(name, {0, 0, 0}, make_profile("yahoo")), 0.5) << name;
    EXPECT_EQ(ranked(name, {}, make_profile("yahoo")), 0.5) << name;
  }
  for (std::string_view name : {"P@2", "success@2", "MRR", "ERR", "RBP", "pFound", "tau"})
    EXPECT_EQ(ranked(name, {0, 0, 0}, make_profile("yahoo")), 0) << name;
}

TEST(measures, of_lists_that_found_nothing) {
  for (measure_kind const* kind : measure_kinds()) {
    measure const m{kind, kind->cut == measure_kind::cutoff::required ? 5U : 0U};
    EXPECT_EQ(value(m.name(), {}, {}, make_profile("standard"), {2, 1, 0}), 0) << m.name();
  }
}

TEST(measures, count_what_was_not_retrieved) {
  profile const p = make_profile("standard");
  labels_of const pool{1, 1, 1, 1, 0, -1};
  EXPECT_DOUBLE_EQ(value("MAP", {1, unjudged}, {2, 1}, p, pool), 0.25);
  EXPECT_DOUBLE_EQ(value("recall@2", {1, unjudged}, {2, 1}, p, pool), 0.25);
  // the unjudged document above costs nothing, the judged one does
  EXPECT_DOUBLE_EQ(value("bpref", {unjudged, 1}, {2, 1}, p, pool), 0.25);
  EXPECT_DOUBLE_EQ(value("bpref", {0, 1}, {2, 1}, p, pool), 0);
}

TEST(measures, say_how_much_is_judged) {
  profile p = make_profile("standard");
  labels_of const labels{1, unjudged, 0, unjudged};
  scores_of const scores{4, 3, 2, 1};
  EXPECT_DOUBLE_EQ(value("judged@1", labels, scores, p, labels), 1);
  EXPECT_DOUBLE_EQ(value("judged@2", labels, scores, p, labels), 0.5);
  EXPECT_DOUBLE_EQ(value("judged@3", labels, scores, p, labels), 2.0 / 3);
  EXPECT_DOUBLE_EQ(value("judged@10", labels, scores, p, labels), 0.5);
  p.ties = tie_rule::average;  // the last three tie, and one of them is judged
  EXPECT_DOUBLE_EQ(value("judged@2", labels, {4, 1, 1, 1}, p, labels), (1 + 1.0 / 3) / 2);
}

/// Kendall's tau-b pair by pair.
double tau_reference(labels_of const& labels, scores_of const& scores) {
  double concordance = 0;
  double by_score = 0;
  double by_label = 0;
  auto const sign = [](double a, double b) { return (a > b) - (a < b); };
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      int const s = sign(scores[i], scores[j]);
      int const l = sign(std::max(labels[i], 0), std::max(labels[j], 0));
      concordance += s * l;
      by_score += s * s;
      by_label += l * l;
    }
  return by_score == 0 || by_label == 0 ? 0 : concordance / std::sqrt(by_score * by_label);
}

TEST(kendall_tau, is_that_of_all_pairs) {
  random_engine engine(11);
  for (int round = 0; round < 200; ++round) {
    std::size_t const n = uniform_below(engine, 40);
    labels_of labels(n);
    scores_of scores(n);
    for (std::size_t i = 0; i < n; ++i) {
      labels[i] = static_cast<std::int32_t>(uniform_below(engine, 5)) - 1;
      scores[i] = static_cast<double>(uniform_below(engine, 1 + static_cast<std::size_t>(round)));
    }
    EXPECT_NEAR(value("tau", labels, scores, make_profile("letor")), tau_reference(labels, scores),
                1e-12);
  }
}

std::vector<std::string> const every_measure{
    "NDCG",     "NDCG@1",    "NDCG@2",    "NDCG@3",    "NDCG@5", "NDCG@9",   "MeanNDCG", "MAP",
    "MAP@2",    "MAP@4",     "gmMAP",     "P@1",       "P@3",    "P@7",      "Rprec",    "recall@1",
    "recall@3", "success@1", "success@2", "success@4", "bpref",  "MRR",      "MRR@2",    "ERR",
    "ERR@1",    "ERR@3",     "RBP",       "RBP@2",     "pFound", "pFound@3", "tau"};

/// A random query: few distinct scores, documents outside the list, unjudged ones.
struct drawn_query {
  labels_of labels;
  scores_of scores;
  labels_of pool;
};

drawn_query draw(random_engine& engine, std::size_t n, std::size_t levels) {
  drawn_query q;
  for (std::size_t i = 0; i < n; ++i) {
    q.labels.push_back(static_cast<std::int32_t>(uniform_below(engine, 5)) - 1);
    q.scores.push_back(static_cast<double>(uniform_below(engine, levels)));
  }
  q.pool = q.labels;
  for (std::size_t i = uniform_below(engine, 4); i > 0; --i)
    q.pool.push_back(static_cast<std::int32_t>(uniform_below(engine, 4)));
  return q;
}

profile draw_profile(random_engine& engine) {
  auto const names = profile_names();
  profile p = make_profile(names[uniform_below(engine, names.size())]);
  if (p.ties == tie_rule::docno) p.ties = tie_rule::stable;
  p.max_docs = uniform_below(engine, 2) == 0 ? 0 : 1 + uniform_below(engine, 5);
  return p;
}

TEST(ties, average_is_the_expectation_over_all_orders) {
  random_engine engine(7);
  for (int round = 0; round < 60; ++round) {
    drawn_query const q = draw(engine, uniform_below(engine, 7), 1 + uniform_below(engine, 3));
    profile p = draw_profile(engine);
    std::size_t const n = q.labels.size();
    std::vector<double> sums(every_measure.size(), 0.0);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    double orders = 0;
    p.ties = tie_rule::stable;
    do {  // all orders of the input give all orders of each tie equally often
      labels_of labels;
      scores_of scores;
      for (std::size_t i : order) {
        labels.push_back(q.labels[i]);
        scores.push_back(q.scores[i]);
      }
      for (std::size_t m = 0; m < every_measure.size(); ++m)
        sums[m] += value(every_measure[m], labels, scores, p, q.pool);
      ++orders;
    } while (std::next_permutation(order.begin(), order.end()));
    p.ties = tie_rule::average;
    for (std::size_t m = 0; m < every_measure.size(); ++m)
      EXPECT_NEAR(value(every_measure[m], q.labels, q.scores, p, q.pool), sums[m] / orders, 1e-12)
          << every_measure[m] << " " << describe(p) << " round " << round;
  }
}

TEST(ties, average_without_ties_is_the_order_itself) {
  random_engine engine(8);
  for (int round = 0; round < 50; ++round) {
    drawn_query q = draw(engine, 20, 1);
    std::iota(q.scores.begin(), q.scores.end(), 0.0);
    profile p = draw_profile(engine);
    for (std::string const& name : every_measure) {
      p.ties = tie_rule::stable;
      double const stable = value(name, q.labels, q.scores, p, q.pool);
      p.ties = tie_rule::average;
      EXPECT_EQ(value(name, q.labels, q.scores, p, q.pool), stable) << name;
    }
  }
}

TEST(ties, worst_is_never_better) {
  random_engine engine(9);
  for (int round = 0; round < 300; ++round) {
    drawn_query const q = draw(engine, 12, 4);
    profile p = draw_profile(engine);
    p.max_docs = 0;
    for (std::string const& name : every_measure) {
      p.ties = tie_rule::worst;
      double const worst = value(name, q.labels, q.scores, p, q.pool);
      for (tie_rule other : {tie_rule::stable, tie_rule::average}) {
        p.ties = other;
        EXPECT_LE(worst, value(name, q.labels, q.scores, p, q.pool) + 1e-12)
            << name << " " << describe(p);
      }
    }
  }
}

TEST(measures, stay_in_their_range) {
  random_engine engine(10);
  for (int round = 0; round < 300; ++round) {
    drawn_query const q = draw(engine, uniform_below(engine, 30), 1 + uniform_below(engine, 30));
    profile p = draw_profile(engine);
    if (round % 2 == 0) p.ties = tie_rule::average;
    for (std::string const& name : every_measure) {
      double const found = value(name, q.labels, q.scores, p, q.pool);
      EXPECT_GE(found, name == "tau" ? -1 - 1e-12 : 0.0) << name;
      EXPECT_LE(found, 1 + 1e-12) << name << " " << describe(p);
    }
  }
}

TEST(measures, of_the_best_order_are_1) {
  random_engine engine(12);
  for (int round = 0; round < 100; ++round) {
    labels_of labels(1 + uniform_below(engine, 20));
    for (std::int32_t& label : labels) label = static_cast<std::int32_t>(uniform_below(engine, 4));
    labels[0] = 3;
    std::sort(labels.rbegin(), labels.rend());
    profile const p = [&] {
      profile any = draw_profile(engine);
      any.max_docs = 0;
      return any;
    }();
    for (std::string_view name :
         {"NDCG", "NDCG@1", "MeanNDCG", "MAP", "Rprec", "bpref", "MRR", "P@1", "success@1"})
      EXPECT_DOUBLE_EQ(ranked(name, labels, p), 1) << name << " " << p.name;
    EXPECT_DOUBLE_EQ(ranked(fmt::format("NDCG@{}", labels.size()), labels, p), 1);
    if (labels.size() > 1 && labels.back() < 3) {
      EXPECT_GT(ranked("tau", labels, p), 0);
    }
  }
}

TEST(ties, go_by_docno_descending) {
  profile p = make_profile("trec");
  ranked_query query;
  std::vector<std::string> const docnos{"b", "a", "c", "d"};
  rank(labels_of{0, 1, 2, 3}, scores_of{1, 1, 1, 0}, docnos, p, query);
  EXPECT_EQ(query.labels, (std::vector<double>{2, 0, 1, 3}));
  EXPECT_EQ(query.group_count(), 4U);
}

TEST(ranking, knows_its_groups) {
  profile p = make_profile("letor");
  p.ties = tie_rule::average;
  p.max_docs = 2;
  ranked_query query;
  rank(labels_of{0, 1, 2, 2, unjudged}, scores_of{1, 5, 1, 1, 0}, {}, p, query);
  EXPECT_EQ(query.groups, (std::vector<std::size_t>{0, 1, 4, 5}));
  EXPECT_EQ(query.ideal, (std::vector<double>{2, 2, 1, 0}));
  EXPECT_EQ(query.depth, 2U);
  EXPECT_EQ(query.relevant, 3U);
  EXPECT_EQ(query.nonrelevant, 1U);
  rank(labels_of{}, scores_of{}, {}, p, query);
  EXPECT_EQ(query.group_count(), 0U);
  EXPECT_EQ(query.depth, 0U);
}

TEST(measure, is_read_from_its_name) {
  struct spelling {
    std::string_view text;
    std::string_view name;
  };
  for (spelling const& s : std::initializer_list<spelling>{{"NDCG@10", "NDCG@10"},
                                                           {"ndcg@10", "NDCG@10"},
                                                           {"ndcg_cut_10", "NDCG@10"},
                                                           {"ndcg", "NDCG"},
                                                           {"meanndcg", "MeanNDCG"},
                                                           {"map", "MAP"},
                                                           {"map_cut_5", "MAP@5"},
                                                           {"gm_map", "gmMAP"},
                                                           {"P_5", "P@5"},
                                                           {"p@5", "P@5"},
                                                           {"Rprec", "Rprec"},
                                                           {"recall_1000", "recall@1000"},
                                                           {"R@5", "recall@5"},
                                                           {"hit_rate@5", "success@5"},
                                                           {"recip_rank", "MRR"},
                                                           {"ERR@20", "ERR@20"},
                                                           {"rbp", "RBP"},
                                                           {"PFOUND", "pFound"},
                                                           {"tau-b", "tau"}})
    EXPECT_EQ(parse_measure(s.text).name(), s.name);
  std::string names;
  for (measure const& m : parse_measures("NDCG@1-3,MAP,P@10")) names += m.name() + " ";
  EXPECT_EQ(names, "NDCG@1 NDCG@2 NDCG@3 MAP P@10 ");
}

TEST(measure, refuses_other_names) {
  for (char const* name : {"", "NDGC", "NDCG@", "NDCG@0", "NDCG@-1", "NDCG@x", "NDCG@1.5", "P",
                           "recall", "Rprec@5", "tau@3", "MeanNDCG@2", "@5", "P_0"})
    EXPECT_THROW(parse_measure(name), usage_error) << name;
  for (char const* list : {"", "MAP,", "NDCG@5-2", "NDCG@0-3", "NDCG@1-1000000"})
    EXPECT_THROW(parse_measures(list), usage_error) << list;
  EXPECT_EQ(message_of<usage_error>([] { parse_measure("MPA"); }),
            "measure: found 'MPA', expected one of NDCG[@k], MeanNDCG, MAP[@k], gmMAP, P@k, "
            "Rprec, recall@k, success@k, bpref, MRR[@k], ERR[@k], RBP[@k], pFound[@k], tau, "
            "judged@k");
}

TEST(measure, averages) {
  EXPECT_DOUBLE_EQ(parse_measure("MAP").average(std::vector{0.0, 1.0}), 0.5);
  EXPECT_DOUBLE_EQ(parse_measure("gmMAP").average(std::vector{0.1, 0.4}), 0.2);
  EXPECT_NEAR(parse_measure("gmMAP").average(std::vector{0.0, 1.0}), std::sqrt(1e-5), 1e-15);
  EXPECT_EQ(parse_measure("MAP").average({}), 0);
}

TEST(profile, says_what_was_overridden) {
  profile p = make_profile("letor");
  EXPECT_EQ(describe(p), "letor");
  p.relevant_from = 2;
  p.ties = tie_rule::average;
  p.prel = {0, 0.5};
  EXPECT_EQ(describe(p), "letor with relevant-from=2, ties=average, prel=0/0.5");
  for (std::string_view name : profile_names()) EXPECT_EQ(describe(make_profile(name)), name);
}

TEST(profile, refuses_what_makes_no_sense) {
  EXPECT_THROW(make_profile("trek"), usage_error);
  EXPECT_THROW(gain_from("log"), usage_error);
  EXPECT_THROW(discount_from(""), usage_error);
  EXPECT_THROW(short_list_from("one"), usage_error);
  EXPECT_THROW(tie_rule_from("best"), usage_error);
  auto const refused = [](auto const& change) {
    profile p;
    change(p);
    EXPECT_THROW(conventions(p, 2, 10), usage_error);
  };
  refused([](profile& p) { p.no_relevant = 1.5; });
  refused([](profile& p) { p.no_relevant = std::nan(""); });
  refused([](profile& p) { p.relevant_from = 0; });
  refused([](profile& p) { p.max_label = -1; });
  refused([](profile& p) { p.max_label = 1; });  // the data has 2
  refused([](profile& p) { p.rbp_persistence = 1; });
  refused([](profile& p) { p.pfound_break = -0.1; });
  refused([](profile& p) { p.prel = {0, 0.1}; });  // the data has 2
  refused([](profile& p) { p.prel = {0, 0.1, 2}; });
  EXPECT_EQ(largest_label(profile{}), 900);
  EXPECT_TRUE(std::isfinite(1e30 * conventions(profile{}, 900, 10).gain(900)));
  EXPECT_THROW(conventions(profile{}, 901, 10), usage_error);
  profile linear;
  linear.gain = gain_function::linear;
  EXPECT_DOUBLE_EQ(conventions(linear, 1000, 10).gain(1000), 1000);
}

}  // namespace
}  // namespace rulerank::eval::measures_test
