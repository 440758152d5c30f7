#include "apps/shared/options.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "report/contents.hpp"

#include <filesystem>
#include <memory>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

namespace fs = std::filesystem;

struct report_arguments {
  report::report_options options;
  std::string format = "html";
  std::string out = "-";
};

/// Where the figures of `report.md` go: `report-figures` beside it.
std::string figure_folder(report_arguments const& arguments) {
  return fs::path(arguments.out).replace_extension().string() + "-figures";
}

void check(session& owner, report_arguments const& arguments) {
  report::report_options const& o = arguments.options;
  if (o.folders.empty() && o.models.empty() && o.bench.empty())
    throw usage_error("expected folders that experiment or pipeline wrote, --model or --bench");
  std::vector<session::named_input> inputs;
  for (std::string const& path : o.models) inputs.push_back({"--model", path});
  for (std::string const& path : o.bench) inputs.push_back({"--bench", path});
  owner.inputs(inputs);
  for (session::named_input const& one : inputs) owner.input(one.path);
  owner.outputs({{"--out", arguments.out}});
  if (arguments.format != "html" && arguments.out == "-")
    throw usage_error(
        fmt::format("--format {} needs --out: its figures are files beside it", arguments.format));
}

void write_figures(report_arguments const& arguments, report::text_with_figures const& made) {
  if (made.figures.empty()) return;
  make_folders(figure_folder(arguments));
  for (report::figure const& one : made.figures)
    write_file((fs::path(figure_folder(arguments)) / one.name).string(), one.svg);
}

void write_report(session& owner, report_arguments& arguments) {
  check(owner, arguments);
  output_file out(arguments.out);  // an output that cannot be written fails before the work
  arguments.options.opened = [&owner](std::string const& path) { owner.input(path); };
  report::document made;
  {
    auto const timer = owner.stage("report");
    made = report::make_report(owner.ctx(), arguments.options);
  }
  auto const timer = owner.stage("write");
  if (arguments.format == "html") {
    out.write(report::to_html(made));
  } else {
    std::string const folder = fs::path(figure_folder(arguments)).filename().string();
    report::text_with_figures const text = arguments.format == "markdown"
                                               ? report::to_markdown(made, folder)
                                               : report::to_latex(made, folder);
    write_figures(arguments, text);
    out.write(text.text);
  }
  out.commit();
}

}  // namespace

void add_report(CLI::App& program, session& owner) {
  auto const arguments = std::make_shared<report_arguments>();
  report::report_options& o = arguments->options;
  CLI::App* const verb =
      add_verb(program, owner, "report", "Show experiments as one page, for a browser or for print",
               "rulerank report result curves --out report.html\n"
               "  result is what `experiment` wrote, curves what `experiment --systems` wrote",
               [arguments, &owner] { write_report(owner, *arguments); });
  path_option(*verb, "folders", o.folders, "What experiment or pipeline wrote")->type_name("DIR");
  path_option(*verb, "--out", arguments->out, "Where it goes; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  word_option(*verb, "--format", arguments->format, {"html", "markdown", "latex"},
              "One page, or a text with figures as SVG in the folder OUT-figures beside it");
  verb->add_option("--title", o.title, "The title")->type_name("TEXT")->capture_default_str();
  verb->add_option("--baseline", o.baseline,
                   "The system that the others are compared with; else the first one")
      ->type_name("NAME");
  verb->add_option("--metric", o.metric,
                   "Of wins, losses and learning curves; else NDCG@10, or the first one")
      ->type_name("M");
  path_option(*verb, "--folds", o.folds,
              "Fold*/test.txt, for documents and labels; else where the manifests say")
      ->type_name("DIR");
  path_option(*verb, "--model", o.models, "Model files: their strongest features and rules")
      ->type_name("FILE");
  path_option(*verb, "--bench", o.bench, "Results of benchmarks, a JSON object a line")
      ->type_name("FILE");
  number_option(*verb, "--top", o.top, "Most queries won and lost, rules and features listed");
}

}  // namespace rulerank::apps
