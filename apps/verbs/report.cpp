#include "apps/shared/options/options.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "report/contents.hpp"

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::apps {
namespace {

struct report_arguments {
  report::report_options options;
  std::string format = "html";
  std::string figures = "svg";
  std::string out = "-";
};

void check(session& owner, report_arguments const& arguments) {
  report::report_options const& o = arguments.options;
  if (o.folders.empty() && o.models.empty() && o.bench.empty())
    throw usage_error("expected folders that experiment or pipeline wrote, or --model, or --bench");
  std::vector<session::named_input> inputs;
  for (std::string const& path : o.models) inputs.push_back({"--model", path});
  for (std::string const& path : o.bench) inputs.push_back({"--bench", path});
  owner.inputs(inputs);
  for (session::named_input const& one : inputs) owner.input(one.path);
  owner.outputs({{"--out", arguments.out}});
}

void write_report(session& owner, report_arguments& arguments) {
  check(owner, arguments);
  // An unwritable output fails before the work.
  report::document_output out({.form = report::document_form_from(arguments.format),
                               .figures = report::figure_form_from(arguments.figures),
                               .path = arguments.out});
  arguments.options.opened = [&owner](std::string const& path) { owner.input(path); };
  report::document made;
  {
    auto const timer = owner.stage("report");
    made = report::make_report(owner.ctx(), arguments.options);
  }
  {
    auto const timer = owner.stage("write");
    out.write(owner.ctx(), made);
  }
  if (owner.prints_json())
    write_file("-", json_text_of(nlohmann::ordered_json{{"out", arguments.out},
                                                        {"format", arguments.format},
                                                        {"seconds", owner.timings()}}));
}

}  // namespace

void add_report(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<report_arguments>(
      program, owner, "report", "Show experiments as one page, for a browser or for print",
      "rulerank report result curves --out report.html\n"
      "  shows the results of two runs of experiment, whose folders are result and curves",
      write_report);
  report::report_options& o = a.options;
  {
    help_group const group(verb, input_group);
    path_option(verb, "FOLDERS DIR", o.folders, "Folders that experiment or pipeline wrote");
    path_option(verb, "--folds DIR", o.folds,
                "Folder with Fold1/test.txt, ..., for the documents and labels")
        ->default_str("named in the results");
    path_option(verb, "--model", o.models, "Models whose strongest features and rules are shown");
    path_option(verb, "--bench", o.bench, "Results of benchmarks, one JSON object on each line");
  }
  {
    help_group const group(verb, output_group);
    path_option(verb, "--out", a.out, "Output file; - is standard output");
    word_option(verb, "--format", a.format, {"html", "markdown", "latex"},
                "Format: one page (html), or a text with figures in the folder OUT-figures");
    word_option(verb, "--figures", a.figures, {"svg", "pdf"},
                "markdown, latex: figures as SVG, or as PDF too, by rsvg-convert (Debian's "
                "librsvg2-bin)");
    value_option(verb, "--title TEXT", o.title, "Title of the page");
  }
  help_group const group(verb, "Comparison");
  value_option(verb, "--baseline NAME", o.baseline, "System to compare the others with")
      ->default_str("the first one");
  value_option(verb, "--metric M", o.metric, "Measure of wins, losses and learning curves")
      ->default_str("NDCG@10, or the first one");
  number_option(verb, "--top", o.top, "Most queries won and lost, rules and features to list");
  usual_options(verb,
                {"FOLDERS", "--model", "--baseline", "--metric", "--title", "--format", "--out"});
}

}  // namespace rulerank::apps
