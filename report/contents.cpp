#include "report/contents.hpp"

#include "core/json_text.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::report {

std::string plain_text(json const& value) {
  return value.is_string() ? value.get<std::string>() : json_line_of(value);
}

namespace {

std::string command_of(json const& words) {
  std::string line;
  for (json const& word : words)
    line += fmt::format("{}{}", line.empty() ? "" : " ", plain_text(word));
  return line;
}

}  // namespace

void add_manifest(std::string const& name, json const& manifest, blocks& to) {
  to.push_back({heading{3, name}});
  if (!manifest.is_object()) {
    say(to, "The folder has no manifest.");
    return;
  }
  eval::table fields{.columns = {{"what"}, {"value"}}};
  eval::table inputs{.columns = {{"input"}, {"SHA-256"}}};
  chart stages{.title = fmt::format("{}: seconds by stage", name),
               .kind = chart_kind::bars,
               .y = {"seconds"},
               .series = {{"seconds", {}}}};
  for (auto const& [key, value] : manifest.items()) {
    if (key == "command" && value.is_array())
      fields.rows.push_back({key, command_of(value)});
    else if (key == "inputs" && value.is_array())
      for (json const& input : value) {
        if (input.is_object())
          inputs.rows.push_back(
              {plain_text(input.value("path", json())), plain_text(input.value("sha256", json()))});
      }
    else if (key == "seconds" && value.is_object())
      for (auto const& [stage, seconds] : value.items()) {
        if (seconds.is_number())
          stages.series[0].points.push_back({0, seconds.get<double>(), stage});
      }
    else if (value.is_object())
      for (auto const& [part, of] : value.items())
        fields.rows.push_back({fmt::format("{}: {}", key, part), plain_text(of)});
    else
      fields.rows.push_back({key, plain_text(value)});
  }
  to.push_back({std::move(fields)});
  to.push_back({std::move(stages)});
  if (!inputs.rows.empty())
    to.push_back({details{counted(inputs.rows.size(), "input"), {{std::move(inputs)}}}});
}

document make_report(context const& ctx, report_options const& options) {
  found_results const found = read_results(ctx, options);
  std::vector<validation_group> const groups = groups_of(ctx, found, options);
  document made{options.title, {}};
  blocks sections;
  std::vector<chart> frontiers;
  for (validation_group const& group : groups) {
    sections.push_back({heading{2, fmt::format("Results: {}", group.title())}});
    add_summary(ctx, group, sections);
    sections.push_back({heading{2, fmt::format("Wins and losses: {}", group.title())}});
    add_queries(ctx, group, options, sections);
  }
  for (learning_curves const& one : found.curves) {
    sections.push_back({heading{2, fmt::format("Learning curves: {}", one.name)}});
    add_curves(one, options, sections);
  }
  for (std::string const& path : options.models) {
    sections.push_back({heading{2, fmt::format("Model: {}", path)}});
    std::ranges::move(add_model(ctx, path, options, sections), std::back_inserter(frontiers));
  }
  for (std::string const& path : options.bench) {
    sections.push_back({heading{2, fmt::format("Speed: {}", path)}});
    add_benchmarks(path, options, sections);
  }
  if (!options.folders.empty()) sections.push_back({heading{2, "What was run"}});
  for (cross_validation const& one : found.validations)
    add_manifest(one.name, one.manifest, sections);
  for (learning_curves const& one : found.curves) add_manifest(one.name, one.manifest, sections);
  add_lead(groups, found, options, std::move(frontiers), made.blocks);
  std::ranges::move(sections, std::back_inserter(made.blocks));
  return made;
}

}  // namespace rulerank::report
