#include "report/document.hpp"
#include "report/escape.hpp"
#include "report/paper_tables.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

// Documents as plain text, Markdown and LaTeX. eval::render writes the tables.
namespace rulerank::inline v0::report {

namespace {

using eval::table_format;

eval::table cleaned(eval::table t) {
  t.title = clean(t.title);
  for (eval::column& c : t.columns) c.name = clean(c.name);
  for (auto& row : t.rows)
    for (eval::cell& c : row)
      if (auto* const text = std::get_if<std::string>(&c)) *text = clean(*text);
  return t;
}

/// Writes blocks in sequence; virtual functions implement the differences between forms.
class writer {
 public:
  /// Omits charts and keeps bytes unchanged.
  writer() = default;
  writer(std::string folder, figure_form figures)
      : is_raw_(false), folder_(std::move(folder)), figures_(figures) {}
  virtual ~writer() = default;

  void write(blocks const& all) {
    for (block const& one : all) std::visit([this](auto const& of) { this->add(of); }, one.of);
  }
  text_with_figures made;

 protected:
  bool has_pdf() const { return figures_ == figure_form::pdf; }
  std::string shown(std::string const& text, table_format format) const {
    return escaped(is_raw_ ? text : clean(text), format);
  }
  eval::table shown(eval::table const& of) const { return is_raw_ ? of : cleaned(of); }
  virtual void add(heading const& of) = 0;
  virtual void add(paragraph const& of) = 0;
  virtual void add(eval::table const& of) = 0;
  virtual void add_figure(std::string const& path, chart const& of) = 0;

 private:
  void add(chart const& of) {
    if (is_raw_ || !eval::has_points(of)) return;
    std::string const name =
        fmt::format("figure-{}.{}", made.figures.size() + 1, has_pdf() ? "pdf" : "svg");
    made.figures.push_back({name, eval::svg_file(of) + "\n"});
    add_figure(folder_ + "/" + name, of);
  }
  static void add(interactive const& /*of*/) {}
  void add(details const& of) {
    add(heading{4, of.summary});
    write(of.inside);
  }

  bool is_raw_ = true;
  std::string folder_;
  figure_form figures_ = figure_form::svg;
};

class plain_writer final : public writer {
  void add(heading const& of) override {
    made.text += fmt::format("{}{}\n", made.text.empty() ? "" : "\n", of.text);
  }
  void add(paragraph const& of) override { made.text += of.text + "\n"; }
  void add(eval::table const& of) override {
    made.text += "\n" + eval::render(of, table_format::table);
  }
  void add_figure(std::string const& /*path*/, chart const& /*of*/) override {}
};

class markdown_writer final : public writer {
 public:
  using writer::writer;

 private:
  using writer::shown;
  std::string shown(std::string const& text) const { return shown(text, table_format::markdown); }
  void add(heading const& of) override {
    made.text += fmt::format("{} {}\n\n", std::string(static_cast<std::size_t>(of.level), '#'),
                             shown(of.text));
  }
  void add(paragraph const& of) override { made.text += shown(of.text) + "\n\n"; }
  void add(eval::table const& of) override {
    made.text += eval::render(shown(of), table_format::markdown) + "\n";
  }
  void add_figure(std::string const& path, chart const& of) override {
    made.text += fmt::format("![{}](<{}>)\n\n", shown(of.title), path);
  }
};

class latex_writer final : public writer {
 public:
  using writer::writer;

 private:
  using writer::shown;
  std::string shown(std::string const& text) const { return shown(text, table_format::latex); }
  void add(heading const& of) override {
    std::string_view const kind = of.level <= 2   ? "section"
                                  : of.level == 3 ? "subsection"
                                                  : "subsubsection";
    made.text += fmt::format("\\{}*{{{}}}\n\n", kind, shown(of.text));
  }
  void add(paragraph const& of) override { made.text += shown(of.text) + "\n\n"; }
  /// A4 with margins of 2 cm, 484 pt: a digit of \footnotesize is 4.25 pt wide, and a column has 6
  /// pt on each side.
  static constexpr paper_line a4{.room = 109, .between = 2.8};

  void add(eval::table const& of) override {
    for (eval::table& part : parts_on_paper(shown(of), a4)) add_part(std::move(part));
  }
  /// Adds a tabular of eval::render, which may continue over pages.
  void add_part(eval::table t) {
    std::string const title = std::exchange(t.title, {});
    std::string text = eval::render(t, table_format::latex);
    for (std::string_view const call : {"begin", "end"}) {
      std::string const before = fmt::format("\\{}{{tabular}}", call);
      text.replace(text.find(before), before.size(), fmt::format("\\{}{{longtable}}", call));
    }
    if (!title.empty()) made.text += fmt::format("\\noindent {}\n\n", shown(title));
    made.text += "{\\footnotesize\n" + text + "}\n\n";
  }
  void add_figure(std::string const& path, chart const& of) override {
    made.text += fmt::format(
        "\\begin{{figure}}[htbp]\n\\centering\n\\{}[width=0.9\\linewidth]{{{}}}\n"
        "\\caption{{{}}}\n\\end{{figure}}\n\n",
        has_pdf() ? "includegraphics" : "includesvg", path, shown(of.title));
  }
};

}  // namespace

std::string to_text(blocks const& of, table_format form) {
  if (form == table_format::table) {
    plain_writer writer;
    writer.write(of);
    return std::move(writer.made.text);
  }
  markdown_writer writer;
  writer.write(of);
  writer.made.text.pop_back();  // the empty line after the last block
  return std::move(writer.made.text);
}

text_with_figures to_markdown(document const& of, std::string const& folder, figure_form figures) {
  markdown_writer writer(folder, figures);
  writer.made.text = "# " + escaped(clean(of.title), table_format::markdown) + "\n\n";
  writer.write(of.blocks);
  return std::move(writer.made);
}

text_with_figures to_latex(document const& of, std::string const& folder, figure_form figures) {
  latex_writer writer(folder, figures);
  writer.made.text = fmt::format(
      "\\documentclass{{article}}\n\\usepackage[T1]{{fontenc}}\n\\usepackage[margin=2cm]{{geometry}"
      "}\n"
      "\\usepackage{{longtable}}\n"
      // Ligatures, such as fi, are copied as separate letters.
      "\\IfFileExists{{glyphtounicode.tex}}{{\\ifdefined\\pdfgentounicode\\input{{glyphtounicode}}"
      "\\pdfgentounicode=1\\fi}}{{}}\n"
      "\\usepackage{{{}}}\n\\title{{{}}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n\n",
      figures == figure_form::pdf ? "graphicx" : "svg",
      escaped(clean(of.title), table_format::latex));
  writer.write(of.blocks);
  writer.made.text += "\\end{document}\n";
  return std::move(writer.made);
}

}  // namespace rulerank::report
