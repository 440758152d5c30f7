#include "experiment/settings.hpp"

#include "core/error.hpp"
#include "eval/report.hpp"
#include "eval/report_json.hpp"
#include "experiment/report_json.hpp"
#include "l2r/model/options_json.hpp"
#include "tuning/settings_file.hpp"
#include "tuning/settings_json.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::experiment {

namespace {

constexpr std::uint32_t largest_rule = 64;

void check_sizes(std::string_view what, std::vector<std::uint32_t> const& sizes) {
  for (auto size = sizes.begin(); size != sizes.end(); ++size) {
    if (*size < 2 || *size > largest_rule)
      throw usage_error(
          fmt::format("found the {} rule size {}, expected 2 to {}", what, *size, largest_rule));
    if (std::find(sizes.begin(), size, *size) != size)
      throw usage_error(fmt::format("the {} rule size {} is given twice", what, *size));
  }
}

nlohmann::ordered_json to_json(tuned_settings const& tuned) {
  nlohmann::ordered_json json;
  for (eval::measure const& m : tuned.measures) json["metrics"].push_back(m.name());
  json["try"] = tuning::to_json(tuned.search_space);
  json["cross_fit"] = tuned.cross_fit;
  json["search"] = tuning::to_json(tuned.search);
  return json;
}

/// Whether a name is valid as a folder's.
bool is_folder_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos;
}

/// Adds the systems that rank by training documents, for one rank size.
void add_rankers(settings const& s, rules::rule_size rank_size, std::vector<system>& systems) {
  std::size_t const members = s.recipes.empty() ? s.members.size() : s.recipes.size();
  if (rank_size == 0 && members == 1 && s.recipes.empty())
    rank_size = s.members.front().scoring.rule_size;
  std::string how = fmt::format("members-{}", members);
  if (rank_size > 0)
    how = fmt::format("rank-{}", rank_size);
  else if (members == 1)
    how = kind_of(tuning::candidate_of(s.recipes.front()));
  auto const add = [&](system_kind kind, rules::rule_size reduce_size, std::string label) {
    std::string name = fmt::format("{}-{}", label, how);
    systems.push_back({kind, reduce_size, rank_size, std::move(label), std::move(name), 0});
  };
  if (s.full) add(system_kind::full, 0, "full");
  for (rules::rule_size const size : s.reduce_sizes)
    add(system_kind::reduced, size, fmt::format("reduced-{}", size));
  if (s.random)
    for (rules::rule_size const size : s.reduce_sizes)
      add(system_kind::random, size, fmt::format("random-{}", size));
}

}  // namespace

void check_distinct(std::vector<eval::measure> const& measures) {
  for (auto m = measures.begin(); m != measures.end(); ++m)
    if (std::find(measures.begin(), m, *m) != m)
      throw usage_error(fmt::format("the measure {} is given twice", m->name()));
}

void check(settings const& s) {
  check_sizes("reduced sets'", s.reduce_sizes);
  if (s.rank_sizes != std::vector<rules::rule_size>{0}) check_sizes("rankers'", s.rank_sizes);
  if (s.random && s.random_draws == 0)
    throw usage_error("found 0 random draws, expected one or more");
  if (s.measures.empty()) throw usage_error("found no measure, expected one or more");
  check_distinct(s.measures);
  if (s.members.empty()) throw usage_error("found no member to rank by, expected one or more");
  for (ranking_settings const& member : s.members) l2r::check(member.scoring);
  if (s.tune) {
    if (s.tune->measures.empty())
      throw usage_error("found no measure to tune by, expected one or more");
    check_distinct(s.tune->measures);
    tuning::candidates_of(s.tune->search_space);
    tuning::check(s.tune->search);
  }
  systems_of(s);
}

nlohmann::ordered_json to_json(data_reading const& reading) {
  nlohmann::ordered_json json;
  json["zero_based"] = reading.zero_based;
  json["regroup"] = reading.regroup;
  json["unlabelled"] = nullptr;
  if (reading.unlabelled) json["unlabelled"] = *reading.unlabelled;
  json["groups"] = reading.groups;
  if (reading.drop_unlabelled) json["drop_unlabelled"] = true;
  if (!reading.feature_order.empty()) json["feature_order"] = reading.feature_order;
  return json;
}

nlohmann::ordered_json to_json(settings const& s) {
  nlohmann::ordered_json json;
  json["reduce_sizes"] = s.reduce_sizes;
  json["rank_sizes"] = s.rank_sizes;
  json["baselines"] = nlohmann::ordered_json::array();
  if (s.full) json["baselines"].push_back("full");
  if (s.random) json["baselines"].push_back("random");
  if (s.feature) json["baselines"].push_back("feature");
  json["random_draws"] = s.random_draws;
  json["scores"] = s.outside;
  json["metrics"] = nlohmann::ordered_json::array();
  for (eval::measure const& m : s.measures) json["metrics"].push_back(m.name());
  json["profile"] = eval::to_json(s.profile);
  ranking_settings const& first = s.members.front();
  json["discretizer"] = tuning::to_json(first.discretizer);
  json["partitions"] = s.partitions == 0 ? "auto" : std::to_string(s.partitions);
  json["feature_order"] = datasets::name_of(s.feature_order);
  nlohmann::ordered_json scoring = l2r::to_json(first.scoring);
  scoring.erase("rule_size");  // stored as rank_sizes
  json.update(scoring);
  for (l2r::recipe const& recipe : s.recipes)
    json["members"].push_back(tuning::member_json(tuning::settings_of(recipe)));
  if (s.members.size() > 1 && s.recipes.empty())
    for (ranking_settings const& member : s.members) {
      nlohmann::ordered_json one{{"discretizer", tuning::to_json(member.discretizer)}};
      one.update(l2r::to_json(member.scoring));
      json["members"].push_back(std::move(one));
    }
  if (s.seeded_ties) json["ties"] = "seeded";
  if (s.tune) json["tune"] = to_json(*s.tune);
  json["reading"] = s.reading ? to_json(*s.reading) : nlohmann::ordered_json::object();
  json["seed"] = s.seed;
  return json;
}

bool needs_validation(settings const& s) {
  return s.feature || s.tune;
}

std::vector<system> systems_of(settings const& s) {
  std::vector<system> systems;
  for (rules::rule_size const rank_size : s.rank_sizes) add_rankers(s, rank_size, systems);
  if (s.tune)
    for (std::size_t m = 0; m < s.tune->measures.size(); ++m) {
      auto const add = [&](rules::rule_size reduce_size, std::string const& label) {
        std::string const name = fmt::format("{}-tuned-{}", label, s.tune->measures[m].name());
        systems.push_back({system_kind::tuned, reduce_size, 0, name, name, m});
      };
      if (s.full) add(0, "full");
      for (rules::rule_size const size : s.reduce_sizes) add(size, fmt::format("reduced-{}", size));
    }
  if (s.feature) systems.push_back({system_kind::feature, 0, 0, "feature", "feature", 0});
  for (std::string const& name : s.outside) {
    if (!is_folder_name(name))
      throw usage_error(fmt::format(
          "found the system name '{}', expected a name without slashes and without a leading point",
          name));
    systems.push_back({system_kind::outside, 0, 0, name, name, 0});
  }
  if (systems.empty())
    throw usage_error("found no system to evaluate, expected a rule size or a baseline");
  std::set<std::string> names;
  for (system const& one : systems)
    if (!names.insert(one.name).second)
      throw usage_error(
          fmt::format("found the name '{}' twice, expected different names of systems", one.name));
  return systems;
}

}  // namespace rulerank::experiment
