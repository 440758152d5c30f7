#include "eval/svg.hpp"
#include "report/card_sheet.hpp"
#include "report/escape.hpp"
#include "report/page.hpp"

#include <cmath>

#include <fmt/format.h>

// A card as an HTML page: a table per feature with a column per bin.
namespace rulerank::inline v0::report {

namespace {

constexpr std::string_view sheet_css = R"(
:root{color-scheme:light dark;--ink:#1d2126;--soft:#59616b;--line:#d7dbe0;--paper:#fff;--up:#0072b2;--down:#d55e00}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e7eaee;--soft:#a6aeb8;--line:#3a4149;--paper:#15181c;--up:#56b4e9;--down:#e69f00}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:52rem;padding:1rem;font:14px/1.3 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.4em;margin:0 0 .3em;overflow-wrap:anywhere}
p{margin:.1rem 0}
section{margin:.6rem 0 0;overflow-x:auto;break-inside:avoid}
h2{font-size:1.1em;margin:0;overflow-wrap:anywhere}
h2 span{font-weight:normal;color:var(--soft)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.85em;line-height:1.2}
th,td{text-align:center;padding:0 .25em;font-weight:normal;white-space:nowrap;min-width:4.2em}
th[scope=row]{text-align:left;color:var(--soft);min-width:6em}
thead{border-bottom:1px solid var(--line)}
.points td{font-weight:bold}
svg{display:block;width:2.4em;height:1.8em;margin:auto}
.up{fill:var(--up)}.down{fill:var(--down)}
@page{size:A4;margin:9mm 12mm}
@media print{body{max-width:none;padding:0;font-size:8.5pt}section{margin:1.4mm 0 0;overflow:visible}
:root{--ink:#000;--soft:#333;--line:#999;--paper:#fff}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)";

/// A bar from the zero line, upwards or downwards.
std::string bar_svg(double bar, bar_scale const& scale) {
  double const height = std::abs(bar) * scale.unit;
  double const top = 1 - scale.zero - (bar < 0 ? 0 : height);
  return eval::stretched_picture(
      100, 100,
      fmt::format("<rect class=\"{}\" width=\"100\" y=\"{:.2f}\" height=\"{:.2f}\"/>",
                  bar < 0 ? "down" : "up", 100 * top, 100 * height));
}

std::string strip_html(card_strip const& strip, bar_scale const& scale) {
  std::string made = "<table>\n<thead><tr><th scope=\"row\"></th>";
  for (double const bar : strip.bars) made += fmt::format("<td>{}</td>", bar_svg(bar, scale));
  made += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < strip.labels.size(); ++r) {
    made += fmt::format("<tr{}><th scope=\"row\">{}</th>",
                        strip.labels[r] == "points" ? " class=\"points\"" : "",
                        escape_html(strip.labels[r]));
    for (auto const& column : strip.columns)
      made += fmt::format("<td>{}</td>", escape_html(column[r]));
    made += "</tr>\n";
  }
  return made + "</tbody></table>\n";
}

}  // namespace

std::string sheet_html(card_sheet const& of, std::string const& title) {
  std::string body = fmt::format("<h1>{}</h1>\n", escape_html(title));
  auto const add_lines = [&](std::vector<std::string> const& lines) {
    for (std::string const& line : lines) body += fmt::format("<p>{}</p>\n", escape_html(line));
  };
  constexpr double room = 118;  // characters per line
  auto const width = [](std::string_view text) { return static_cast<double>(text.size()); };
  auto const add_strips = [&](std::vector<card_strip> const& strips) {
    bar_scale const scale = scale_of(strips);
    for (card_strip const& one : strips) {
      body += fmt::format("<section>\n<h2>{} <span>{}</span></h2>\n", escape_html(one.title),
                          escape_html(one.about));
      for (card_strip const& part : parts_of(one, room, 2, width)) body += strip_html(part, scale);
      body += "</section>\n";
    }
  };
  add_lines(of.head);
  add_strips(of.features);
  add_strips(of.totals);
  body += "<section>\n";
  add_lines(of.foot);
  body += "</section>\n";
  return page_of(title, sheet_css, body);
}

}  // namespace rulerank::report
