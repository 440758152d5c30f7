#pragma once

#include "eval/table.hpp"

#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

// A report as blocks, and its forms: one HTML page, Markdown, LaTeX.
//
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::report {

struct heading {
  int level = 2;  ///< 2 or 3; the document's title is level 1
  std::string text;
};

struct paragraph {
  std::string text;
};

struct axis {
  std::string label;
  bool logarithmic = false;  ///< points at 0 and below are left out
};

struct chart_point {
  double x = 0;
  double y = 0;
  std::string name{};  ///< where it has one of its own
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

/// Drawn as SVG; values that are not finite are left out.
struct chart {
  std::string title;
  chart_kind kind = chart_kind::xy;
  axis x, y;
  std::vector<chart_series> series;
};

/// What the page's script makes a part of that can be clicked; nothing without the script, and in
/// other forms than HTML. `data` is for the script (docs/modules/report.md).
struct interactive {
  nlohmann::ordered_json data;
};

struct block;

/// What is folded away under a line; open in forms that cannot fold.
struct details {
  std::string summary;
  std::vector<block> inside;
};

struct block {
  std::variant<heading, paragraph, eval::table, chart, interactive, details> of;
};

/// Texts are any bytes: the forms escape them, and show U+FFFD for what is not UTF-8 and for
/// control characters.
struct document {
  std::string title;
  std::vector<block> blocks;
};

/// One page that asks for nothing else. It can be read and printed without JavaScript.
std::string to_html(document const& of);

struct figure {
  std::string name;  ///< `figure-1.svg`, ...
  std::string svg;
};

/// A text and the figures that it refers to.
struct text_with_figures {
  std::string text;
  std::vector<figure> figures;
};

/// `folder`: where the text expects its figures, relative to itself.
text_with_figures to_markdown(document const& of, std::string const& folder);
/// A whole LaTeX document; its figures need the packages `svg` and `longtable` of TeX
/// distributions.
text_with_figures to_latex(document const& of, std::string const& folder);

/// Whether pages have a part that can be clicked: the library was built with d3.
bool has_interactive_pages();

}  // namespace rulerank::report
