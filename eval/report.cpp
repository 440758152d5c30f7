#include "eval/report.hpp"

#include "core/error.hpp"
#include "core/json_text.hpp"
#include "eval/report_json.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::eval {

namespace {

std::string_view to_string(averaging how) {
  return how == averaging::folds ? "mean of fold means" : "mean over all queries";
}

std::size_t query_count(system_values const& system) {
  std::size_t count = 0;
  for (query_values const& fold : system.folds) count += fold.size();
  return count;
}

}  // namespace

std::vector<double> averages(system_values const& system, averaging how) {
  return how == averaging::folds ? mean_of_folds(system.folds) : pooled(system.folds).averages();
}

table values_table(report const& r, int digits) {
  table t;
  t.title = fmt::format("profile {}", describe(r.rules));
  if (r.systems.empty()) return t;
  std::size_t const folds = r.folds.size();
  if (folds > 1) t.title += fmt::format("; {} folds, {}", folds, to_string(r.averaged));
  t.title += fmt::format("; {}", counted(query_count(r.systems[0]), "query", "queries"));

  bool const name_fold = folds > 1 && (r.per_fold || r.per_query);
  t.columns.push_back({"system"});
  if (name_fold) t.columns.push_back({"fold"});
  if (r.per_query) t.columns.push_back({"query"});
  if (!r.systems[0].folds.empty())
    for (measure const& m : r.systems[0].folds[0].measures)
      t.columns.push_back({m.name(), column::style::fixed, digits});

  auto const add = [&](system_values const& system, std::string const& fold,
                       std::string const& query, std::vector<double> const& values) {
    std::vector<cell>& row = t.rows.emplace_back();
    row.emplace_back(system.name);
    if (name_fold) row.emplace_back(fold);
    if (r.per_query) row.emplace_back(query);
    row.insert(row.end(), values.begin(), values.end());
  };
  for (system_values const& system : r.systems) {
    for (std::size_t f = 0; f < folds; ++f) {
      query_values const& values = system.folds[f];
      std::size_t const width = values.measures.size();
      if (r.per_query)
        for (std::size_t q = 0; q < values.size(); ++q) {
          auto const begin = values.values.begin() + static_cast<std::ptrdiff_t>(q * width);
          add(system, r.folds[f], values.qids[q],
              std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(width)));
        }
      if (name_fold) add(system, r.folds[f], "all", values.averages());
    }
    add(system, "all", "all", averages(system, r.averaged));
  }
  return t;
}

table comparisons_table(report const& r, int digits) {
  table t;
  if (r.comparisons.empty()) return t;
  t.title = fmt::format("against {}, paired over {}", r.comparisons[0].reference,
                        counted(r.comparisons[0].queries, "query", "queries"));
  if (r.compared.fisher)
    t.title += fmt::format("; {}", counted(r.compared.permutations, "permutation"));
  t.title += fmt::format("; Holm over {}", r.compared.family == holm_family::measure
                                               ? "the systems on each measure"
                                               : "all comparisons");
  t.columns = {{"measure"},
               {"system"},
               {"difference", column::style::fixed, digits},
               {"wins", column::style::general},
               {"ties", column::style::general},
               {"losses", column::style::general}};
  if (r.compared.paired_t)
    for (char const* name : {"t", "p (t)", "p (t, Holm)"})
      t.columns.push_back({name, column::style::general});
  if (r.compared.fisher)
    for (char const* name : {"p (Fisher)", "p (Fisher, Holm)"})
      t.columns.push_back({name, column::style::general});
  for (comparison const& c : r.comparisons) {
    std::vector<cell>& row = t.rows.emplace_back();
    row = {c.on.name(), c.system, c.difference, c.wins, c.ties, c.losses};
    if (c.paired_t)
      for (double value : {c.paired_t->statistic, c.paired_t->p, c.paired_t->p_holm})
        row.emplace_back(value);
    if (c.fisher)
      for (double value : {c.fisher->p, c.fisher->p_holm}) row.emplace_back(value);
  }
  return t;
}

std::string render(report const& r, table_format format, int digits) {
  if (format == table_format::json) return json_text_of(to_json(r));
  std::string text = render(values_table(r, digits), format);
  if (!r.comparisons.empty())
    text += fmt::format("\n{}", render(comparisons_table(r, digits), format));
  return text;
}

nlohmann::ordered_json by_measure(std::vector<measure> const& measures,
                                  std::vector<double> const& values) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t m = 0; m < measures.size(); ++m) json[measures[m].name()] = values[m];
  return json;
}

nlohmann::ordered_json to_json(profile const& p) {
  nlohmann::ordered_json json;
  json["name"] = p.name;
  json["gain"] = to_string(p.gain);
  json["discount"] = to_string(p.discount);
  json["no-relevant"] = p.no_relevant;
  if (p.relevant_from == std::floor(p.relevant_from) && p.relevant_from < 1e15)
    json["relevant-from"] = static_cast<std::int64_t>(p.relevant_from);
  else
    json["relevant-from"] = p.relevant_from;
  json["short-list"] = to_string(p.short_lists);
  json["ties"] = to_string(p.ties);
  json["complete"] = p.complete;
  json["max-docs"] = p.max_docs;
  json["max-label"] =
      p.max_label ? nlohmann::ordered_json(*p.max_label) : nlohmann::ordered_json(nullptr);
  json["persistence"] = p.rbp_persistence;
  json["p-break"] = p.pfound_break;
  json["prel"] = p.prel;
  return json;
}

nlohmann::ordered_json to_json(report const& r) {
  nlohmann::ordered_json json;
  json["profile"] = to_json(r.rules);
  json["averaged"] = to_string(r.averaged);
  json["systems"] = nlohmann::ordered_json::array();
  for (system_values const& system : r.systems) {
    nlohmann::ordered_json s;
    s["name"] = system.name;
    s["queries"] = query_count(system);
    if (!system.folds.empty())
      s["averages"] = by_measure(system.folds[0].measures, averages(system, r.averaged));
    s["folds"] = nlohmann::ordered_json::array();
    for (std::size_t f = 0; f < system.folds.size(); ++f) {
      query_values const& values = system.folds[f];
      nlohmann::ordered_json fold;
      fold["name"] = r.folds[f];
      fold["queries"] = values.size();
      fold["averages"] = by_measure(values.measures, values.averages());
      if (r.per_query) {
        fold["qids"] = values.qids;
        for (std::size_t m = 0; m < values.measures.size(); ++m)
          fold["values"][values.measures[m].name()] = values.column(m);
      }
      s["folds"].push_back(std::move(fold));
    }
    json["systems"].push_back(std::move(s));
  }
  if (r.comparisons.empty()) return json;
  nlohmann::ordered_json& compared = json["comparison"];
  compared["reference"] = r.comparisons[0].reference;
  compared["holm"] = r.compared.family == holm_family::measure ? "measure" : "report";
  if (r.compared.fisher) compared["permutations"] = r.compared.permutations;
  compared["results"] = nlohmann::ordered_json::array();
  for (comparison const& c : r.comparisons) {
    nlohmann::ordered_json one;
    one["measure"] = c.on.name();
    one["system"] = c.system;
    one["queries"] = c.queries;
    one["difference"] = c.difference;
    one["wins"] = c.wins;
    one["ties"] = c.ties;
    one["losses"] = c.losses;
    if (c.paired_t)
      one["paired-t"] = {
          {"t", c.paired_t->statistic}, {"p", c.paired_t->p}, {"p_holm", c.paired_t->p_holm}};
    if (c.fisher) one["fisher"] = {{"p", c.fisher->p}, {"p_holm", c.fisher->p_holm}};
    compared["results"].push_back(std::move(one));
  }
  return json;
}

}  // namespace rulerank::eval
