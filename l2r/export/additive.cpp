#include "l2r/export/additive.hpp"

#include "core/error.hpp"
#include "core/version.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::l2r {

namespace {

/// Whole numbers of this size in units of 2^-card_bits add exactly in double.
constexpr double most_exact_sum = 0x1p53;

scorecard_member const& portable_member(model const& of) {
  constexpr std::string_view portable =
      "expected one card or scorecard, whose scores depend on a document's own values alone; "
      "rulerank fit --members card makes one; --to onnx also holds linear and joint members, and "
      "several; --to elasticsearch, opensearch and solr also hold a linear member fitted with "
      "--linear-scale pool";
  if (of.members.size() > 1)
    throw usage_error(fmt::format(
        "found {} members, whose combined scores depend on the documents of the list, {}",
        of.members.size(), portable));
  auto const* const card = std::get_if<scorecard_member>(&of.members.front());
  if (card == nullptr) {
    bool const rules = std::holds_alternative<rules_member>(of.members.front());
    throw usage_error(
        fmt::format("found a model of the kind {}, {}, {}", kind_of(of.members.front()),
                    rules             ? "which no format holds"
                    : is_portable(of) ? "which this format does not hold"
                                      : "whose scores depend on the documents of the list",
                    portable));
  }
  if (card->cuts == nullptr)
    throw usage_error("found a scorecard without cuts, expected one that reads values");
  if (card->cuts->options.norm != datasets::normalization::none)
    throw usage_error(fmt::format(
        "found a {} of values that are normalized within their query ({}), {}; fit it with --norm "
        "none",
        kind_of(of.members.front()), datasets::name_of(card->cuts->options.norm), portable));
  return *card;
}

additive_feature feature_of(scorecard_member const& member, std::size_t f,
                            datasets::feature_names const& names,
                            feature_descriptions const& descriptions) {
  scorecard const& card = member.card;
  datasets::discretizer const& cuts = *member.cuts;
  additive_feature made;
  made.feature = card.features[f];
  made.name = name_of_feature(made.feature, cuts.names, names);
  made.about = description_of(made.feature, descriptions);
  made.cuts =
      std::ranges::find(cuts.features, made.feature, &datasets::feature_cuts::feature)->cuts;
  for (std::size_t bin = 0; bin <= made.cuts.size(); ++bin)
    made.points.push_back(value_of_points(card.points[card.item_begin[f] + bin]));
  switch (cuts.options.missing) {
    case datasets::missing_values::item:
      made.missing = value_of_points(card.points[card.item_begin[f + 1] - 1]);
      if (member.item_documents.size() == card.points.size())
        made.misses = member.item_documents[card.item_begin[f + 1] - 1] > 0;
      break;
    case datasets::missing_values::zero:
      made.missing = points_of(made, 0);
      break;
    case datasets::missing_values::none:
      break;
  }
  return made;
}

void expect_exact_sums(additive_form const& form) {
  double largest = 0;
  for (additive_feature const& one : form.features) {
    double most = std::abs(one.missing);
    for (double const points : one.points) most = std::max(most, std::abs(points));
    largest += most;
  }
  if (std::ldexp(largest, card_bits) >= most_exact_sum)
    throw usage_error(fmt::format("found scores of up to {}, expected less than {}", largest,
                                  std::ldexp(most_exact_sum, -card_bits)));
}

/// A string of JSON that ends no comment: neither one of C nor a line of JavaScript.
std::string comment_string(std::string_view text, bool ascii) {
  std::string made = string_text(text, ascii);
  auto const escape = [&](std::string_view found, std::string_view by) {
    for (std::size_t at = made.find(found); at != made.npos; at = made.find(found, at))
      made.replace(at, found.size(), by);
  };
  if (made.find("*/") != made.npos || made.find("/*") != made.npos) escape("*", "\\u002a");
  escape("\xe2\x80\xa8", "\\u2028");
  escape("\xe2\x80\xa9", "\\u2029");
  return made;
}

}  // namespace

void expect_distinct(std::span<std::string const> names) {
  std::set<std::string_view> known;
  for (std::string const& name : names)
    if (!known.insert(name).second)
      throw usage_error(fmt::format("found two features of the name {}, expected different names",
                                    rulerank::quoted(name)));
}

void expect_identifier(std::string const& name) {
  auto const is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  bool const good =
      !name.empty() && is_letter(name.front()) &&
      std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  if (!good)
    throw usage_error(fmt::format(
        "found {} as the name of the export, expected letters, digits and _, a letter first",
        rulerank::quoted(name)));
}

std::string name_of_feature(std::uint32_t feature, datasets::feature_names const& own,
                            datasets::feature_names const& given) {
  for (auto const* const names : {&given, &own})
    if (auto const at = names->find(feature); at != names->end()) return at->second;
  return fmt::format("f{}", feature);
}

double points_of(additive_feature const& feature, double value) {
  if (std::isnan(value)) return feature.missing;
  auto const bin =
      std::upper_bound(feature.cuts.begin(), feature.cuts.end(), value) - feature.cuts.begin();
  return feature.points[static_cast<std::size_t>(bin)];
}

additive_form additive_form_of(model const& of, export_options const& options) {
  expect_identifier(options.name);
  scorecard_member const& member = portable_member(of);
  datasets::discretizer_options const& how = member.cuts->options;
  additive_form form;
  form.portability = portability_of(of).words;
  form.absent_is_missing = how.unlisted == datasets::unlisted_values::missing &&
                           how.missing != datasets::missing_values::zero;
  for (std::size_t f = 0; f < member.card.features.size(); ++f)
    form.features.push_back(feature_of(member, f, options.names, of.descriptions));
  std::vector<std::string> names;
  for (additive_feature const& one : form.features) names.push_back(one.name);
  expect_distinct(names);
  expect_exact_sums(form);
  return form;
}

score_range range_of(additive_form const& form) {
  score_range range;
  for (additive_feature const& one : form.features) {
    auto const [low, high] = std::ranges::minmax(one.points);
    range.low += std::min(low, one.missing);
    range.high += std::max(high, one.missing);
  }
  return range;
}

std::vector<std::string> head_lines(additive_form const& form, export_options const& options) {
  score_range const range = range_of(form);
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: a sum of points of {}, from {} to {}.", options.name,
                              counted(form.features.size(), "feature"), range.low, range.high));
  lines.push_back(fmt::format("Exported by rulerank {}{}.", version,
                              options.source.empty() ? "" : " from " + options.source));
  lines.push_back(fmt::format("The model is {}.", form.portability));
  return lines;
}

std::string head_comment(additive_form const& form, export_options const& options,
                         std::string_view mark, bool ascii) {
  std::vector<std::string> lines = head_lines(form, options);
  for (additive_feature const& one : form.features) {
    auto const& [unit, origin] = one.about;
    if (unit.empty() && origin.empty()) continue;
    std::string line = comment_string(one.name, ascii) + ":";
    if (!unit.empty()) line += " unit " + comment_string(unit, ascii);
    if (!unit.empty() && !origin.empty()) line += ",";
    if (!origin.empty()) line += " origin " + comment_string(origin, ascii);
    lines.push_back(std::move(line));
  }
  std::string text;
  for (std::string const& line : lines) text += fmt::format("{} {}\n", mark, line);
  return text;
}

bool has_descriptions(additive_form const& form) {
  return std::ranges::any_of(form.features, [](additive_feature const& one) {
    return !one.about.unit.empty() || !one.about.origin.empty();
  });
}

std::string list_of(additive_form const& form, std::string feature_description::*text) {
  nlohmann::json list = nlohmann::json::array();
  for (additive_feature const& one : form.features) list.push_back(one.about.*text);
  return list.dump();
}

std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  // Java has no whole number beyond 2^31 without a point.
  bool const is_short = std::abs(value) < 0x1p31;
  if (!is_short && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string numbers_text(std::vector<double> const& values) {
  std::string text;
  for (double const value : values) text += (text.empty() ? "" : ", ") + number_text(value);
  return text;
}

std::string string_text(std::string_view text, bool ascii) {
  return nlohmann::json(text).dump(-1, ' ', ascii, nlohmann::json::error_handler_t::replace);
}

}  // namespace rulerank::l2r
