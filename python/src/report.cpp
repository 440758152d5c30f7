#include "python/src/report.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "python/src/run.hpp"
#include "report/contents.hpp"
#include "report/document.hpp"

#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace rulerank::inline v0::python {

namespace {

using namespace nb::literals;
using report::report_options;

void write_report(run_settings const& how, report_options const& options, std::string const& format,
                  std::string const& figures, std::string const& out) {
  run(how, [&](context const& ctx) {
    std::vector<named_path> inputs;
    for (std::string const& path : options.models) inputs.push_back({"models", path});
    for (std::string const& path : options.bench) inputs.push_back({"bench", path});
    expect_apart(inputs, {{"out", out}});
    report::document_output output({.form = report::document_form_from(format),
                                    .figures = report::figure_form_from(figures),
                                    .path = out});
    output.write(ctx, report::make_report(ctx, options));
  });
}

}  // namespace

void add_report(nb::module_& to) {
  nb::class_<report_options>(to, "ReportOptions", "What a report says.")
      .def(
          "__init__",
          [](report_options* self, std::vector<std::string> folders, std::string title,
             std::string baseline, std::string metric, std::string folds,
             std::vector<std::string> models, std::vector<std::string> bench, std::size_t top) {
            new (self) report_options{.title = std::move(title),
                                      .folders = std::move(folders),
                                      .folds = std::move(folds),
                                      .baseline = std::move(baseline),
                                      .metric = std::move(metric),
                                      .models = std::move(models),
                                      .bench = std::move(bench),
                                      .top = top};
          },
          "folders"_a, "title"_a, "baseline"_a, "metric"_a, "folds"_a, "models"_a, "bench"_a,
          "top"_a);
  to.def(
      "report_page",
      [](run_settings const& how, report_options const& options) {
        return run(how, [&](context const& ctx) {
          return report::to_html(report::make_report(ctx, options));
        });
      },
      "run"_a, "options"_a, "The page as text.");
  to.def("write_report", &write_report, "run"_a, "options"_a, "format"_a, "figures"_a, "out"_a);
}

}  // namespace rulerank::python
