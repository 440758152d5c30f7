#include "core/json_text.hpp"
#include "report/document.hpp"
#include "report/escape.hpp"
#include "report/paper_tables.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::report::report_test {
namespace {

std::string const evil =
    "</script><b>\"'&|_ \\ $ {%\xff\x01 --- `` '' ,, ?` fi ![i](http://x/t.png) ~~";

document hostile() {
  document made{evil, {}};
  made.blocks.push_back({heading{2, evil}});
  made.blocks.push_back({paragraph{evil}});
  made.blocks.push_back({eval::table{.title = evil, .columns = {{evil}}, .rows = {{evil}}}});
  chart one{.title = evil, .kind = chart_kind::xy, .x = {evil}, .y = {evil}};
  one.series.push_back({evil, {{1, 2, evil}, {2, 3}}});
  made.blocks.push_back({one});
  one.kind = chart_kind::bars;
  made.blocks.push_back({one});
  made.blocks.push_back({details{
      evil,
      {{paragraph{evil}}, {interactive{json_line_of(nlohmann::ordered_json{{"kind", evil}})}}}}});
  return made;
}

TEST(escape, by_hand) {
  EXPECT_EQ(escape_html("a<b>&\"'\n"), "a&lt;b&gt;&amp;&quot;&#39;\n");
  EXPECT_EQ(clean("a\x01\x7f\tz"), "a\xEF\xBF\xBD\xEF\xBF\xBD\tz");
  EXPECT_EQ(clean("\xC3\xBC\xff"), "\xC3\xBC\xEF\xBF\xBD");
  // RFC 4648, section 10.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(forms, texts_stay_texts) {
  document const made = hostile();
  std::string const page = to_html(made);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  std::string const end = "</script>";
  std::size_t ends = 0;
  for (std::size_t at = page.find(end); at != std::string::npos; at = page.find(end, at + 1))
    ++ends;
  EXPECT_EQ(ends, has_interactive_pages() ? 4U : 1U);
  text_with_figures const markdown = to_markdown(made, "f");
  EXPECT_EQ(markdown.text.find("<b>"), std::string::npos);
  EXPECT_EQ(markdown.text.find("![i]"), std::string::npos);
  EXPECT_NE(
      markdown.text.find("\n\n&lt;/script>&lt;b>\"'\\&\\|\\_ \\\\ $ {%\xEF\xBF\xBD\xEF\xBF\xBD --- "
                         "\\`\\` '' ,, ?\\` fi \\!\\[i\\](http://x/t.png) \\~\\~\n\n"),
      std::string::npos)
      << markdown.text;
  ASSERT_EQ(markdown.figures.size(), 2U);
  EXPECT_EQ(markdown.figures[1].name, "figure-2.svg");
  EXPECT_EQ(markdown.figures[0].svg.find("<b>"), std::string::npos);
  text_with_figures const latex = to_latex(made, "f");
  EXPECT_NE(latex.text.find("\\textbackslash{}"), std::string::npos);
  EXPECT_NE(latex.text.find("\\includesvg[width=0.9\\linewidth]{f/figure-1.svg}"),
            std::string::npos);
  EXPECT_NE(latex.text.find("-{}-{}- `{}` '{}' ,{}, ?{}` fi"), std::string::npos) << latex.text;
  text_with_figures const with_pdf = to_latex(made, "f", figure_form::pdf);
  EXPECT_NE(with_pdf.text.find("\\includegraphics[width=0.9\\linewidth]{f/figure-2.pdf}"),
            std::string::npos);
  EXPECT_NE(with_pdf.text.find("\\usepackage{graphicx}"), std::string::npos);
  EXPECT_EQ(with_pdf.text.find("\\includesvg"), std::string::npos);
  ASSERT_EQ(with_pdf.figures.size(), 2U);
  EXPECT_EQ(with_pdf.figures[1].name, "figure-2.pdf");
  EXPECT_EQ(with_pdf.figures[1].svg, latex.figures[1].svg);
}

using style = eval::column::style;

TEST(forms, blocks_alone_as_text) {
  blocks const some{{heading{2, "a_b"}},
                    {paragraph{"p|q\x01"}},
                    {eval::table{"t", {{"name"}, {"n", style::fixed, 1}}, {{"x", 2}, {"y", 0.25}}}},
                    {chart{.title = "c", .series = {{"s", {{1, 2}}}}}},
                    {heading{2, "last"}}};
  EXPECT_EQ(to_text(some, eval::table_format::table),
            "a_b\np|q\x01\n\nt\nname    n\nx       2\ny     0.2\n\nlast\n");
  EXPECT_EQ(to_text(some, eval::table_format::markdown),
            "## a\\_b\n\np\\|q\x01\n\nt\n\n| name | n |\n| :-- | --: |\n| x | 2 |\n"
            "| y | 0.2 |\n\n## last\n");
}

/// LETOR's 22 measures of systems with these names.
eval::table measured(std::vector<std::string> const& systems) {
  eval::table t{.title = "Means", .columns = {{"system"}, {"documents", style::fixed, 1}}};
  std::vector<std::string> names{"MAP"};
  for (std::string const kind : {"NDCG@", "P@"})
    for (int k = 1; k <= 10; ++k) names.push_back(kind + std::to_string(k));
  names.push_back("MeanNDCG");
  for (std::string const& name : names) t.columns.push_back({name, style::fixed, 4});
  for (std::string const& system : systems) {
    t.rows.push_back({system, 200.0});
    for (std::size_t m = 0; m < names.size(); ++m)
      t.rows.back().push_back(std::string("\u2193\u2193 0.") + std::to_string(1000 + m));
  }
  return t;
}

std::size_t count(std::string const& text, std::string const& of) {
  std::size_t found = 0;
  for (std::size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++found;
  return found;
}

TEST(parts, have_each_column_once_and_the_names) {
  eval::table const whole = measured({"full-rank-3 (baseline)", "random"});
  paper_line const line{.room = 60, .between = 2};
  std::vector<eval::table> const parts = parts_on_paper(whole, line);
  ASSERT_GT(parts.size(), 3U);
  std::size_t next = 1;
  for (eval::table const& part : parts) {
    EXPECT_EQ(part.title, next == 1 ? "Means" : "");
    ASSERT_EQ(part.rows.size(), 2U);
    EXPECT_EQ(part.columns[0].name, "system");
    EXPECT_EQ(part.rows[1][0], whole.rows[1][0]);
    ASSERT_GT(part.columns.size(), 1U);
    for (std::size_t i = 1; i < part.columns.size(); ++i, ++next) {
      EXPECT_EQ(part.columns[i].name, whole.columns[next].name);
      EXPECT_EQ(part.rows[1][i], whole.rows[1][next]);
    }
  }
  EXPECT_EQ(next, whole.columns.size());
  // No name columns; names that fill a line; text columns after the numbers.
  EXPECT_EQ(parts_on_paper(measured({std::string(70, 'x')}), line).size(), 1U);
  eval::table other = whole;
  other.columns[0].shown = style::fixed;
  EXPECT_EQ(parts_on_paper(other, line).size(), 1U);
  other = whole;
  other.columns.back().shown = style::text;
  EXPECT_EQ(parts_on_paper(other, line).size(), 1U);
  EXPECT_EQ(parts_on_paper({}, line).size(), 1U);
}

TEST(parts, what_leads_to_a_measure_is_in_each) {
  eval::table curves{.title = {}, .columns = {{"way"}, {"system"}, {"%", style::general}}};
  for (int i = 0; i < 9; ++i) curves.columns.push_back({"NDCG@" + std::to_string(i), style::fixed});
  std::vector<eval::table> const parts = parts_on_paper(curves, {.room = 40, .between = 1});
  ASSERT_GT(parts.size(), 2U);
  for (eval::table const& part : parts) EXPECT_EQ(part.columns[2].name, "%");
}

TEST(forms, a_wide_table_is_printed_in_parts) {
  document const made{"t", {{measured({"full-rank-3 (baseline)", "random"})}}};
  std::string const latex = to_latex(made, "f").text;
  std::size_t const parts = count(latex, "\\begin{longtable}");
  EXPECT_GE(parts, 3U);
  EXPECT_LE(parts, 5U);
  EXPECT_EQ(count(latex, "\\end{longtable}"), parts);
  EXPECT_EQ(count(latex, "full-rank-3 (baseline) & "), parts);
  EXPECT_EQ(count(latex, "noindent Means"), 1U);
  for (int m = 0; m < 22; ++m) EXPECT_EQ(count(latex, " 0." + std::to_string(1000 + m)), 2U) << m;
  // Nine measures with marks are wider than 17 cm.
  EXPECT_EQ(count(latex, std::string("{l") + std::string(9, 'r')), 0U);
  EXPECT_EQ(count(to_markdown(made, "f").text, ":--"), 1U);
  std::string const page = to_html(made);
  EXPECT_EQ(count(page, "class=\"scroll wide\""), 1U);
  EXPECT_EQ(count(page, "class=\"paper\""), 1U);
  EXPECT_EQ(count(page, " 0.1021</td>"), 4U);
  // Few measures are shown once.
  document few{"t", {{measured({"random"})}}};
  auto& table = std::get<eval::table>(few.blocks[0].of);
  table.columns.resize(8);
  table.rows[0].resize(8);
  EXPECT_EQ(count(to_latex(few, "f").text, "\\begin{longtable}"), 1U);
  EXPECT_EQ(count(to_html(few), "<table"), 1U);
  EXPECT_EQ(count(to_html(few), "class=\"paper\""), 0U);
}

TEST(svg, values_that_cannot_be_drawn_are_left_out) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  chart one{.title = "t", .kind = chart_kind::xy, .x = {"x", true}, .y = {"y"}};
  EXPECT_FALSE(eval::has_points(one));
  one.series.push_back({"s", {{0, 1}, {-1, 1}, {1, nan}}});
  EXPECT_FALSE(eval::has_points(one));
  EXPECT_EQ(to_html({"t", {{one}}}).find("<svg"), std::string::npos);
  for (double const y : {0.0, 1e300, -1e-300}) {
    one.series[0].points.push_back({1, y});
    std::string const picture = eval::page_elements(one);
    EXPECT_EQ(picture.find("nan"), std::string::npos) << picture;
    EXPECT_EQ(picture.find("inf"), std::string::npos) << picture;
  }
  chart columns{.title = "t", .kind = chart_kind::differences, .series = {{"s", {}}}};
  for (int i = 0; i < 10'000; ++i) columns.series[0].points.push_back({0, 5000.0 - i});
  EXPECT_LT(eval::page_elements(columns).size(), 40'000U);  // at most as many columns as fit
  chart const zeros{.title = "t", .kind = chart_kind::differences, .series = {{"s", {{0, 0}}}}};
  EXPECT_EQ(eval::page_elements(zeros).find("nan"), std::string::npos);
}

TEST(svg, series_look_different) {
  chart one{.title = "t", .kind = chart_kind::xy, .x = {"x"}, .y = {"y"}};
  for (int k = 0; k < 32; ++k) one.series.push_back({"s", {{0, 0}, {1, 1}}});
  std::string const picture = eval::page_elements(one);
  std::set<std::string> looks;
  for (std::size_t at = picture.find("<path class=\"line"); at != std::string::npos;
       at = picture.find("<path class=\"line", at + 1))
    looks.insert(picture.substr(at, picture.find(" d=", at) - at));
  EXPECT_EQ(looks.size(), 32U);
}

TEST(svg, a_line_goes_through_its_points) {
  chart one{.title = "t", .kind = chart_kind::xy, .x = {"x"}, .y = {"y"}};
  one.series.push_back({"s", {{0, 0}, {1, 1}, {2, 0}}});
  // A twentieth of the range is free on each side: the middle of 96 .. 616, and 12 + 300 x 1/22.
  EXPECT_NE(eval::page_elements(one).find("L356.0 25.6"), std::string::npos)
      << eval::page_elements(one);
}

}  // namespace
}  // namespace rulerank::report::report_test
