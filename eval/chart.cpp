#include "eval/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

// Charts as SVG. Elements of series k have the class `s` followed by k modulo 8, which sets the
// colour; 4 marks and dash patterns make 32 distinct series. The colours are those of M. Okabe and
// K. Ito, Color universal design, 2008. Three of them have too little contrast on white and are
// replaced by darker ones that remain distinguishable without red, green or blue cones.
namespace rulerank::inline v0::eval {

namespace {

constexpr double width = 640, plot_height = 300, left = 96, right = 24, top = 12, below = 54;
constexpr double plot_bottom = top + plot_height, picture_height = plot_bottom + below + 4;
constexpr double legend_line = 18, letter = 6.4;  // approximate, at the legend's font size
constexpr std::size_t colours = 8;
constexpr std::array<std::string_view, 4> dashes{
    "", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"2 3\"", " stroke-dasharray=\"9 3 2 3\""};

/// The mark and dash pattern of a series: they change each time the colours repeat.
std::size_t look_of(std::size_t series) {
  return (series + series / colours) % dashes.size();
}

/// The classes of the page's style sheet, for a standalone figure.
constexpr std::string_view own_style =
    "<style>text{font:11px sans-serif;fill:#222}.grid{stroke:#ddd}.axis{stroke:#555;fill:none}"
    ".line{fill:none;stroke-width:1.8}"
    ".s0{stroke:#0072b2;fill:#0072b2}.s1{stroke:#d55e00;fill:#d55e00}"
    ".s2{stroke:#009e73;fill:#009e73}.s3{stroke:#cc79a7;fill:#cc79a7}"
    ".s4{stroke:#000000;fill:#000000}.s5{stroke:#7b1f5c;fill:#7b1f5c}"
    ".s6{stroke:#6b4a00;fill:#6b4a00}.s7{stroke:#2a2aa0;fill:#2a2aa0}"
    ".line,.error{fill:none}.bar{stroke:none}</style>";

bool can_show(double x, axis const& on) {
  return std::isfinite(x) && (!on.logarithmic || x > 0);
}

bool can_show(chart_point const& p, chart const& of) {
  return (of.kind != chart_kind::xy || can_show(p.x, of.x)) && can_show(p.y, of.y);
}

bool shows_interval(chart_point const& p, chart const& of) {
  return has_interval(p) && can_show(p.interval.low, of.y) && can_show(p.interval.high, of.y);
}

std::string cut(std::string const& text, std::size_t most) {
  std::string shown = clean_text(text);
  std::size_t letters = 0, at = 0;
  for (; at < shown.size(); ++at)
    if ((static_cast<unsigned char>(shown[at]) & 0xC0U) != 0x80U && ++letters > most) break;
  return at < shown.size() ? shown.substr(0, at) + "…" : shown;
}

std::string text_at(double x, double y, std::string_view words, std::string_view anchor) {
  return text_element(x, y, clean_text(words), anchor);
}

std::string number(double x) {
  if (x != 0 && (std::abs(x) >= 1e6 || std::abs(x) < 1e-4)) return fmt::format("{:.0e}", x);
  return fmt::format("{:.6g}", x);
}

std::string mark(std::size_t series, double x, double y, std::string_view title) {
  constexpr std::array<std::string_view, 4> shapes{
      "M{:.1f} {:.1f}m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0", "M{:.1f} {:.1f}m-3-3h6v6h-6z",
      "M{:.1f} {:.1f}m-3.5 3h7l-3.5-6.5z", "M{:.1f} {:.1f}m-4 0l4-4l4 4l-4 4z"};
  return fmt::format("<path class=\"s{}\" d=\"{}\"><title>{}</title></path>", series % colours,
                     fmt::format(fmt::runtime(shapes[look_of(series)]), x, y), clean_xml(title));
}

std::string line_path(std::size_t series, std::string_view points) {
  return fmt::format("<path class=\"line s{}\"{} d=\"{}\"/>", series % colours,
                     dashes[look_of(series)], points);
}

/// An error bar with caps.
std::string error_bar(std::size_t series, double x, double low, double high) {
  return fmt::format("<path class=\"error s{}\" d=\"M{:.1f} {:.1f}h6m-3 0V{:.1f}m-3 0h6\"/>",
                     series % colours, x - 3, low, high);
}

std::string axes(chart const& of, plot_scale const& x, plot_scale const& y) {
  constexpr double bottom = plot_bottom;
  std::string svg;
  for (double const v : y.ticks()) {
    svg += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", left, y.at(v),
                       width - right);
    svg += text_at(left - 6, y.at(v) + 4, number(v), "end");
  }
  if (of.kind == chart_kind::xy)
    for (double const v : x.ticks()) {
      svg += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}v4\"/>", x.at(v), bottom);
      svg += text_at(x.at(v), bottom + 18, number(v), "middle");
    }
  svg += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>", left, top, bottom,
                     width - right);
  svg += text_at((left + width - right) / 2, bottom + 44, of.x.label, "middle");
  return svg + fmt::format(
                   "<text transform=\"translate(17 {:.1f}) rotate(-90)\" "
                   "text-anchor=\"middle\">{}</text>",
                   (top + bottom) / 2, clean_xml(of.y.label));
}

std::string series_path(chart const& of, std::size_t s, plot_scale const& x, plot_scale const& y) {
  chart_series const& one = of.series[s];
  double const offset = offset_of(of, s);
  std::string path, marks;
  for (chart_point const& p : one.points) {
    if (!can_show(p, of)) continue;
    double const at = x.at(p.x) + offset;
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", at, y.at(p.y));
    if (shows_interval(p, of))
      marks += error_bar(s, at, y.at(p.interval.low), y.at(p.interval.high));
    if (one.marks)
      marks +=
          mark(s, at, y.at(p.y),
               fmt::format("{}: {}, {:.6g}{}", p.name.empty() ? one.name : p.name, number(p.x), p.y,
                           shows_interval(p, of)
                               ? fmt::format(" [{:.6g}, {:.6g}]", p.interval.low, p.interval.high)
                               : std::string()));
  }
  return one.line && !path.empty() ? line_path(s, path) + marks : marks;
}

/// The legend in lines of width `wide`, from y = `begin`, and its height.
std::pair<std::string, double> legend(chart const& of, double begin, double wide) {
  std::string svg;
  double x = left, y = begin;
  for (std::size_t s = 0; s < of.series.size(); ++s) {
    std::string const name = cut(of.series[s].name, 60);
    double const room = 44 + letter * static_cast<double>(name.size());
    if (x > left && x + room > wide) {
      x = left;
      y += legend_line;
    }
    if (of.series[s].line) svg += line_path(s, fmt::format("M{:.1f} {:.1f}h26", x, y));
    if (of.series[s].marks) svg += mark(s, x + 13, y, of.series[s].name);
    svg += text_at(x + 31, y + 4, name, "start");
    x += room;
  }
  return {svg, y - begin + legend_line};
}

bool has_legend(chart const& of) {
  return of.kind == chart_kind::xy && of.series.size() > 1;
}

/// The legend as a list.
std::string legend_list(chart const& of) {
  std::string list = "<ul class=\"legend\">";
  for (std::size_t s = 0; s < of.series.size(); ++s) {
    list += "<li><svg viewBox=\"0 0 30 12\" aria-hidden=\"true\">";
    if (of.series[s].line) list += line_path(s, "M0 6h28");
    if (of.series[s].marks) list += mark(s, 14, 6, of.series[s].name);
    list += fmt::format("</svg> {}</li>", clean_xml(of.series[s].name));
  }
  return list + "</ul>";
}

/// Adjacent columns, those above 0 and those below as one path each; if there are too many, each
/// drawn column is the mean of several.
std::string columns(chart const& of, plot_scale const& y) {
  std::vector<double> values;
  for (chart_point const& p : of.series.front().points)
    if (can_show(p, of)) values.push_back(p.y);
  std::size_t const most = 640, each = (values.size() + most - 1) / most;
  std::size_t const count = (values.size() + each - 1) / each;
  double const step = (width - left - right) / static_cast<double>(count);
  std::array<std::string, 2> paths;
  for (std::size_t c = 0; c < count; ++c) {
    std::size_t const end = std::min(values.size(), (c + 1) * each);
    double mean = 0;
    for (std::size_t i = c * each; i < end; ++i) mean += values[i];
    mean /= static_cast<double>(end - c * each);
    if (mean == 0) continue;
    paths[mean < 0 ? 1 : 0] +=
        fmt::format("M{:.2f} {:.1f}V{:.1f}h{:.2f}V{:.1f}z", left + step * static_cast<double>(c),
                    y.at(0), y.at(mean), step, y.at(0));
  }
  return fmt::format("<path class=\"bar s0\" d=\"{}\"/><path class=\"bar s1\" d=\"{}\"/>", paths[0],
                     paths[1]);
}

/// The start tag of a figure. `attributes` begins with a blank.
std::string opened(std::string_view title, double wide, double height,
                   std::string_view attributes = {}) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\"{} role=\"img\">"
      "<title>{}</title>",
      wide, height, attributes, clean_xml(title));
}

/// The start of a file with one figure.
std::string opened_file(std::string_view title, double wide, double height) {
  return opened(title, wide, height,
                fmt::format(" width=\"{:.0f}\" height=\"{:.0f}\"", wide, height)) +
         std::string(own_style);
}

/// A bar to display.
struct bar {
  std::string_view name;
  double value, length;
};

std::vector<bar> bars_of(chart const& of, double longest) {
  std::vector<bar> found;
  double most = 0;
  for (chart_point const& p : of.series.front().points) {
    found.push_back({p.name, std::isfinite(p.y) ? p.y : 0, 0});
    most = std::max(most, std::abs(found.back().value));
  }
  for (bar& one : found) one.length = most > 0 ? std::abs(one.value) / most * longest : 0;
  return found;
}

std::string path_of(bar const& one, double x, double y, double height) {
  return fmt::format("<path class=\"bar s{}\" d=\"M{:.1f} {:.1f}h{:.1f}v{:.0f}h-{:.1f}z\">",
                     one.value < 0 ? 1 : 0, x, y, one.length, height, one.length) +
         fmt::format("<title>{}</title></path>", clean_xml(one.name));
}

/// Bars as a standalone figure.
std::string bars(chart const& of) {
  constexpr double line = 20, names = 260, value_room = 70;
  auto const shown = bars_of(of, width - names - value_room - right);
  std::string svg = opened_file(of.title, width, line * static_cast<double>(shown.size()) + 24);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    double const y = line * static_cast<double>(i) + 4;
    svg += text_at(names - 6, y + 12, cut(std::string(shown[i].name), 34), "end");
    svg += path_of(shown[i], names, y, 14);
    svg += text_at(names + shown[i].length + 5, y + 12, fmt::format("{:.4g}", shown[i].value),
                   "start");
  }
  return svg + text_at(names, line * static_cast<double>(shown.size()) + 16, of.y.label, "start") +
         "</svg>";
}

/// Bars as a list of names, bars and values.
std::string list_of_bars(chart const& of) {
  std::string list = "<ul class=\"bars\">";
  for (bar const& one : bars_of(of, 100))
    list += fmt::format("<li><span>{}</span>{}<span class=\"n\">{:.4g}</span></li>",
                        clean_xml(one.name), stretched_picture(100, 14, path_of(one, 0, 0, 14)),
                        one.value);
  return list + fmt::format("</ul><p>{}</p>", clean_xml(of.y.label));
}

/// The contents of a figure without its legend; its height is `plot_bottom` + `below`.
std::string plot(chart const& of) {
  value_range over_x = of.x.covers, over_y = of.y.covers;
  for (chart_series const& one : of.series)
    for (chart_point const& p : one.points)
      if (can_show(p, of)) {
        over_x.take(p.x);
        over_y.take(p.y);
        if (!shows_interval(p, of)) continue;
        over_y.take(p.interval.low);
        over_y.take(p.interval.high);
      }
  if (of.kind == chart_kind::differences) over_y.take(0);
  auto const x = plot_scale::with_margins(over_x, of.kind == chart_kind::xy && of.x.logarithmic,
                                          left, width - right);
  auto const y = plot_scale::with_margins(over_y, of.y.logarithmic, plot_bottom, top);
  std::string svg;
  svg += axes(of, x, y);
  if (of.kind == chart_kind::differences)
    svg += columns(of, y);
  else
    for (std::size_t s = 0; s < of.series.size(); ++s) svg += series_path(of, s, x, y);
  return svg;
}

}  // namespace

bool has_points(chart const& of) {
  return std::ranges::any_of(of.series, [&](chart_series const& one) {
    return std::ranges::any_of(one.points, [&](chart_point const& p) { return can_show(p, of); });
  });
}

bool has_interval(chart_point const& p) {
  return std::isfinite(p.interval.low) && std::isfinite(p.interval.high);
}

double offset_of(chart const& of, std::size_t series) {
  if (std::ranges::none_of(of.series, [](chart_series const& one) {
        return std::ranges::any_of(one.points, has_interval);
      }))
    return 0;
  constexpr double step = 8, most = 32;  // an error bar's cap is 6 wide
  auto const count = static_cast<double>(of.series.size());
  return std::min(step, most / count) * (static_cast<double>(series) - (count - 1) / 2);
}

std::string page_elements(chart const& of) {
  if (of.kind == chart_kind::bars) return list_of_bars(of);
  return opened(of.title, width, picture_height) + plot(of) + "</svg>" +
         (has_legend(of) ? legend_list(of) : std::string());
}

std::string svg_file(chart const& of) {
  if (of.kind == chart_kind::bars) return bars(of);
  auto const meanings = has_legend(of) ? legend(of, plot_bottom + below + 8, width)
                                       : std::pair<std::string, double>();
  return opened_file(of.title, width, picture_height + meanings.second) + plot(of) +
         meanings.first + "</svg>";
}

std::string svg_file(std::span<chart const> of, std::size_t columns) {
  constexpr double title_height = 24, cell_height = title_height + picture_height;
  double const wide = width * static_cast<double>(columns);
  std::size_t const rows = (of.size() + columns - 1) / columns;
  double const high = cell_height * static_cast<double>(rows);
  auto const meanings = legend(of.front(), high + 8, wide);
  std::string svg = opened_file(of.front().title, wide, high + meanings.second + 8);
  for (std::size_t i = 0; i < of.size(); ++i) {
    double const x = width * static_cast<double>(i % columns);
    std::size_t const row = i / columns;
    double const y = cell_height * static_cast<double>(row);
    svg += text_at(x + (left + width - right) / 2, y + 18, of[i].title, "middle");
    svg += opened(of[i].title, width, picture_height,
                  fmt::format(" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\"", x,
                              y + title_height, width, picture_height)) +
           plot(of[i]) + "</svg>";
  }
  return svg + meanings.first + "</svg>";
}

}  // namespace rulerank::eval
