#include "apps/shared/arguments/curve_arguments.hpp"
#include "apps/shared/arguments/settings_argument.hpp"
#include "apps/shared/evaluation/cross_validation.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "experiment/report_json.hpp"

#include <memory>

namespace rulerank::inline v0::apps {
namespace {

struct experiment_arguments : cross_validation_arguments {
  settings_argument settings;
  curve_arguments curves;
};

void run_curves(session& owner, experiment_arguments& a) {
  eval::table_format const format =
      owner.run.json ? eval::table_format::json : eval::table_format_from(a.format);
  auto outputs = curve_outputs(a.out_dir);
  outputs.insert(outputs.begin(), {"the report", "-"});
  owner.outputs(outputs);
  a.reading.check_inputs(owner, {});
  experiment::curve_results const done = learn_curves(owner, a, a.curves.options(a));
  write_file(owner.destination("-"), format == eval::table_format::json
                                         ? json_text_of(experiment::to_json(done))
                                         : experiment::render(done, format));
}

void run_experiment(session& owner, experiment_arguments& a, CLI::App const& verb) {
  if (a.curves.asked_for()) return run_curves(owner, a);
  a.curves.expect_none();
  eval::table_format const format =
      owner.run.json ? eval::table_format::json : eval::table_format_from(a.format);
  auto outputs = outputs_of(a);
  outputs.insert(outputs.begin(), {"the report", "-"});
  owner.outputs(outputs);
  a.reading.check_inputs(owner, {{"--settings", a.settings.file}});
  if (!a.settings.file.empty()) {
    ranker_recipe line;
    line.discretizer = a.discretizer;
    line.ranker = a.ranker;
    a.members = a.settings.recipes(owner, line);
    a.own_rank_sizes = verb.count("--rank-size") == 0;
  }
  experiment::results const done = cross_validate(owner, a);
  write_file(owner.destination("-"), format == eval::table_format::json
                                         ? experiment::to_text(done.report, done.settings)
                                         : experiment::render(done.report, done.settings, format));
}

}  // namespace

void add_experiment(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<experiment_arguments>(
      program, owner, "experiment",
      "Compare rankers over folds, trained with all labels and with few",
      "rulerank experiment --folds OHSUMED --out-dir result\n"
      "  compares a card, a joint model, rules, the best single feature and, if it is installed, "
      "LightGBM, with 5 % and 100 % of the labels. A second run continues an interrupted one. "
      "--rank-size 3,4 compares sizes of rules instead",
      run_experiment);
  path_option(verb, "--folds,FOLDS DIR", a.folds,
              "Folder with Fold1, Fold2, ..., each with train.txt, vali.txt, test.txt (.gz, .zst)")
      ->required()
      ->group(input_group);
  path_option(verb, "--out-dir D", a.out_dir, "Folder for the results, created if missing")
      ->required()
      ->group(output_group);
  a.curves.add_to(verb);
  a.settings.add_to(verb);
  add_cross_validation_to(verb, a);
  a.reading.add_to(verb);
  a.reading.add_drop_unjudged_to(verb);
  runs_over_ranks(verb);
  usual_options(verb, {"--folds", "--out-dir", "--systems", "--budgets", "--ways", "--metrics",
                       "--rank-size", "--reduce-size", "--format"});
}

}  // namespace rulerank::apps
