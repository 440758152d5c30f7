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
  owner.expect_file_beside_json(arguments.out, "pages and texts");
  owner.outputs({{"--out", arguments.out}});
}

void write_report(session& owner, report_arguments& arguments) {
  check(owner, arguments);
  // An output that cannot be written fails before the work.
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
      "  result is what `experiment` wrote, curves what `experiment --systems` wrote",
      write_report);
  report::report_options& o = a.options;
  path_option(verb, "folders DIR", o.folders, "What experiment or pipeline wrote");
  path_option(verb, "--out", a.out, "Where it goes; - is standard output");
  word_option(verb, "--format", a.format, {"html", "markdown", "latex"},
              "One page, or a text with figures in the folder OUT-figures beside it");
  word_option(verb, "--figures", a.figures, {"svg", "pdf"},
              "Of a text: SVG, or PDF beside it by rsvg-convert of Debian's librsvg2-bin");
  verb.add_option("--title", o.title, "The title");
  value_option(verb, "--baseline NAME", o.baseline,
               "The system that the others are compared with; else the first one");
  value_option(verb, "--metric M", o.metric,
               "Of wins, losses and learning curves; else NDCG@10, or the first one");
  path_option(verb, "--folds DIR", o.folds,
              "Fold*/test.txt, for documents and labels; else where the manifests say");
  path_option(verb, "--model", o.models, "Model files: their strongest features and rules");
  path_option(verb, "--bench", o.bench, "Results of benchmarks, a JSON object a line");
  number_option(verb, "--top", o.top, "Most queries won and lost, rules and features listed");
}

}  // namespace rulerank::apps
