#include "tuning/settings_file.hpp"

#include "core/error.hpp"
#include "datasets/json_text.hpp"
#include "eval/report.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>

#include <fmt/format.h>

namespace rulerank::tuning {

namespace {

using json_text = nlohmann::ordered_json;

constexpr std::uint32_t form = 1;

json_text member_json(settings_file const& s) {
  json_text json{{"discretizer", s.discretizer ? to_json(*s.discretizer) : json_text()}};
  json.update(l2r::to_json(s.scoring));
  return json;
}

/// A member of an object, a whole number from 0 on.
template <class Value>
Value number_at(json_text const& json, char const* key, std::string const& name) {
  constexpr std::uint64_t largest = std::numeric_limits<Value>::max();
  json_text const& found = json.at(key);
  if (!found.is_number_unsigned() || found.get<std::uint64_t>() > largest)
    throw error({name, 1, 1}, fmt::format("{}: found no whole number from 0 to {}", key, largest));
  return found.get<Value>();
}

datasets::discretizer_options discretizer_from(json_text const& json, std::string const& name) {
  datasets::discretizer_options options;
  options.method = datasets::binning_from(json.at("method").get<std::string>());
  options.bins = 0;
  if (json.at("bins") != "cv") {
    options.bins = number_at<int>(json, "bins", name);
    if (options.bins < 2 || options.bins > 250)
      throw error({name, 1, 1},
                  fmt::format("found {} bins, expected 2 to 250 or cv", options.bins));
  }
  options.missing = datasets::missing_values_from(json.at("missing_values").get<std::string>());
  options.unlisted = datasets::unlisted_values_from(json.at("unlisted").get<std::string>());
  options.norm = datasets::normalization_from(json.at("norm").get<std::string>());
  return options;
}

settings_file member_from(json_text const& json, std::string const& name) {
  settings_file s;
  json_text const& cuts = json.at(json.contains("discretizer") ? "discretizer" : "discretiser");
  if (!cuts.is_null()) s.discretizer = discretizer_from(cuts, name);
  s.scoring = l2r::scoring_options_from(json, name);
  return s;
}

}  // namespace

json_text to_json(datasets::discretizer_options const& options) {
  return {{"method", datasets::name_of(options.method)},
          {"bins", options.bins == 0 ? json_text("cv") : json_text(options.bins)},
          {"missing_values", datasets::name_of(options.missing)},
          {"unlisted", datasets::name_of(options.unlisted)},
          {"norm", datasets::name_of(options.norm)}};
}

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
  json_text const json = datasets::parse_ordered_json(text, name, "settings that tune wrote");
  if (auto const found = number_at<std::uint32_t>(json, "rulerank_settings", name); found != form)
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

nlohmann::ordered_json best_settings(context const& ctx, tuner& t, search_result const& result,
                                     std::size_t by, search_options const& options,
                                     eval::profile const& rules,
                                     std::optional<datasets::discretizer_options> discretizer) {
  std::vector<settings_file> settings;
  std::vector<std::size_t> members;
  for (std::size_t const at : result.chosen) {
    members.push_back(result.trials[at].candidate);
    candidate const& chosen = t.candidates()[members.back()];
    settings.push_back({discretizer, chosen.scoring});
    if (discretizer) {
      settings.back().discretizer->method = chosen.cuts.method;
      settings.back().discretizer->bins = chosen.cuts.bins;
    }
  }
  trial const& best = result.trials[result.chosen.front()];
  std::vector<double> const values = members.size() == 1 ? best.values : t.judge(ctx, members);
  nlohmann::ordered_json json = to_json(settings);
  json["metric"] = t.measures()[by].name();
  json["profile"] = eval::to_json(rules);
  for (std::size_t m = 0; m < values.size(); ++m)
    json["validation"][t.measures()[m].name()] = values[m];
  json["queries"] = best.queries;
  json["candidates"] = result.candidates;
  json["tried"] = result.tried;
  json["trials"] = result.trials.size();
  json["cross_fit"] = t.folds();
  json["search"] = to_json(options);
  return json;
}

}  // namespace rulerank::tuning
