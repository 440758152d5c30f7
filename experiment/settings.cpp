#include "experiment/settings.hpp"

#include "core/error.hpp"
#include "eval/report.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

namespace rulerank::experiment {

namespace {

constexpr std::uint32_t largest_rule = 64;

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  if (list == "none") return words;
  for (std::size_t begin = 0;;) {
    std::size_t const end = list.find(',', begin);
    words.push_back(list.substr(begin, end - begin));
    if (end == std::string_view::npos) return words;
    begin = end + 1;
  }
}

}  // namespace

nlohmann::ordered_json to_json(settings const& s) {
  nlohmann::ordered_json json;
  json["reduce_sizes"] = s.reduce_sizes;
  json["rank_sizes"] = s.rank_sizes;
  json["baselines"] = nlohmann::ordered_json::array();
  if (s.full) json["baselines"].push_back("full");
  if (s.random) json["baselines"].push_back("random");
  if (s.feature) json["baselines"].push_back("feature");
  json["random_draws"] = s.random_draws;
  json["scores"] = nlohmann::ordered_json::array();
  for (outside_system const& other : s.outside) json["scores"].push_back(other.name);
  json["metrics"] = nlohmann::ordered_json::array();
  for (eval::measure const& m : s.measures) json["metrics"].push_back(m.name());
  json["profile"] = eval::to_json(s.profile);
  json["discretiser"] = {{"method", datasets::name_of(s.discretizer.method)},
                         {"bins", s.discretizer.bins},
                         {"missing_values", datasets::name_of(s.discretizer.missing)},
                         {"unlisted", datasets::name_of(s.discretizer.unlisted)},
                         {"norm", datasets::name_of(s.discretizer.norm)}};
  if (s.discretizer.bins == 0) json["discretiser"]["bins"] = "cv";
  json["partitions"] = s.partitions;
  json["feature_order"] = s.feature_order;
  json["min_support"] = s.scoring.thresholds.min_support;
  json["min_confidence"] = s.scoring.thresholds.min_confidence;
  json["support_weight"] = s.scoring.support_weight;
  json["smoothing"] = s.scoring.smoothing;
  json["feature_share"] = s.scoring.feature_share;
  if (s.tune) {
    nlohmann::ordered_json& tune = json["tune"];
    for (eval::measure const& m : s.tune->measures) tune["metrics"].push_back(m.name());
    tune["try"] = tuning::to_json(s.tune->space);
    tune["cross_fit"] = s.tune->cross_fit;
    tune["search"] = tuning::to_json(s.tune->search);
  }
  json["reading"] = s.reading;
  json["seed"] = s.seed;
  return json;
}

std::vector<system> systems_of(settings const& s) {
  std::vector<system> systems;
  for (std::uint32_t const rank_size : s.rank_sizes) {
    auto const add = [&](system_kind kind, std::uint32_t reduce_size, std::string label) {
      std::string name = fmt::format("{}-rank-{}", label, rank_size);
      systems.push_back({kind, reduce_size, rank_size, std::move(label), std::move(name), 0});
    };
    if (s.full) add(system_kind::full, 0, "full");
    for (std::uint32_t const size : s.reduce_sizes)
      add(system_kind::reduced, size, fmt::format("reduced-{}", size));
    if (s.random)
      for (std::uint32_t const size : s.reduce_sizes)
        add(system_kind::random, size, fmt::format("random-{}", size));
  }
  if (s.tune)
    for (std::size_t m = 0; m < s.tune->measures.size(); ++m) {
      auto const add = [&](std::uint32_t reduce_size, std::string const& label) {
        std::string const name = fmt::format("{}-tuned-{}", label, s.tune->measures[m].name());
        systems.push_back({system_kind::tuned, reduce_size, 0, name, name, m});
      };
      if (s.full) add(0, "full");
      for (std::uint32_t const size : s.reduce_sizes) add(size, fmt::format("reduced-{}", size));
    }
  if (s.feature) systems.push_back({system_kind::feature, 0, 0, "feature", "feature", 0});
  for (outside_system const& other : s.outside)
    systems.push_back({system_kind::outside, 0, 0, other.name, other.name, 0});
  if (systems.empty()) throw usage_error("no system to judge, expected a rule size or a baseline");
  std::set<std::string> names;
  for (system const& one : systems)
    if (!names.insert(one.name).second)
      throw usage_error(fmt::format("--scores: the name '{}' is taken", one.name));
  return systems;
}

void set_baselines(settings& s, std::string_view list) {
  s.full = s.random = s.feature = false;
  for (std::string_view const word : words_of(list)) {
    if (word == "full")
      s.full = true;
    else if (word == "random")
      s.random = true;
    else if (word == "feature")
      s.feature = true;
    else
      throw usage_error(fmt::format(
          "--baselines: found '{}', expected full, random, feature, several or none", word));
  }
}

std::vector<std::uint32_t> rule_sizes_from(std::string_view option, std::string_view list) {
  std::vector<std::uint32_t> sizes;
  for (std::string_view const word : words_of(list)) {
    std::uint32_t size = 0;
    auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (status != std::errc{} || end != word.data() + word.size() || size < 2 ||
        size > largest_rule)
      throw usage_error(fmt::format("{}: found '{}', expected rule sizes from 2 to {}, or none",
                                    option, word, largest_rule));
    if (std::find(sizes.begin(), sizes.end(), size) != sizes.end())
      throw usage_error(fmt::format("{}: {} is given twice", option, size));
    sizes.push_back(size);
  }
  return sizes;
}

outside_system outside_from(std::string_view text) {
  std::size_t const equals = text.find('=');
  std::string_view const name = text.substr(0, equals);
  if (equals == std::string_view::npos || equals + 1 == text.size() || name.empty() ||
      name.front() == '.' || name.find('/') != std::string_view::npos)
    throw usage_error(
        fmt::format("--scores: found '{}', expected NAME=FOLDER, the name fit for a file", text));
  return {std::string(name), std::string(text.substr(equals + 1))};
}

}  // namespace rulerank::experiment
