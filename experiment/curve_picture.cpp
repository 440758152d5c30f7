#include "experiment/curve_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

// The means as SVG: panels side by side, the horizontal axis logarithmic, one legend.
namespace rulerank::experiment {

namespace {

constexpr double panel_width = 400, panel_height = 240;
constexpr double left_margin = 52, right_margin = 20, top_margin = 28, bottom_margin = 38;
constexpr double legend_line = 20, legend_entry = 105;
constexpr std::array<std::string_view, 8> colours{"#0b6e4f", "#c1440e", "#2b5fa8", "#8a5aab",
                                                  "#8c6d1f", "#555555", "#d6287f", "#1ba3b5"};
/// Of other libraries' systems; ours have whole lines.
constexpr std::string_view dashes = " stroke-dasharray=\"6 3\"";

struct range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
};

std::string text_at(double x, double y, std::string_view words, std::string_view anchor = "middle",
                    int size = 11) {
  std::string escaped;
  for (char const c : words)
    escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return fmt::format(
      R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{}" fill="#333">{}</text>)"
      "\n",
      x, y, anchor, size, escaped);
}

/// One measure of one way: a line for each system.
class panel {
 public:
  /// `x`, `y`: what the axes show; `left`, `top`: its corner.
  panel(range x, range y, double left, double top)
      : x_(x),
        y_(y),
        left_(left + left_margin),
        right_(left + panel_width - right_margin),
        top_(top + top_margin),
        bottom_(top + panel_height - bottom_margin) {}

  std::string axes(std::string_view title) const {
    std::string svg = text_at((left_ + right_) / 2, top_ - 10, title, "middle", 12);
    svg += text_at((left_ + right_) / 2, bottom_ + 32, "labels, % of the training documents");
    double const step = round_step((y_.high - y_.low) / 5);
    auto const last = static_cast<int>(std::floor(y_.high / step));
    for (auto i = static_cast<int>(std::ceil(y_.low / step)); i <= last; ++i) {
      svg += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#ddd\"/>\n", left_,
                         at_y(i * step), right_);
      svg += text_at(left_ - 6, at_y(i * step) + 4, fmt::format("{:.3f}", i * step), "end", 10);
    }
    for (int decade = -4; decade <= 0; ++decade)
      for (int const n : {1, 2, 5})
        if (double const share = n * std::pow(10, decade); share >= x_.low && share <= x_.high) {
          svg +=
              fmt::format("<path d=\"M{:.1f} {:.1f}v4\" stroke=\"#333\"/>\n", at_x(share), bottom_);
          svg +=
              text_at(at_x(share), bottom_ + 16, fmt::format("{:.3g}", 100 * share), "middle", 10);
        }
    return svg + fmt::format(
                     "<path d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\" fill=\"none\" "
                     "stroke=\"#333\"/>\n",
                     left_, top_, bottom_, right_);
  }

  std::string line(std::vector<std::pair<double, double>> const& points, std::string_view colour,
                   std::string_view dash) const {
    std::string path, dots;
    for (auto const& [x, y] : points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", at_x(x), at_y(y));
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.4\" fill=\"{}\"/>\n", at_x(x),
                          at_y(y), colour);
    }
    return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{}/>\n{}",
                       path, colour, dash, dots);
  }

  /// All labels.
  std::string level(double y, std::string_view colour) const {
    return fmt::format(
        "<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"{}\" stroke-width=\"1.2\" "
        "stroke-dasharray=\"1 3\"/>\n",
        left_, at_y(y), right_, colour);
  }

 private:
  /// 1, 2 or 5 times a power of ten, at least `least`.
  static double round_step(double least) {
    double const decade = std::pow(10, std::floor(std::log10(least)));
    for (int const n : {1, 2, 5})
      if (n * decade >= least) return n * decade;
    return 10 * decade;
  }
  double at_x(double x) const {
    return left_ + (right_ - left_) * std::log(x / x_.low) / std::log(x_.high / x_.low);
  }
  double at_y(double y) const {
    return bottom_ - (bottom_ - top_) * (y - y_.low) / (y_.high - y_.low);
  }

  range x_, y_;
  double left_, right_, top_, bottom_;
};

/// The range of a measure over all ways, with a margin, so that panels can be compared.
range range_of(std::vector<curve_summary> const& of, std::size_t measure) {
  range y;
  for (curve_summary const& s : of)
    if (s.settings == setting_choice::defaults) y.take(s.means[measure]);
  double const margin = std::max(0.05 * (y.high - y.low), 1e-3);
  return {y.low - margin, y.high + margin};
}

/// What the lines mean, in lines of the picture's width.
class legend {
 public:
  legend(curve_results const& all, double width)
      : all_(all),
        a_line_(std::max<std::size_t>(
            1, static_cast<std::size_t>((width - left_margin) / legend_entry))) {}

  double height() const {
    std::size_t const lines = all_.options.systems.size() / a_line_ + 1;
    return legend_line * static_cast<double>(lines) + 10;
  }

  std::string at(double top) const {
    std::string svg;
    for (std::size_t s = 0; s < all_.options.systems.size(); ++s) {
      auto const [x, y] = place(s, top);
      svg += fmt::format("<path d=\"M{:.1f} {:.1f}h24\" stroke=\"{}\" stroke-width=\"1.8\"{}/>\n",
                         x, y - 4, colours[s % colours.size()], dash_of(all_, s));
      svg += text_at(x + 30, y, all_.options.systems[s], "start");
    }
    auto const [x, y] = place(all_.options.systems.size(), top);
    return svg + text_at(x, y, "dotted: all labels", "start");
  }

  static std::string_view dash_of(curve_results const& all, std::size_t system) {
    bool const ours =
        std::find(all.ours.begin(), all.ours.end(), all.options.systems[system]) != all.ours.end();
    return ours ? std::string_view() : dashes;
  }

 private:
  std::pair<double, double> place(std::size_t entry, double top) const {
    std::size_t const line = entry / a_line_;
    return {left_margin + legend_entry * static_cast<double>(entry % a_line_),
            top + legend_line * static_cast<double>(line + 1)};
  }

  curve_results const& all_;
  std::size_t a_line_;  // entries of a line
};

}  // namespace

std::string drawn(curve_results const& all) {
  std::vector<curve_summary> const of = summaries(all);
  std::vector<std::string> ways;
  range x;
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
  legend const meanings(all, width);
  double const panels = panel_height * static_cast<double>(ways.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#fff\"/>\n",
      width, panels + meanings.height());
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
        svg += one.line(points, colour, legend::dash_of(all, s));
      }
    }
  return svg + meanings.at(panels) + "</svg>\n";
}

}  // namespace rulerank::experiment
