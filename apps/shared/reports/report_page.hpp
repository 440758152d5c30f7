#pragma once

#include "datasets/dataset.hpp"
#include "datasets/item_words.hpp"
#include "eval/table.hpp"

#include <cstdint>
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

using datasets::feature_text;
using datasets::words_of_rule;

/// A feature for programs: `feature`, and `name` where it has one.
nlohmann::ordered_json feature_json(std::uint32_t feature, datasets::feature_names const& names);
/// An item for programs: `feature`, `name` where it has one, and its range.
nlohmann::ordered_json item_json(datasets::item_range const& range,
                                 datasets::feature_names const& names);

}  // namespace rulerank::apps
