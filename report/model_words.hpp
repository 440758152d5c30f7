#pragma once

#include "report/models.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// Features, items and rules of models in reports: as text and as JSON.
namespace rulerank::inline v0::report {

using datasets::feature_text;

/// A feature: `feature`, and `name` if it has one.
nlohmann::ordered_json feature_json(std::uint32_t feature, datasets::feature_names const& names);
/// An item: `feature`, `name` if it has one, and its range.
nlohmann::ordered_json item_json(datasets::item_range const& range,
                                 datasets::feature_names const& names);

/// An item as text with the unit of its feature: `price in [3, 5) EUR`.
std::string item_text(rules::item item, member_words const& words);
/// A value and the unit of its feature.
std::string with_unit(std::string text, std::uint32_t feature, member_words const& words);
/// The members `unit` and `origin`, as far as known.
nlohmann::ordered_json description_json(l2r::feature_description const& of);

/// For example `57950 (line 1, label 0)`.
std::string document_text(query_document const& document);
/// The document's label; empty if it has none.
std::string label_text(query_document const& document);
/// For example `rank 1 of 101, score 0.93`.
std::string rank_text(std::size_t rank, datasets::dataset const& query, double score);
/// A document's ids, line, label, rank and score.
nlohmann::ordered_json standing_json(query_document const& document, std::size_t rank,
                                     double score);

/// Adds the tables of `effects`, without the document's description.
void add_effects(query_document const& document, l2r::score_effects const& of,
                 std::span<member_words const> words, std::size_t top, blocks& to);
void add_effects(query_document const& first, query_document const& second,
                 l2r::score_effects const& of_first, l2r::score_effects const& of_second,
                 std::span<member_words const> words, std::size_t top, blocks& to);

/// The indices 0 to `size` - 1 by decreasing |value|; at most `top`.
template <class Value>
std::vector<std::size_t> largest(std::size_t size, std::size_t top, Value const& value) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return std::abs(value(a)) > std::abs(value(b)); });
  order.resize(std::min(size, top));
  return order;
}

/// The text of a rule of a document (`l2r::document_rule`) or model (`l2r::strong_rule`).
template <class Rule>
std::string rule_text(Rule const& rule, member_words const& words) {
  return datasets::words_of_rule(rule.antecedent, rule.label, words.ranges, words.names);
}
template <class Rule>
double confidence(Rule const& rule) {
  return static_cast<double>(rule.support) / rule.documents;
}
/// A rule as JSON: its text, antecedent and label.
template <class Rule>
nlohmann::ordered_json rule_json(Rule const& rule, member_words const& words) {
  nlohmann::ordered_json antecedent = nlohmann::ordered_json::array();
  for (rules::item const x : rule.antecedent)
    antecedent.push_back(item_json(words.ranges[x], words.names));
  return {{"rule", rule_text(rule, words)}, {"antecedent", antecedent}, {"label", rule.label}};
}

}  // namespace rulerank::report
