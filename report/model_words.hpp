#pragma once

#include "report/models.hpp"

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

// Features, items and rules of models in reports: in words, and for programs.
namespace rulerank::inline v0::report {

using datasets::feature_text;

/// A feature: `feature`, and `name` where it has one.
nlohmann::ordered_json feature_json(std::uint32_t feature, datasets::feature_names const& names);
/// An item: `feature`, `name` where it has one, and its range.
nlohmann::ordered_json item_json(datasets::item_range const& range,
                                 datasets::feature_names const& names);

/// Of a rule of a document (`l2r::document_rule`) or of a model (`l2r::strong_rule`).
template <class Rule>
std::string rule_text(Rule const& rule, member_words const& words) {
  return datasets::words_of_rule(rule.antecedent, rule.label, words.ranges, words.names);
}
template <class Rule>
double confidence(Rule const& rule) {
  return static_cast<double>(rule.support) / rule.documents;
}
/// What a rule is for programs: its text, its antecedent and its label.
template <class Rule>
nlohmann::ordered_json rule_json(Rule const& rule, member_words const& words) {
  nlohmann::ordered_json antecedent = nlohmann::ordered_json::array();
  for (rules::item const x : rule.antecedent)
    antecedent.push_back(item_json(words.ranges[x], words.names));
  return {{"rule", rule_text(rule, words)}, {"antecedent", antecedent}, {"label", rule.label}};
}

}  // namespace rulerank::report
