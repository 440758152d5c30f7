#include "eval/chart.hpp"

#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace rulerank::inline v0::eval::chart_test {
namespace {

std::size_t occurrences(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

chart of(std::string title, double y) {
  return {.title = std::move(title), .series = {{"first", {{1, y}, {2, y}}}, {"second", {}}}};
}

TEST(chart, files_hold_several_charts_with_one_legend) {
  std::array const charts{of("a<b", 1), of("c", 2), of("d", 3)};
  std::string const file = svg_file(charts, 2);
  EXPECT_TRUE(file.starts_with("<svg ") && file.ends_with("</svg>"));
  EXPECT_EQ(occurrences(file, "<svg "), 4U);
  EXPECT_EQ(occurrences(file, "</svg>"), 4U);
  EXPECT_EQ(occurrences(file, ">second</text>"), 1U);
  EXPECT_NE(file.find(">a&lt;b</text>"), std::string::npos);
  EXPECT_EQ(file.find("a<b"), std::string::npos);
  EXPECT_EQ(occurrences(file, "<style>"), 1U);
}

TEST(chart, axes_cover_what_is_asked) {
  chart one = of("a", 1);
  std::string const alone = svg_file(one);
  EXPECT_EQ(alone.find(">40</text>"), std::string::npos);
  one.y.covers.take(0);
  one.y.covers.take(50);
  EXPECT_NE(svg_file(one).find(">40</text>"), std::string::npos);
}

TEST(chart, points_have_error_bars) {
  chart one{.title = "a",
            .series = {{"first", {{1, 0.5, {}, {0.25, 1}}, {2, 0.5}}}, {"second", {{1, 0.5}}}}};
  std::string const file = svg_file(one);
  EXPECT_EQ(occurrences(file, "class=\"error s0\""), 1U);
  EXPECT_EQ(occurrences(file, "class=\"error s1\""), 0U);
  EXPECT_NE(file.find("first: 1, 0.5 [0.25, 1]"), std::string::npos) << file;
  // .25 to 1 with a twentieth on each side fill 12 .. 312: 1 is at 25.6, .25 at 298.4. The first of
  // two series is 4 to the left of 96 + 520 / 22.
  EXPECT_NE(file.find("d=\"M112.6 298.4h6m-3 0V25.6m-3 0h6\""), std::string::npos) << file;
  EXPECT_EQ(offset_of(one, 0), -4);
  EXPECT_EQ(offset_of(one, 1), 4);
  one.series.front().points.front().interval = {};
  EXPECT_EQ(offset_of(one, 0), 0);
  EXPECT_EQ(occurrences(svg_file(one), "class=\"error"), 0U);
}

TEST(chart, values_of_any_size_have_places_in_the_picture) {
  constexpr std::array values{5e-324, 1e-300, 1e-9, 1., 1e300, 1.7e308, -1.7e308};
  for (double const low : values)
    for (double const high : values)
      for (int logarithmic = 0; logarithmic < 4; ++logarithmic) {
        chart one{.title = "a", .series = {{"s", {{low, high}, {high, low}, {high, high}}}}};
        one.x.logarithmic = logarithmic % 2 == 1;
        one.y.logarithmic = logarithmic / 2 == 1;
        if (!has_points(one)) continue;
        std::string const file = svg_file(one);
        EXPECT_EQ(occurrences(file, "inf") + occurrences(file, "nan"), 0U)
            << low << " " << high << " " << logarithmic << " " << file;
      }
}

}  // namespace
}  // namespace rulerank::eval::chart_test
