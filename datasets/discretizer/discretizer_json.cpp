#include "datasets/discretizer/discretizer_json.hpp"

#include "core/error.hpp"
#include "core/json_fields.hpp"
#include "core/json_text.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/names.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::datasets {

namespace {

constexpr char const* format_name = "rulerank-discretizer";
constexpr int format_version = 1;
constexpr int version_with_names = 2;  // a reader of version 1 would only use numbers

template <class Enum, std::size_t N>
using words = std::array<std::pair<std::string_view, Enum>, N>;

constexpr words<binning, 4> binning_words{{{"tube", binning::tube},
                                           {"width", binning::width},
                                           {"frequency", binning::frequency},
                                           {"capped", binning::capped}}};
constexpr words<missing_values, 3> missing_words{{{"item", missing_values::item},
                                                  {"none", missing_values::none},
                                                  {"zero", missing_values::zero}}};
constexpr words<unlisted_values, 2> unlisted_words{
    {{"zero", unlisted_values::zero}, {"missing", unlisted_values::missing}}};
constexpr words<normalization, 3> normalization_words{
    {{"none", normalization::none},
     {"query-minmax", normalization::query_minmax},
     {"query-zscore", normalization::query_zscore}}};

template <class Enum, std::size_t N>
std::string_view word_of(words<Enum, N> const& table, Enum value) {
  return std::find_if(table.begin(), table.end(), [&](auto const& w) { return w.second == value; })
      ->first;
}

template <class Enum, std::size_t N>
Enum value_of(words<Enum, N> const& table, std::string_view what, std::string_view word) {
  std::string expected;
  for (auto const& [name, value] : table) {
    if (name == word) return value;
    expected += (expected.empty() ? "" : ", ") + std::string(name);
  }
  throw usage_error(fmt::format("{}: found '{}', expected one of {}", what, word, expected));
}

using object_reader = json_fields<nlohmann::json>;

/// Reads the name of a feature; `seen` has the previous names.
void read_name(object_reader const& entry, std::uint32_t feature, std::set<std::string>& seen,
               feature_names& names) {
  std::string const name = entry.word("name");
  if (name.empty()) entry.fail("name", "found an empty name, expected the feature's name");
  if (has_control_characters(name))
    entry.fail("name", fmt::format("found {} with a control character, expected text",
                                   rulerank::quoted(name)));
  if (!seen.insert(name).second)
    entry.fail("name",
               fmt::format("found {} again, expected each name once", rulerank::quoted(name)));
  names.emplace(feature, name);
}

}  // namespace

std::string_view name_of(binning value) {
  return word_of(binning_words, value);
}
std::string_view name_of(missing_values value) {
  return word_of(missing_words, value);
}
std::string_view name_of(unlisted_values value) {
  return word_of(unlisted_words, value);
}
std::string_view name_of(normalization value) {
  return word_of(normalization_words, value);
}

binning binning_from(std::string_view word) {
  return value_of(binning_words, "method", word);
}
missing_values missing_values_from(std::string_view word) {
  return value_of(missing_words, "missing_values", word);
}
unlisted_values unlisted_values_from(std::string_view word) {
  return value_of(unlisted_words, "unlisted", word);
}
normalization normalization_from(std::string_view word) {
  return value_of(normalization_words, "norm", word);
}

nlohmann::json to_json(discretizer const& fitted) {
  nlohmann::json json;
  json["format"] = format_name;
  json["version"] = fitted.names.empty() ? format_version : version_with_names;
  json["method"] = name_of(fitted.options.method);
  if (fitted.options.bins == 0)
    json["bins"] = "cv";
  else
    json["bins"] = fitted.options.bins;
  json["missing_values"] = name_of(fitted.options.missing);
  json["unlisted"] = name_of(fitted.options.unlisted);
  json["norm"] = name_of(fitted.options.norm);
  json["features"] = nlohmann::json::array();
  for (feature_cuts const& f : fitted.features) {
    json["features"].push_back({{"feature", f.feature}, {"cuts", f.cuts}});
    if (!fitted.names.empty()) json["features"].back()["name"] = name_of(f.feature, fitted.names);
  }
  if (fitted.columns != 0) json["columns"] = fitted.columns;
  return json;
}

discretizer discretizer_from_json(nlohmann::json const& json, std::string const& name) {
  object_reader const top(json, name);
  if (std::string const format = top.word("format"); format != format_name)
    top.fail("format", fmt::format("found '{}', expected '{}'", format, format_name));
  bool const named =
      top.integer("version", format_version, version_with_names) == version_with_names;

  discretizer fitted;
  fitted.options.method = top.known("method", binning_from);
  fitted.options.missing = top.known("missing_values", missing_values_from);
  fitted.options.unlisted = top.known("unlisted", unlisted_values_from);
  fitted.options.norm = top.known("norm", normalization_from);
  bool const cross_validated = top.member("bins") == "cv";
  fitted.options.bins =
      cross_validated ? 0 : static_cast<int>(top.integer("bins", 2, most_cuts + 1));
  std::size_t const most =
      cross_validated ? most_cuts : static_cast<std::size_t>(fitted.options.bins) - 1;

  std::set<std::string> seen;
  nlohmann::json const& features = top.list("features");
  for (std::size_t i = 0; i < features.size(); ++i) {
    object_reader const entry(features[i], name, fmt::format("features[{}].", i));
    feature_cuts f;
    f.feature = static_cast<std::uint32_t>(
        entry.integer("feature", 0, std::numeric_limits<std::int32_t>::max()));
    if (!fitted.features.empty() && f.feature <= fitted.features.back().feature)
      entry.fail("feature", fmt::format("found {} after {}, expected ascending numbers", f.feature,
                                        fitted.features.back().feature));
    if (named) read_name(entry, f.feature, seen, fitted.names);
    nlohmann::json const& cuts = entry.list("cuts");
    if (cuts.size() > most)
      entry.fail("cuts", fmt::format("found {} cuts, expected at most {}", cuts.size(), most));
    for (nlohmann::json const& cut : cuts) {
      if (!cut.is_number() || !std::isfinite(cut.get<double>()))
        entry.fail("cuts", fmt::format("found {}, expected a finite number", json_shown(cut)));
      double const value = cut.get<double>();
      if (!f.cuts.empty() && !(value > f.cuts.back()))
        entry.fail("cuts",
                   fmt::format("found {} after {}, expected ascending cuts", value, f.cuts.back()));
      f.cuts.push_back(value);
    }
    fitted.features.push_back(std::move(f));
  }
  if (top.has("columns"))
    fitted.columns = static_cast<std::uint32_t>(
        top.integer("columns", 1, std::numeric_limits<std::int32_t>::max()));
  return fitted;
}

std::string to_text(discretizer const& fitted) {
  return to_json(fitted).dump();
}

discretizer discretizer_from_text(std::string_view text, std::string const& name) {
  return discretizer_from_json(parse_json(text, name, "a discretizer"), name);
}

discretizer read_discretizer(std::string const& path) {
  std::string const text = read_file(path, "a discretizer in JSON");
  if (text.starts_with("rulerank-model "))
    throw error({path, 1, 1},
                "found a model that `rulerank fit` wrote, expected the cuts of a discretizer; use "
                "a model with --model");
  return discretizer_from_text(text, path);
}

void write_discretizer(discretizer const& fitted, output_file& out) {
  out.write(to_json(fitted).dump(1) + "\n");
}

}  // namespace rulerank::datasets
