#pragma once

#include "core/context.hpp"
#include "core/output_file.hpp"
#include "eval/chart.hpp"
#include "eval/table.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

// A report as blocks, and its output forms: one HTML page, Markdown, LaTeX.
//
// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::report {

struct heading {
  int level = 2;  ///< 2 or 3; the document's title is level 1
  std::string text;
};

struct paragraph {
  std::string text;
};

using eval::axis;
using eval::chart;
using eval::chart_kind;
using eval::chart_point;
using eval::chart_series;

/// An interactive element made by the page's script; empty without the script and in forms other
/// than HTML. `data`: JSON for the script (docs/reference/modules/report.md).
struct interactive {
  std::string data;
};

struct block;
using blocks = std::vector<block>;

/// A collapsible section; expanded in forms that cannot collapse.
struct details {
  std::string summary;
  blocks inside;
  bool open = false;  ///< on a page without an interactive version
};

struct block {
  std::variant<heading, paragraph, eval::table, chart, interactive, details> of;
};

/// Texts may hold any bytes: the output forms escape them and replace invalid UTF-8 and control
/// characters by U+FFFD.
struct document {
  std::string title;
  std::vector<block> blocks;
};

/// A self-contained page. It can be read and printed without JavaScript.
std::string to_html(document const& of);

/// The format of figures in separate files.
enum class figure_form { svg, pdf };
/// Throws `usage_error` that lists the names.
figure_form figure_form_from(std::string_view name);

struct figure {
  std::string name;  ///< file name that the text refers to, such as `figure-1.svg`
  std::string svg;
};

/// A text and its figures.
struct text_with_figures {
  std::string text;
  std::vector<figure> figures;
};

/// `folder`: path of the figures relative to the text.
text_with_figures to_markdown(document const& of, std::string const& folder,
                              figure_form figures = figure_form::svg);
/// A complete LaTeX document. Needs the packages `geometry` and `longtable`, and for SVG figures
/// the package `svg` (with Inkscape).
text_with_figures to_latex(document const& of, std::string const& folder,
                           figure_form figures = figure_form::svg);

/// Blocks as `table` (plain text with aligned columns) or `markdown`, without title and charts.
/// Invalid UTF-8 and control characters are kept.
std::string to_text(blocks const& of, eval::table_format form);

enum class document_form { html, markdown, latex };
/// Throws `usage_error` that lists the names.
document_form document_form_from(std::string_view name);

struct output_options {
  document_form form = document_form::html;
  figure_form figures = figure_form::svg;
  std::string path = "-";
};

/// Output files of a document: one page; or a text with its figures in the folder NAME-figures next
/// to it, where NAME is the path without its extension. PDF figures are converted by `rsvg-convert`
/// of librsvg from the SVG figures, which are kept next to them.
class document_output {
 public:
  /// Throws `output_error` if the path cannot be written, or if PDF is requested and PATH has no
  /// rsvg-convert; `usage_error` for a text without a path, and for PDF with HTML, which embeds its
  /// figures.
  explicit document_output(output_options options);
  /// Call once. Writes all files or none. Throws `output_error`, and `interrupted` between figures.
  void write(context const& ctx, document const& of);

 private:
  void write_figures(context const& ctx, std::vector<figure> const& figures,
                     std::string const& folder);
  output_options options_;
  std::string converter_;  // path of rsvg-convert, if needed
  output_file out_;
};

/// Whether pages have interactive elements: the library was built with d3.
bool has_interactive_pages();

}  // namespace rulerank::report
