#pragma once

#include "core/context.hpp"
#include "core/output_file.hpp"
#include "eval/chart.hpp"
#include "eval/table.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

// A report as blocks, and its forms: one HTML page, Markdown, LaTeX.
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

/// What the page's script makes a part of that can be clicked; nothing without the script, and in
/// other forms than HTML. `data` is JSON for the script (docs/reference/modules/report.md).
struct interactive {
  std::string data;
};

struct block;
using blocks = std::vector<block>;

/// What is folded away under a line; open in forms that cannot fold.
struct details {
  std::string summary;
  blocks inside;
  bool open = false;  ///< on a page whose script does not show the same
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

/// How the figures beside a text are written.
enum class figure_form { svg, pdf };
/// Throws `usage_error` that lists the names.
figure_form figure_form_from(std::string_view name);

struct figure {
  std::string name;  ///< what the text refers to: `figure-1.svg`, or `figure-1.pdf`
  std::string svg;
};

/// A text and the figures that it refers to.
struct text_with_figures {
  std::string text;
  std::vector<figure> figures;
};

/// `folder`: where the text expects its figures, relative to itself.
text_with_figures to_markdown(document const& of, std::string const& folder,
                              figure_form figures = figure_form::svg);
/// A whole LaTeX document; it needs the packages `geometry` and `longtable` of TeX distributions,
/// and `svg` (with Inkscape) for figures that are SVG.
text_with_figures to_latex(document const& of, std::string const& folder,
                           figure_form figures = figure_form::svg);

/// Blocks as `table` (plain text, tables with aligned columns) or as `markdown`, without a title
/// and without charts. Bytes that are not UTF-8 and control characters stay what they are.
std::string to_text(blocks const& of, eval::table_format form);

enum class document_form { html, markdown, latex };
/// Throws `usage_error` that lists the names.
document_form document_form_from(std::string_view name);

struct output_options {
  document_form form = document_form::html;
  figure_form figures = figure_form::svg;
  std::string path = "-";
};

/// Where a document is written: one page; or a text, and its figures in the folder NAME-figures
/// beside it, where NAME is the path without its ending. Figures in PDF stand beside the SVG ones
/// that they are made of, by `rsvg-convert` of librsvg.
class document_output {
 public:
  /// Throws `output_error` where the path cannot be written, or where PDF is asked for and there is
  /// no rsvg-convert in PATH; `usage_error` for a text without a path, and for PDF with HTML, which
  /// holds its figures.
  explicit document_output(output_options options);
  /// Once; all files or none. Throws `output_error`, and `interrupted` between figures.
  void write(context const& ctx, document const& of);

 private:
  void write_figures(context const& ctx, std::vector<figure> const& figures,
                     std::string const& folder);
  output_options options_;
  std::string converter_;  // rsvg-convert, where it is needed
  output_file out_;
};

/// Whether pages have a part that can be clicked: the library was built with d3.
bool has_interactive_pages();

}  // namespace rulerank::report
