#include "experiment/report.hpp"

#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/process_group.hpp"
#include "core/version.hpp"
#include "eval/report_json.hpp"
#include "experiment/report_json.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::experiment {

namespace {

using json_text = nlohmann::ordered_json;

system_result const& result_of(fold_result const& fold, system const& what) {
  auto const at =
      std::find_if(fold.systems.begin(), fold.systems.end(),
                   [&](system_result const& system) { return system.name == what.name; });
  if (at == fold.systems.end())
    throw error({fold.name, 0, 0}, fmt::format("found no results of {}", what.name));
  return *at;
}

eval::system_values values_of(std::vector<fold_result> const& folds, system const& what) {
  eval::system_values values{what.name, {}};
  for (fold_result const& fold : folds) values.folds.push_back(result_of(fold, what).queries);
  return values;
}

/// Standard deviation over the samples of one measure's mean of fold means.
double spread_of(std::vector<fold_result> const& folds, system const& what, std::size_t measure) {
  std::vector<double> means(result_of(folds[0], what).draws.size());
  for (std::size_t draw = 0; draw < means.size(); ++draw) {
    for (fold_result const& fold : folds)
      means[draw] += result_of(fold, what).draws.at(draw)[measure];
    means[draw] /= static_cast<double>(folds.size());
  }
  return eval::standard_deviation(means);
}

system_summary summarize(std::vector<fold_result> const& folds, system const& what) {
  system_summary summary;
  summary.what = what;
  eval::system_values const values = values_of(folds, what);
  summary.means = eval::mean_of_folds(values.folds);
  if (what.kind == system_kind::random)
    for (std::size_t m = 0; m < summary.means.size(); ++m)
      summary.spread.push_back(spread_of(folds, what, m));
  double documents = 0, training = 0;
  for (fold_result const& fold : folds) {
    std::optional<std::size_t> const size = result_of(fold, what).documents;
    if (!size) return summary;
    documents += static_cast<double>(*size);
    training += static_cast<double>(fold.train_documents);
  }
  summary.documents = documents / static_cast<double>(folds.size());
  summary.share = documents / training;
  return summary;
}

eval::table systems_table(report const& r, settings const& s) {
  std::size_t queries = 0;
  for (fold_result const& fold : r.folds) queries += fold.systems.at(0).queries.size();
  datasets::discretizer_options const& cuts = s.members.front().discretizer;
  eval::profile named = s.profile;
  named.max_label.reset();  // determined by the data, not chosen
  eval::table t;
  t.title = fmt::format(
      "{}, {}; profile {}; {}, mean of fold means; {}", datasets::name_of(cuts.method),
      cuts.bins == 0 ? "bins by cross-validation"
                     : counted(static_cast<std::uint64_t>(cuts.bins), "bin"),
      eval::describe(named), counted(r.folds.size(), "fold"), counted(queries, "query", "queries"));
  t.columns = {{"system"},
               {"rank size", eval::column::style::general},
               {"documents", eval::column::style::fixed, 1},
               {"%", eval::column::style::fixed, 2}};
  for (eval::measure const& m : s.measures)
    t.columns.push_back({m.name(), eval::column::style::fixed, 4});
  for (system_summary const& system : r.systems) {
    std::vector<eval::cell> row{system.what.label, std::string(), std::string(), std::string()};
    if (system.what.rank_size > 0) row[1] = system.what.rank_size;
    if (system.documents) row[2] = *system.documents;
    if (system.share) row[3] = 100 * *system.share;
    row.insert(row.end(), system.means.begin(), system.means.end());
    t.rows.push_back(std::move(row));
    if (system.spread.empty()) continue;
    row = {fmt::format("{}, deviation of {}", system.what.label, counted(s.random_draws, "draw")),
           t.rows.back()[1], std::string(), std::string()};
    row.insert(row.end(), system.spread.begin(), system.spread.end());
    t.rows.push_back(std::move(row));
  }
  return t;
}

json_text to_json(fold_result const& fold) {
  json_text json;
  json["name"] = fold.name;
  json["fingerprint"] = fold.fingerprint;
  json["inputs"] = fold.inputs;
  json["train_documents"] = fold.train_documents;
  json["test_documents"] = fold.test_documents;
  json["test_queries"] = fold.systems.at(0).queries.size();
  for (reduction const& r : fold.reductions)
    json["reduced"].push_back(
        {{"rule_size", r.rule_size}, {"documents", r.documents}, {"partitions", r.partitions}});
  if (fold.feature)
    json["feature"] = {{"feature", fold.feature->feature},
                       {"direction", fold.feature->ascending ? "ascending" : "descending"},
                       {"validation", fold.feature->value}};
  if (fold.feature && !fold.feature->name.empty()) json["feature"]["name"] = fold.feature->name;
  for (auto const& [system, text] : fold.tuned) json["tuned"][system] = json_text::parse(text);
  return json;
}

json_text to_json(system_summary const& system, report const& r, settings const& s) {
  json_text json;
  json["name"] = system.what.name;
  json["system"] = system.what.label;
  if (system.what.rank_size > 0) json["rank_size"] = system.what.rank_size;
  if (system.what.reduce_size > 0) json["reduce_size"] = system.what.reduce_size;
  if (system.documents) json["documents"] = *system.documents;
  if (system.share) json["share"] = *system.share;
  json["means"] = eval::by_measure(s.measures, system.means);
  if (!system.spread.empty())
    json["deviation_over_draws"] = eval::by_measure(s.measures, system.spread);
  json["folds"] = json_text::array();
  for (fold_result const& fold : r.folds) {
    system_result const& result = result_of(fold, system.what);
    json_text one;
    one["name"] = fold.name;
    if (result.documents) one["documents"] = *result.documents;
    one["means"] = eval::by_measure(s.measures, result.queries.averages());
    for (std::vector<double> const& draw : result.draws)
      one["draws"].push_back(eval::by_measure(s.measures, draw));
    json["folds"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

report make_report(context const& ctx, settings const& s, std::vector<fold_result> folds,
                   eval::comparison_options const& options) {
  report r;
  r.folds = std::move(folds);
  std::vector<system> const systems = systems_of(s);
  for (system const& what : systems) r.systems.push_back(summarize(r.folds, what));
  if (has_processes(ctx) && !ctx.processes->is_first()) return r;
  for (system const& full : systems) {
    bool const tuned = full.kind == system_kind::tuned && full.reduce_size == 0;
    if (full.kind != system_kind::full && !tuned) continue;
    eval::report compared;
    compared.rules = s.profile;
    compared.compared = options;
    for (fold_result const& fold : r.folds) compared.folds.push_back(fold.name);
    compared.systems.push_back(values_of(r.folds, full));
    for (system const& other : systems)
      if (other.kind != system_kind::full && other.name != full.name &&
          (other.rank_size == 0 || other.rank_size == full.rank_size))
        compared.systems.push_back(values_of(r.folds, other));
    if (compared.systems.size() < 2) continue;
    compared.comparisons = eval::compare(ctx, compared.systems, 0, options);
    r.comparisons.push_back(std::move(compared));
  }
  return r;
}

json_text to_json(report const& r, settings const& s) {
  json_text json;
  json["version"] = version;
  json["settings"] = to_json(s);
  json["averaged"] = "mean of fold means";
  json["folds"] = json_text::array();
  for (fold_result const& fold : r.folds) json["folds"].push_back(to_json(fold));
  json["systems"] = json_text::array();
  for (system_summary const& system : r.systems) json["systems"].push_back(to_json(system, r, s));
  json["comparisons"] = json_text::array();
  for (eval::report const& compared : r.comparisons)
    json["comparisons"].push_back(eval::to_json(compared)["comparison"]);
  return json;
}

std::string to_text(report const& r, settings const& s) {
  return json_text_of(to_json(r, s));
}

std::string render(report const& r, settings const& s, eval::table_format format) {
  std::string text = eval::render(systems_table(r, s), format);
  for (eval::report const& compared : r.comparisons)
    text += fmt::format("\n{}", eval::render(eval::comparisons_table(compared), format));
  return text;
}

}  // namespace rulerank::experiment
