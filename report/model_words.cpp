#include "report/model_words.hpp"

#include <cmath>
#include <utility>
#include <variant>

namespace rulerank::inline v0::report {

using nlohmann::ordered_json;

member_words words_of(l2r::model_member const& member, std::vector<datasets::item_range> ranges,
                      datasets::feature_names const& names) {
  datasets::discretizer const* cuts = nullptr;
  if (auto const* const rules = std::get_if<l2r::rules_member>(&member)) cuts = rules->cuts.get();
  auto const* const card = std::get_if<l2r::scorecard_member>(&member);
  if (card != nullptr) cuts = card->cuts.get();
  if (auto const* const joint = std::get_if<l2r::joint_member>(&member)) cuts = joint->cuts.get();
  datasets::feature_names const& own =
      cuts != nullptr ? cuts->names : std::get<l2r::linear_member>(member).weights.names;
  return {l2r::kind_of(member), std::move(ranges),
          cuts != nullptr ? cuts->options.norm : datasets::normalization::none,
          names.empty() ? own : names, card != nullptr && card->options.page ? card : nullptr};
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

}  // namespace rulerank::report
