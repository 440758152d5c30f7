// A report of one's own: a table and a chart as one page that requests nothing.
// Prints: a page of its own, with 1 chart
#include "report/document.hpp"

#include <cstdio>
#include <string>

using namespace rulerank;

int main() {
  report::document made{"Two engines", {}};
  made.blocks.push_back({report::heading{2, "Time"}});
  made.blocks.push_back(
      {eval::table{.title = "",
                   .columns = {{"engine"}, {"seconds", eval::column::style::fixed, 1}},
                   .rows = {{"<slow>", 2.0}, {"fast", 0.5}}}});
  made.blocks.push_back(
      {report::chart{.title = "Seconds",
                     .kind = report::chart_kind::bars,
                     .x = {},
                     .y = {"seconds"},
                     .series = {{"seconds", {{0, 2.0, "<slow>"}, {0, 0.5, "fast"}}}}}});
  std::string const page = report::to_html(made);
  bool const own =
      page.find("http-equiv") != std::string::npos && page.find("<slow>") == std::string::npos;
  auto const charts = report::to_markdown(made, "figures").figures.size();
  std::printf("%s, with %zu chart\n", own ? "a page of its own" : "not escaped", charts);
}
