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

}  // namespace
}  // namespace rulerank::eval::chart_test
