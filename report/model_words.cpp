#include "report/model_words.hpp"

#include "core/error.hpp"

#include <cmath>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rulerank::inline v0::report {

using nlohmann::ordered_json;

member_words words_of(l2r::model const& model, std::size_t k,
                      std::vector<datasets::item_range> ranges,
                      datasets::feature_names const& names) {
  l2r::model_member const& member = model.members[k];
  auto const& cuts = l2r::cuts_of(member);
  auto const* const card = std::get_if<l2r::scorecard_member>(&member);
  auto const* const linear = std::get_if<l2r::linear_member>(&member);
  return {l2r::kind_of(member),
          std::move(ranges),
          cuts != nullptr ? cuts->options.norm : datasets::normalization::none,
          names.empty() ? l2r::names_of(model) : names,
          card != nullptr && card->options.page ? card : nullptr,
          linear != nullptr ? linear->weights.options.unlisted : cuts->options.unlisted,
          model.descriptions,
          linear != nullptr ? linear->weights.options.scale : l2r::linear_scale::query};
}

ordered_json feature_json(std::uint32_t feature, datasets::feature_names const& names) {
  ordered_json json{{"feature", feature}};
  if (auto const name = names.find(feature); name != names.end()) json["name"] = name->second;
  return json;
}

ordered_json item_json(datasets::item_range const& range, datasets::feature_names const& names) {
  ordered_json item = feature_json(range.feature, names);
  if (range.missing) {
    item["missing"] = true;
  } else {
    item["from"] = std::isfinite(range.low) ? ordered_json(range.low) : nullptr;
    item["below"] = std::isfinite(range.high) ? ordered_json(range.high) : nullptr;
  }
  return item;
}

std::string with_unit(std::string text, std::uint32_t feature, member_words const& words) {
  std::string const& unit = description_of(feature, words.descriptions).unit;
  return unit.empty() ? text : text + " " + unit;
}

std::string item_text(rules::item item, member_words const& words) {
  datasets::item_range const& range = words.ranges[item];
  std::string text = datasets::words_of(range, words.names);
  return range.missing ? text : with_unit(std::move(text), range.feature, words);
}

ordered_json description_json(l2r::feature_description const& of) {
  ordered_json json = ordered_json::object();
  if (!of.unit.empty()) json["unit"] = of.unit;
  if (!of.origin.empty()) json["origin"] = of.origin;
  return json;
}

std::string label_text(query_document const& document) {
  std::int32_t const label = document.query.labels[document.d];
  if (label == datasets::unlabelled) return "";
  return document.query.fractional_labels.empty()
             ? fmt::format("{}", label)
             : fmt::format("{}", document.query.fractional_labels[document.d]);
}

std::string document_text(query_document const& document) {
  std::string text = fmt::format("{} (line {}", printable(document.query.docid(document.d)),
                                 datasets::place_of(document.query, document.d).line);
  if (std::string const label = label_text(document); !label.empty()) text += ", label " + label;
  return text + ")";
}

std::string rank_text(std::size_t rank, datasets::dataset const& query, double score) {
  return fmt::format("rank {} of {}, score {}", rank, query.size(), score);
}

ordered_json standing_json(query_document const& document, std::size_t rank, double score) {
  std::int32_t const label = document.query.labels[document.d];
  return {{"docid", document.query.docid(document.d)},
          {"line", datasets::place_of(document.query, document.d).line},
          {"label", label == datasets::unlabelled ? ordered_json(nullptr) : ordered_json(label)},
          {"rank", rank},
          {"score", score}};
}

}  // namespace rulerank::report
