#include "tuning/settings_file.hpp"

#include "core/error.hpp"

#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace rulerank::tuning {

namespace {

using json_text = nlohmann::ordered_json;

constexpr int form = 1;

json_text member_json(settings_file const& s) {
  json_text json{{"discretiser", nullptr}};
  if (s.discretizer) {
    datasets::discretizer_options const& d = *s.discretizer;
    json["discretiser"] = {{"method", datasets::name_of(d.method)},
                           {"bins", d.bins == 0 ? json_text("cv") : json_text(d.bins)},
                           {"missing_values", datasets::name_of(d.missing)},
                           {"unlisted", datasets::name_of(d.unlisted)},
                           {"norm", datasets::name_of(d.norm)}};
  }
  json["rule_size"] = s.scoring.rule_size;
  json["min_support"] = s.scoring.thresholds.min_support;
  json["min_confidence"] = s.scoring.thresholds.min_confidence;
  json["support_weight"] = s.scoring.support_weight;
  json["smoothing"] = s.scoring.smoothing;
  json["feature_share"] = s.scoring.feature_share;
  return json;
}

settings_file member_from(json_text const& json, std::string const& name) {
  settings_file s;
  if (json_text const& d = json.at("discretiser"); !d.is_null()) {
    datasets::discretizer_options& to = s.discretizer.emplace();
    to.method = datasets::binning_from(d.at("method").get<std::string>());
    to.bins = d.at("bins") == "cv" ? 0 : d.at("bins").get<int>();
    if (to.bins != 0 && (to.bins < 2 || to.bins > 250))
      throw error({name, 1, 1}, fmt::format("found {} bins, expected 2 to 250 or cv", to.bins));
    to.missing = datasets::missing_values_from(d.at("missing_values").get<std::string>());
    to.unlisted = datasets::unlisted_values_from(d.at("unlisted").get<std::string>());
    to.norm = datasets::normalization_from(d.at("norm").get<std::string>());
  }
  json.at("rule_size").get_to(s.scoring.rule_size);
  json.at("min_support").get_to(s.scoring.thresholds.min_support);
  json.at("min_confidence").get_to(s.scoring.thresholds.min_confidence);
  json.at("support_weight").get_to(s.scoring.support_weight);
  json.at("smoothing").get_to(s.scoring.smoothing);
  s.scoring.feature_share = json.value("feature_share", 1.0);
  l2r::check(s.scoring);
  return s;
}

}  // namespace

json_text to_json(std::vector<settings_file> const& members) {
  json_text json{{"rulerank_settings", form}};
  if (members.size() == 1) {
    json.update(member_json(members.front()));
  } else {
    json["members"] = json_text::array();
    for (settings_file const& s : members) json["members"].push_back(member_json(s));
  }
  return json;
}

std::vector<settings_file> settings_from(std::string_view text, std::string const& name) try {
  json_text const json = json_text::parse(text);
  if (int const found = json.at("rulerank_settings").get<int>(); found != form)
    throw error({name, 1, 1},
                fmt::format("found settings of version {}, expected {}", found, form));
  if (!json.contains("members")) return {member_from(json, name)};
  std::vector<settings_file> members;
  for (json_text const& one : json.at("members")) members.push_back(member_from(one, name));
  if (members.empty()) throw error({name, 1, 1}, "found settings without members");
  return members;
} catch (nlohmann::json::exception const& e) {
  throw error({name, 1, 1}, fmt::format("found no settings that tune wrote: {}", e.what()));
} catch (usage_error const& e) {
  throw error({name, 1, 1}, fmt::format("found settings that make no sense: {}", e.what()));
}

std::vector<settings_file> read_settings(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw error({path, 0, 0}, "cannot be read");
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw error({path, 0, 0}, "cannot be read");
  return settings_from(text, path);
}

}  // namespace rulerank::tuning
