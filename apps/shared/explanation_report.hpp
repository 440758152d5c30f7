#pragma once

#include "datasets/dataset.hpp"
#include "datasets/item_words.hpp"
#include "eval/table.hpp"
#include "l2r/explanation.hpp"
#include "l2r/model.hpp"
#include "rules/vertical_index.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// What `explain` writes: as text, Markdown or JSON.
namespace rulerank::apps {

/// The cuts and training documents of the member that is explained.
struct explained_member {
  datasets::discretizer discretizer;
  datasets::binned_dataset training;
};

/// What rules are written with.
struct rule_words {
  explained_member const& model;
  rules::vertical_index const& index;
  std::vector<datasets::item_range> ranges;  ///< [items]
  datasets::feature_names names;
};

/// A document and its place in its query.
struct explained_document {
  datasets::dataset const& query;  ///< a data set of this query alone
  std::size_t d = 0;
  std::size_t rank = 0;  ///< from 1
};

/// One document, at most `top` of its items; `format` is table or markdown.
std::string report(explained_document const& document, l2r::explanation const& why,
                   rule_words const& words, std::size_t top, eval::table_format format);
std::string report(explained_document const& first, explained_document const& second,
                   l2r::comparison const& why, rule_words const& words, std::size_t top,
                   eval::table_format format);

/// The same for programs: whole numbers of any size as strings of digits, doubles beside them.
nlohmann::ordered_json report_json(explained_document const& document, l2r::explanation const& why,
                                   rule_words const& words);
nlohmann::ordered_json report_json(explained_document const& first,
                                   explained_document const& second, l2r::comparison const& why,
                                   rule_words const& words);

}  // namespace rulerank::apps
