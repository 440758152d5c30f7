// Compares with numbers of other programs for real data: LETOR's scripts, LETOR 2.0's published
// tables of single features, trec_eval.
#include "core/testing.hpp"
#include "datasets/scores.hpp"
#include "datasets/svmlight.hpp"
#include "eval/evaluate.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::eval::golden_test {
namespace {

std::vector<std::string> lines_of(std::string const& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> split(std::string const& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

struct judged_run {
  char const* set;
  char const* method;
  friend void PrintTo(judged_run const& run, std::ostream* out) { *out << run.set << run.method; }
};

class letor_script : public ::testing::TestWithParam<judged_run> {
 protected:
  static std::string file(char const* kind, int fold, char const* suffix) {
    return fmt::format("eval/{}/{}/{}/Fold{}{}", kind, GetParam().set, GetParam().method, fold,
                       suffix);
  }
  /// The letor profile's values for a fold's published scores.
  static query_values values(std::string const& test_path, std::string const& scores_path,
                             std::string_view measures) {
    context ctx;
    datasets::dataset const test = datasets::read_svmlight(ctx, test_path);
    std::vector<double> const scores = datasets::read_scores_of(ctx, scores_path, test);
    return evaluate(ctx, test, scores, parse_measures(measures), make_profile("letor"));
  }
};

class letor_script_4 : public letor_script {};

TEST_P(letor_script_4, prints_the_same) {
  for (int fold = 1; fold <= 5; ++fold) {
    RULERANK_REAL_DATA(golden, file("golden", fold, ".eval4.txt"));
    RULERANK_REAL_DATA(scores, file("scores", fold, ".score"));
    RULERANK_REAL_DATA(test, fmt::format("letor/{}/Fold{}/test.txt", GetParam().set, fold));
    std::string expected;
    for (std::string const& line : lines_of(golden)) expected += line + "\n";

    std::string printed;
    for (std::string_view table : {"P@1-10,MAP", "NDCG@1-10,MeanNDCG"}) {
      query_values const found = values(test, scores, table);
      printed += "qid";
      for (measure const& m : found.measures) printed += fmt::format("\t{}", m.name());
      for (std::size_t q = 0; q < found.size(); ++q) {
        printed += fmt::format("\n{}", found.qids[q]);
        for (std::size_t m = 0; m < found.measures.size(); ++m)
          printed += fmt::format("\t{:.4f}", found.at(q, m));
      }
      printed += "\nAverage";
      for (double average : found.averages()) printed += fmt::format("\t{:.4f}", average);
      printed += "\n\n";
    }
    EXPECT_EQ(printed, expected) << golden;
  }
}

class letor_script_3 : public letor_script {};  // its output exists for OHSUMED only

TEST_P(letor_script_3, prints_the_same) {
  for (int fold = 1; fold <= 5; ++fold) {
    RULERANK_REAL_DATA(golden, file("golden", fold, ".eval3.txt"));
    RULERANK_REAL_DATA(scores, file("scores", fold, ".score"));
    RULERANK_REAL_DATA(test, fmt::format("letor/{}/Fold{}/test.txt", GetParam().set, fold));
    std::map<std::string, std::vector<std::string>> expected;  // by the text before the colon
    for (std::string const& line : lines_of(golden))
      if (std::size_t const colon = line.find(':'); colon != std::string::npos)
        expected[line.substr(0, colon)] = split(line.substr(colon + 2), '\t');

    struct table {
      std::string_view measures;
      std::string_view query;
      std::string_view average;
    };
    std::size_t rows = 0;
    for (table const& t :
         {table{"P@1-16", "precision of query", "precision"}, table{"MAP", "Map of query", "MAP"},
          table{"NDCG@1-16", "NDCG of query", "NDCG"}}) {
      query_values const found = values(test, scores, t.measures);
      std::vector<std::size_t> order(found.size());  // queryN is the N-th qid as a number
      for (std::size_t q = 0; q < order.size(); ++q) order[q] = q;
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::stol(found.qids[a]) < std::stol(found.qids[b]);
      });
      for (std::size_t n = 0; n < order.size(); ++n, ++rows) {
        std::vector<std::string> printed;
        for (std::size_t m = 0; m < found.measures.size(); ++m)
          printed.push_back(fmt::format("{:.15g}", found.at(order[n], m)));
        EXPECT_EQ(printed, expected[fmt::format("{}{}", t.query, n)]) << golden << " query" << n;
      }
      std::vector<std::string> printed;
      for (double average : found.averages()) printed.push_back(fmt::format("{:.15g}", average));
      EXPECT_EQ(printed, expected[std::string(t.average)]) << golden;
      ++rows;
    }
    EXPECT_EQ(rows, expected.size());
  }
}

std::string name_of(::testing::TestParamInfo<judged_run> const& run) {
  return fmt::format("{}_{}", run.param.set, run.param.method);
}

INSTANTIATE_TEST_SUITE_P(
    shipped, letor_script_4,
    ::testing::Values(judged_run{"MQ2008", "AdaRank"}, judged_run{"MQ2008", "RankBoost"},
                      judged_run{"MQ2008", "ListNet"}, judged_run{"OHSUMED", "AdaRank"},
                      judged_run{"OHSUMED", "RankBoost"}, judged_run{"OHSUMED", "ListNet"}),
    name_of);
INSTANTIATE_TEST_SUITE_P(shipped, letor_script_3,
                         ::testing::Values(judged_run{"OHSUMED", "AdaRank"},
                                           judged_run{"OHSUMED", "RankBoost"},
                                           judged_run{"OHSUMED", "ListNet"}),
                         name_of);

TEST(letor_2, single_features_of_ohsumed) {
  struct table {
    std::string file;
    std::string_view measures;
  };
  context ctx;
  std::vector<datasets::dataset> parts;
  for (int part = 1; part <= 5; ++part) {
    RULERANK_REAL_DATA(path, fmt::format("letor/OHSUMED-LETOR2/S{}.txt", part));
    parts.push_back(datasets::read_svmlight(ctx, path));
  }
  std::string const tables = "letor/OHSUMED-LETOR2/official-tables/SingleFeatures_OHSUMED__";
  for (table const& t :
       {table{tables + "NDCG.csv", "NDCG@1-10"}, table{tables + "Precision.csv", "P@1-10,MAP"}}) {
    RULERANK_REAL_DATA(path, t.file);
    std::vector<std::string> const lines = lines_of(path);
    ASSERT_EQ(lines.size(), 27U);
    for (std::uint32_t feature = 1; feature <= 25; ++feature) {
      std::vector<query_values> folds;
      for (datasets::dataset const& part : parts)
        folds.push_back(evaluate(ctx, part, feature_scores(part, feature),
                                 parse_measures(t.measures), make_profile("letor")));
      query_values const all = pooled(folds);
      EXPECT_EQ(all.size(), 106U);
      std::vector<double> const averages = all.averages();
      std::vector<std::string> const cells = split(lines[feature + 1], ',');
      ASSERT_EQ(cells.size(), averages.size() + 1);
      EXPECT_EQ(std::stod(cells[0]), feature);
      for (std::size_t m = 0; m < averages.size(); ++m)
        EXPECT_NEAR(averages[m], std::stod(cells[m + 1]), 1e-14)
            << "feature " << feature << " " << all.measures[m].name();
    }
  }
}

/// One of trec_eval's own tests: its inputs, options and expected output.
struct trec_case {
  char const* expected;
  char const* qrels;
  char const* run;
  bool complete;
  std::size_t max_docs;
  int relevant_from;
  friend void PrintTo(trec_case const& c, std::ostream* out) { *out << c.expected; }
};

class trec_eval_tests : public ::testing::TestWithParam<trec_case> {};

TEST_P(trec_eval_tests, prints_the_same) {
  trec_case const& c = GetParam();
  RULERANK_REAL_DATA(expected, fmt::format("eval/trec_eval/{}", c.expected));
  RULERANK_REAL_DATA(qrels_path, fmt::format("eval/trec_eval/{}", c.qrels));
  RULERANK_REAL_DATA(run_path, fmt::format("eval/trec_eval/{}", c.run));
  context ctx;
  datasets::qrels const qrels = datasets::read_qrels(ctx, qrels_path);
  datasets::run const run = datasets::read_run(ctx, run_path);
  profile p = make_profile("trec");
  p.complete = c.complete;
  p.max_docs = c.max_docs;
  p.relevant_from = c.relevant_from;

  auto const known = [&](std::string const& name) {
    for (std::string_view prefix : {"P_", "recall_", "success_", "ndcg_cut_", "map_cut_"})
      if (name.starts_with(prefix)) return name != "P_avgjg";
    for (std::string_view whole : {"map", "gm_map", "Rprec", "bpref", "recip_rank", "ndcg"})
      if (name == whole) return true;
    return name == "rbp" && c.relevant_from == 1;  // trec_eval's version weighs by grade
  };
  std::size_t compared = 0;
  for (std::string const& line : lines_of(expected)) {
    std::vector<std::string> const cells = split(line, '\t');
    ASSERT_EQ(cells.size(), 3U) << line;
    std::string const name = cells[0].substr(0, cells[0].find(' '));
    if (!known(name)) continue;
    query_values const found = evaluate(ctx, qrels, run, std::vector{parse_measure(name)}, p);
    double value = found.averages()[0];
    if (cells[1] != "all") {
      auto const at = std::find(found.qids.begin(), found.qids.end(), cells[1]);
      ASSERT_NE(at, found.qids.end()) << line;
      value = found.at(static_cast<std::size_t>(at - found.qids.begin()), 0);
    }
    EXPECT_EQ(fmt::format("{:.4f}", value), cells[2]) << line;
    ++compared;
  }
  EXPECT_GE(compared, 14U);
}

INSTANTIATE_TEST_SUITE_P(
    shipped, trec_eval_tests,
    ::testing::Values(trec_case{"out.test", "qrels.test", "results.test", false, 0, 1},
                      trec_case{"out.test.a", "qrels.test", "results.test", false, 0, 1},
                      trec_case{"out.test.aq", "qrels.test", "results.test", false, 0, 1},
                      trec_case{"out.test.aqc", "qrels.test", "results.trunc", true, 0, 1},
                      trec_case{"out.test.aqcM", "qrels.test", "results.trunc", true, 100, 1},
                      trec_case{"out.test.aql", "qrels.rel_level", "results.test", false, 0, 2},
                      trec_case{"out.test.meas_params", "qrels.test", "results.test", false, 0, 1},
                      trec_case{"out.comment.test", "qrels.comment.test", "results.comment.test",
                                false, 100, 1}),
    [](::testing::TestParamInfo<trec_case> const& test) {
      std::string name = test.param.expected;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

}  // namespace
}  // namespace rulerank::eval::golden_test
