#pragma once

#include "eval/svg.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Charts, and their pictures as SVG.
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::eval {

struct axis {
  std::string label;
  bool logarithmic = false;  ///< points at 0 and below are left out
  value_range covers{};      ///< the axis shows at least this range, whatever the points
};

struct chart_point {
  double x = 0;
  double y = 0;
  std::string name{};      ///< where it has one of its own
  value_range interval{};  ///< drawn as an error bar in charts of the kind `xy`; empty: none
};

struct chart_series {
  std::string name;
  std::vector<chart_point> points;
  bool line = true;  ///< points are joined in their order
  bool marks = true;
};

enum class chart_kind {
  xy,           ///< lines and marks
  differences,  ///< the y of one series as columns side by side, in their order; x is not looked at
  bars,         ///< the y of one series as horizontal bars, each with its point's name
};

/// A picture leaves out values that are not finite. Texts may be any bytes; a picture shows U+FFFD
/// for what is not UTF-8 and for control characters.
struct chart {
  std::string title;
  chart_kind kind = chart_kind::xy;
  axis x{}, y{};
  std::vector<chart_series> series{};
};

/// Whether the picture of a chart shows any point.
bool has_points(chart const& of);
/// Whether a point has an error bar: both ends of its interval are finite.
bool has_interval(chart_point const& p);
/// How far to the right of its x a series is drawn, in units of the picture: where points have
/// error bars, series are next to each other, so that bars of equal x do not cover each other.
double offset_of(chart const& of, std::size_t series);
/// Returns a chart's elements for a page of HTML, whose style sheet has the classes of the colours.
/// The legend and the names of bars are lists, because only the browser knows the width of letters.
std::string page_elements(chart const& of);
/// Returns a chart as an SVG file with a style of its own.
std::string svg_file(chart const& of);
/// Returns several charts of the kind `xy` as one SVG file, row by row with `columns` charts in a
/// row, each below its title. Their series have the same names in the same order: one legend is for
/// all charts. `columns` >= 1; at least one chart.
std::string svg_file(std::span<chart const> of, std::size_t columns);

}  // namespace rulerank::eval
