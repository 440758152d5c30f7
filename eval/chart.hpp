#pragma once

#include "eval/svg.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Charts, and their rendering as SVG.
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::eval {

struct axis {
  std::string label;
  bool logarithmic = false;  ///< omits points at 0 and below
  value_range covers{};      ///< the axis includes this range
};

struct chart_point {
  double x = 0;
  double y = 0;
  std::string name{};      ///< if it has one
  value_range interval{};  ///< error bar in charts of kind `xy`; empty: none
};

struct chart_series {
  std::string name;
  std::vector<chart_point> points;
  bool line = true;  ///< connects points in order
  bool marks = true;
};

enum class chart_kind {
  xy,           ///< lines and marks
  differences,  ///< the y of one series as adjacent columns in order; ignores x
  bars,         ///< the y of one series as horizontal bars with the points' names
};

/// Renderings omit values that are not finite. Texts may be any bytes; invalid UTF-8 and control
/// characters are shown as U+FFFD.
struct chart {
  std::string title;
  chart_kind kind = chart_kind::xy;
  axis x{}, y{};
  std::vector<chart_series> series{};
};

/// Whether the chart shows any point.
bool has_points(chart const& of);
/// Whether a point has an error bar: both ends of its interval are finite.
bool has_interval(chart_point const& p);
/// The x offset of a series, in the figure's units: with error bars, series are shifted so that
/// bars of equal x do not overlap.
double offset_of(chart const& of, std::size_t series);
/// A chart's elements for an HTML page whose style sheet has the classes of the colours. The legend
/// and the names of bars are lists, because only the browser knows the width of text.
std::string page_elements(chart const& of);
/// A chart as an SVG file with its own style.
std::string svg_file(chart const& of);
/// Several charts of kind `xy` as one SVG file, in rows of `columns` charts, each below its title.
/// Their series must have equal names in equal order, because they share one legend. `columns` >=
/// 1; at least one chart.
std::string svg_file(std::span<chart const> of, std::size_t columns);

}  // namespace rulerank::eval
