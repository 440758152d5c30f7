#include "eval/svg.hpp"
#include "experiment/curve_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

// The means as SVG: panels side by side, the horizontal axis logarithmic, one legend.
namespace rulerank::inline v0::experiment {

namespace {

using eval::plot_scale;
using eval::value_range;

constexpr double panel_width = 400, panel_height = 240;
constexpr double left_margin = 52, right_margin = 20, top_margin = 28, bottom_margin = 38;
constexpr double legend_line = 20, legend_entry = 105;
constexpr std::array<std::string_view, 8> colours{"#0b6e4f", "#c1440e", "#2b5fa8", "#8a5aab",
                                                  "#8c6d1f", "#555555", "#d6287f", "#1ba3b5"};

std::string text_at(double x, double y, std::string_view words, std::string_view anchor = "middle",
                    int size = 11) {
  return eval::text_element(x, y, words, anchor,
                            fmt::format(R"( font-size="{}" fill="#333")", size)) +
         "\n";
}

std::string path_of(std::string_view points, std::string_view attributes) {
  return fmt::format("<path d=\"{}\" {}/>\n", points, attributes);
}

/// The colour of a system; other libraries' have dashes, ours have whole lines.
std::string look_of(curve_results const& all, std::size_t system) {
  bool const ours =
      std::find(all.ours.begin(), all.ours.end(), all.options.systems[system]) != all.ours.end();
  return fmt::format(R"(stroke="{}" stroke-width="1.8"{})", colours[system % colours.size()],
                     ours ? "" : R"( stroke-dasharray="6 3")");
}

/// One measure of one way: a line for each system.
class panel {
 public:
  /// `x`, `y`: what the axes show; `left`, `top`: its corner.
  panel(value_range x, value_range y, double left, double top)
      : shares_(x),
        left_(left + left_margin),
        right_(left + panel_width - right_margin),
        top_(top + top_margin),
        bottom_(top + panel_height - bottom_margin),
        x_(x, true, left_, right_),
        y_(y, false, bottom_, top_) {}

  std::string axes(std::string_view title) const {
    std::string svg = text_at((left_ + right_) / 2, top_ - 10, title, "middle", 12);
    svg += text_at((left_ + right_) / 2, bottom_ + 32, "labels, % of the training documents");
    for (double const y : y_.ticks()) {
      svg += path_of(fmt::format("M{:.1f} {:.1f}H{:.1f}", left_, y_.at(y), right_),
                     R"(stroke="#ddd")");
      svg += text_at(left_ - 6, y_.at(y) + 4, fmt::format("{:.3f}", y), "end", 10);
    }
    for (int decade = -4; decade <= 0; ++decade)
      for (int const n : {1, 2, 5})
        if (double const share = n * std::pow(10, decade);
            share >= shares_.low && share <= shares_.high) {
          svg +=
              path_of(fmt::format("M{:.1f} {:.1f}v4", x_.at(share), bottom_), R"(stroke="#333")");
          svg +=
              text_at(x_.at(share), bottom_ + 16, fmt::format("{:.3g}", 100 * share), "middle", 10);
        }
    return svg + path_of(fmt::format("M{:.1f} {:.1f}V{:.1f}H{:.1f}", left_, top_, bottom_, right_),
                         R"(fill="none" stroke="#333")");
  }

  std::string line(std::vector<std::pair<double, double>> const& points, std::string_view look,
                   std::string_view colour) const {
    std::string path, dots;
    for (auto const& [x, y] : points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_.at(x), y_.at(y));
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.4\" fill=\"{}\"/>\n", x_.at(x),
                          y_.at(y), colour);
    }
    return path_of(path, fmt::format(R"(fill="none" {})", look)) + dots;
  }

  /// All labels.
  std::string level(double y, std::string_view colour) const {
    return path_of(fmt::format("M{:.1f} {:.1f}H{:.1f}", left_, y_.at(y), right_),
                   fmt::format(R"(stroke="{}" stroke-width="1.2" stroke-dasharray="1 3")", colour));
  }

 private:
  value_range shares_;
  double left_, right_, top_, bottom_;
  plot_scale x_, y_;
};

/// The range of a measure over all ways, with a margin, so that panels can be compared.
value_range range_of(std::vector<curve_summary> const& of, std::size_t measure) {
  value_range y;
  for (curve_summary const& s : of)
    if (s.settings == setting_choice::defaults) y.take(s.means[measure]);
  double const margin = std::max(0.05 * (y.high - y.low), 1e-3);
  return {y.low - margin, y.high + margin};
}

/// What the lines mean, in lines of the picture's width from `top` down; and how high that is.
std::pair<std::string, double> legend(curve_results const& all, double width, double top) {
  auto const a_line =
      std::max<std::size_t>(1, static_cast<std::size_t>((width - left_margin) / legend_entry));
  std::size_t const systems = all.options.systems.size();
  std::string svg;
  for (std::size_t s = 0; s <= systems; ++s) {
    double const x = left_margin + legend_entry * static_cast<double>(s % a_line);
    std::size_t const line = s / a_line + 1;
    double const y = top + legend_line * static_cast<double>(line);
    if (s < systems)
      svg += path_of(fmt::format("M{:.1f} {:.1f}h24", x, y - 4), look_of(all, s)) +
             text_at(x + 30, y, all.options.systems[s], "start");
    else
      svg += text_at(x, y, "dotted: all labels", "start");
  }
  std::size_t const lines = systems / a_line + 1;
  return {svg, legend_line * static_cast<double>(lines) + 10};
}

}  // namespace

std::string drawn(curve_results const& all) {
  std::vector<curve_summary> const of = summaries(all);
  std::vector<std::string> ways;
  value_range x;
  for (curve_summary const& s : of) {
    if (s.settings != setting_choice::defaults) continue;
    x.take(s.budget);
    if (s.way != "all" && std::find(ways.begin(), ways.end(), s.way) == ways.end())
      ways.push_back(s.way);
  }
  if (ways.empty()) ways.emplace_back("all");
  x = {x.low / 1.1, x.high * 1.1};
  auto const measures = static_cast<double>(all.options.measures.size());
  double const width = panel_width * std::max(measures, 1.0);
  double const panels = panel_height * static_cast<double>(ways.size());
  auto const [meanings, legend_height] = legend(all, width, panels);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#fff\"/>\n",
      width, panels + legend_height);
  for (std::size_t w = 0; w < ways.size(); ++w)
    for (std::size_t m = 0; m < all.options.measures.size(); ++m) {
      panel const one(x, range_of(of, m), panel_width * static_cast<double>(m),
                      panel_height * static_cast<double>(w));
      svg += one.axes(fmt::format("{}: {}", ways[w], all.options.measures[m].name()));
      for (std::size_t s = 0; s < all.options.systems.size(); ++s) {
        std::string_view const colour = colours[s % colours.size()];
        std::vector<std::pair<double, double>> points;
        for (curve_summary const& c : of) {
          if (c.settings != setting_choice::defaults || c.system != all.options.systems[s])
            continue;
          if (c.way == ways[w]) points.emplace_back(c.budget, c.means[m]);
          if (c.way == "all") svg += one.level(c.means[m], colour);
        }
        svg += one.line(points, look_of(all, s), colour);
      }
    }
  return svg + meanings + "</svg>\n";
}

}  // namespace rulerank::experiment
