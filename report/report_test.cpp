#include "report/document.hpp"
#include "report/escape.hpp"
#include "report/svg.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace rulerank::report {
namespace {

std::string const evil = "</script><b>\"'&|_ \\ $ {%\xff\x01 --- `` '' ,, ?` fi";

document hostile() {
  document made{evil, {}};
  made.blocks.push_back({heading{2, evil}});
  made.blocks.push_back({paragraph{evil}});
  made.blocks.push_back({eval::table{.title = evil, .columns = {{evil}}, .rows = {{evil}}}});
  chart one{.title = evil, .kind = chart_kind::xy, .x = {evil}, .y = {evil}, .series = {}};
  one.series.push_back({evil, {{1, 2, evil}, {2, 3}}});
  made.blocks.push_back({one});
  one.kind = chart_kind::bars;
  made.blocks.push_back({one});
  made.blocks.push_back({details{evil, {{paragraph{evil}}, {interactive{{{"kind", evil}}}}}}});
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
  EXPECT_EQ(ends, has_interactive_pages() ? 3U : 0U);
  text_with_figures const markdown = to_markdown(made, "f");
  EXPECT_EQ(markdown.text.find("<b>"), std::string::npos);
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

TEST(svg, values_that_cannot_be_drawn_are_left_out) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  chart one{.title = "t", .kind = chart_kind::xy, .x = {"x", true}, .y = {"y"}, .series = {}};
  EXPECT_FALSE(has_points(one));
  one.series.push_back({"s", {{0, 1}, {-1, 1}, {1, nan}}});
  EXPECT_FALSE(has_points(one));
  EXPECT_EQ(to_html({"t", {{one}}}).find("<svg"), std::string::npos);
  for (double const y : {0.0, 1e300, -1e-300}) {
    one.series[0].points.push_back({1, y});
    std::string const picture = drawn(one);
    EXPECT_EQ(picture.find("nan"), std::string::npos) << picture;
    EXPECT_EQ(picture.find("inf"), std::string::npos) << picture;
  }
  chart columns{
      .title = "t", .kind = chart_kind::differences, .x = {}, .y = {}, .series = {{"s", {}}}};
  for (int i = 0; i < 10'000; ++i) columns.series[0].points.push_back({0, 5000.0 - i});
  EXPECT_LT(drawn(columns).size(), 40'000U);  // as many columns as there is room for
  chart const zeros{
      .title = "t", .kind = chart_kind::differences, .x = {}, .y = {}, .series = {{"s", {{0, 0}}}}};
  EXPECT_EQ(drawn(zeros).find("nan"), std::string::npos);
}

TEST(svg, series_look_different) {
  chart one{.title = "t", .kind = chart_kind::xy, .x = {"x"}, .y = {"y"}, .series = {}};
  for (int k = 0; k < 32; ++k) one.series.push_back({"s", {{0, 0}, {1, 1}}});
  std::string const picture = drawn(one);
  std::set<std::string> looks;
  for (std::size_t at = picture.find("<path class=\"line"); at != std::string::npos;
       at = picture.find("<path class=\"line", at + 1))
    looks.insert(picture.substr(at, picture.find(" d=", at) - at));
  EXPECT_EQ(looks.size(), 32U);
}

TEST(svg, a_line_goes_through_its_points) {
  chart one{.title = "t", .kind = chart_kind::xy, .x = {"x"}, .y = {"y"}, .series = {}};
  one.series.push_back({"s", {{0, 0}, {1, 1}, {2, 0}}});
  // A twentieth of the range is left free on each side: the middle of 96 .. 616, and 12 + 300 x
  // 1/22.
  EXPECT_NE(drawn(one).find("L356.0 25.6"), std::string::npos) << drawn(one);
}

}  // namespace
}  // namespace rulerank::report
