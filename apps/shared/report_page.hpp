#pragma once

#include "datasets/dataset.hpp"
#include "datasets/item_words.hpp"
#include "eval/table.hpp"
#include "rules/itemset.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

// What the reports about models are put together from.
namespace rulerank::apps {

/// Paragraphs, tables and headings in one of the two forms.
class page {
 public:
  explicit page(eval::table_format format) : format_(format) {}

  void heading(std::string const& text);
  void line(std::string const& text) { add(escaped(text) + "\n"); }
  void table(eval::table const& t);
  std::string take() { return std::move(text_); }

 private:
  /// A line as the title of a table without columns is shown.
  std::string escaped(std::string const& text) const;
  void add(std::string const& text);

  eval::table_format format_;
  std::string text_;
};

/// What a feature is called, or `feature 12`.
std::string feature_text(std::uint32_t feature, datasets::feature_names const& names);
/// `X and Y -> 2`; `ranges` [items].
std::string words_of_rule(std::span<rules::item const> antecedent, std::int32_t label,
                          std::span<datasets::item_range const> ranges,
                          datasets::feature_names const& names);

/// A feature for programs: `feature`, and `name` where it has one.
nlohmann::ordered_json feature_json(std::uint32_t feature, datasets::feature_names const& names);
/// An item for programs: `feature`, `name` where it has one, and its range.
nlohmann::ordered_json item_json(datasets::item_range const& range,
                                 datasets::feature_names const& names);

}  // namespace rulerank::apps
