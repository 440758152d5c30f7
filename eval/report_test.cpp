#include "eval/report.hpp"

#include "core/error.hpp"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::eval::report_test {
namespace {

table small() {
  table t;
  t.title = "50 % of a_b";
  t.columns = {{"name"}, {"x", column::style::fixed, 2}, {"p", column::style::general}};
  t.rows = {{std::string("a|b_c & d"), 0.125, 1e-7}, {std::string("e"), 1.0 / 3, std::int64_t{12}}};
  return t;
}

TEST(table, aligns_columns) {
  EXPECT_EQ(render(small(), table_format::table),
            "50 % of a_b\n"
            "name          x      p\n"
            "a|b_c & d  0.12  1e-07\n"
            "e          0.33     12\n");
}

TEST(table, shows_no_minus_before_zero) {
  table t;
  t.columns = {{"x", column::style::fixed, 3}};
  for (double const x : {-1e-9, -0.0, -0.001}) t.rows.push_back({x});
  EXPECT_EQ(render(t, table_format::table), "     x\n 0.000\n 0.000\n-0.001\n");
  EXPECT_EQ(render(t, table_format::tsv), "x\n-1e-09\n-0\n-0.001\n");
}

TEST(table, keeps_numbers_exact_for_programs) {
  EXPECT_EQ(render(small(), table_format::tsv),
            "# 50 % of a_b\n"
            "name\tx\tp\n"
            "a|b_c & d\t0.125\t1e-07\n"
            "e\t0.3333333333333333\t12\n");
  nlohmann::json const json = nlohmann::json::parse(render(small(), table_format::json));
  EXPECT_EQ(json[1]["x"].get<double>(), 1.0 / 3);
  EXPECT_EQ(json[0]["name"], "a|b_c & d");
  EXPECT_EQ(json[1]["p"], 12);
}

TEST(table, escapes_what_a_format_reads_otherwise) {
  EXPECT_EQ(render(small(), table_format::markdown),
            "50 % of a\\_b\n\n"
            "| name | x | p |\n"
            "| :-- | --: | --: |\n"
            "| a\\|b\\_c \\& d | 0.12 | 1e-07 |\n"
            "| e | 0.33 | 12 |\n");
  EXPECT_EQ(render(small(), table_format::latex),
            "% 50 % of a_b\n"
            "\\begin{tabular}{lrr}\n\\hline\n"
            "name & x & p \\\\\n\\hline\n"
            "a|b\\_c \\& d & 0.12 & 1e-07 \\\\\n"
            "e & 0.33 & 12 \\\\\n"
            "\\hline\n\\end{tabular}\n");
  table tabs;
  tabs.columns = {{"a\tb"}};
  tabs.rows = {{std::string("c\nd")}};
  EXPECT_EQ(render(tabs, table_format::tsv), "a b\nc d\n");
  tabs.columns = {{"--a ``b'' ?`"}};
  tabs.rows = {};
  EXPECT_NE(render(tabs, table_format::latex).find("-{}-a `{}`b'{}' ?{}` "), std::string::npos);
}

TEST(table, names_are_no_markdown) {
  table t;
  t.title = "![i](http://x/t.png)";
  t.columns = {{"[a]: b"}};
  t.rows = {{std::string("`c` ~~d~~ &lt; *e*\r\n")},
            {std::string("f\\|g <h> full-rank-3 (0.5) C# >")}};
  EXPECT_EQ(render(t, table_format::markdown),
            "\\!\\[i\\](http://x/t.png)\n\n"
            "| \\[a\\]: b |\n"
            "| :-- |\n"
            "| \\`c\\` \\~\\~d\\~\\~ \\&lt; \\*e\\*   |\n"
            "| f\\\\\\|g &lt;h> full-rank-3 (0.5) C# > |\n");
}

TEST(table, without_rows) {
  table t;
  t.columns = {{"a"}};
  EXPECT_EQ(render(t, table_format::table), "a\n");
  EXPECT_EQ(render(t, table_format::json), "[]\n");
}

TEST(table, formats_by_name) {
  EXPECT_EQ(table_format_from("latex"), table_format::latex);
  EXPECT_THROW(table_format_from("html"), usage_error);
}

query_values values_of(std::vector<std::string> qids, std::vector<double> values) {
  query_values v;
  v.measures = parse_measures("MAP");
  v.qids = std::move(qids);
  v.values = std::move(values);
  return v;
}

report two_systems() {
  report r;
  r.rules = make_profile("mslr");
  r.folds = {"Fold1", "Fold2"};
  r.systems = {{"a", {values_of({"1"}, {0.5}), values_of({"2", "3"}, {0.1, 0.2})}},
               {"b", {values_of({"1"}, {0.6}), values_of({"2", "3"}, {0.3, 0.1})}}};
  return r;
}

TEST(report, names_its_profile_and_its_averages) {
  report r = two_systems();
  EXPECT_EQ(render(r, table_format::table),
            "profile mslr; 2 folds, mean of fold means; 3 queries\n"
            "system     MAP\n"
            "a       0.3250\n"
            "b       0.4000\n");
  r.averaged = averaging::queries;
  r.rules.ties = tie_rule::average;
  EXPECT_EQ(render(r, table_format::table, 2),
            "profile mslr with ties=average; 2 folds, mean over all queries; 3 queries\n"
            "system   MAP\n"
            "a       0.27\n"
            "b       0.33\n");
}

TEST(report, shows_folds_and_queries) {
  report r = two_systems();
  r.systems.pop_back();
  r.per_query = true;
  EXPECT_EQ(render(r, table_format::tsv),
            "# profile mslr; 2 folds, mean of fold means; 3 queries\n"
            "system\tfold\tquery\tMAP\n"
            "a\tFold1\t1\t0.5\n"
            "a\tFold1\tall\t0.5\n"
            "a\tFold2\t2\t0.1\n"
            "a\tFold2\t3\t0.2\n"
            "a\tFold2\tall\t0.15000000000000002\n"
            "a\tall\tall\t0.325\n");
  r.per_query = false;
  r.per_fold = true;
  EXPECT_EQ(values_table(r).rows.size(), 3U);
}

TEST(report, shows_comparisons) {
  report r = two_systems();
  r.compared.fisher = false;
  r.comparisons = compare(context{}, r.systems, 0, r.compared);
  std::string const text = render(r, table_format::markdown);
  EXPECT_NE(text.find("against a, paired over 3 queries"), std::string::npos) << text;
  EXPECT_NE(text.find("| MAP | b | 0.0667 | 2 | 0 | 1 |"), std::string::npos) << text;
  EXPECT_EQ(text.find("Fisher"), std::string::npos);
}

TEST(report, is_json) {
  report r = two_systems();
  r.per_query = true;
  r.comparisons = compare(context{}, r.systems, 0, r.compared);
  nlohmann::json const json = nlohmann::json::parse(render(r, table_format::json));
  EXPECT_EQ(json["profile"]["name"], "mslr");
  EXPECT_EQ(json["profile"]["relevant-from"], 2);
  EXPECT_EQ(json["systems"][1]["averages"]["MAP"].get<double>(),
            averages(r.systems[1], averaging::folds)[0]);
  EXPECT_EQ(json["systems"][0]["folds"][1]["qids"], (std::vector<std::string>{"2", "3"}));
  EXPECT_EQ(json["systems"][0]["folds"][1]["values"]["MAP"], (std::vector<double>{0.1, 0.2}));
  EXPECT_EQ(json["comparison"]["reference"], "a");
  EXPECT_EQ(json["comparison"]["permutations"], 100000);
  EXPECT_EQ(json["comparison"]["results"][0]["wins"], 2);
  EXPECT_EQ(json["comparison"]["results"][0]["fisher"]["p"].get<double>(),
            r.comparisons[0].fisher->p);
}

}  // namespace
}  // namespace rulerank::eval::report_test
