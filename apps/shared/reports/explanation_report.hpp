#pragma once

#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/item_words.hpp"
#include "eval/table.hpp"
#include "l2r/explanation.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// What `explain` writes: as text, Markdown or JSON.
namespace rulerank::apps {

/// What the rules, points or weights of a member are written with.
struct rule_words {
  std::string_view kind;                     ///< of the member: rules, scorecard or linear
  std::vector<datasets::item_range> ranges;  ///< [items]; empty for weights of raw features
  datasets::normalization norm = datasets::normalization::none;
  datasets::feature_names const& names;
};

/// A document of a query.
struct query_document {
  datasets::dataset const& query;  ///< a data set of this query alone
  std::size_t d = 0;
};

/// One document, at most `top` of its items; `words` of each member; `format` is table or markdown.
/// With several members: how their parts make the score, then each member's own explanation.
std::string report(query_document const& document, l2r::model_explanation const& why,
                   std::span<rule_words const> words, std::size_t top, eval::table_format format);
std::string report(query_document const& first, query_document const& second,
                   l2r::model_comparison const& why, std::span<rule_words const> words,
                   std::size_t top, eval::table_format format);

/// The same for programs: whole numbers of any size as strings of digits, doubles beside them.
nlohmann::ordered_json report_json(query_document const& document,
                                   l2r::model_explanation const& why,
                                   std::span<rule_words const> words);
nlohmann::ordered_json report_json(query_document const& first, query_document const& second,
                                   l2r::model_comparison const& why,
                                   std::span<rule_words const> words);

}  // namespace rulerank::apps
