#pragma once
// Types and functions for the readers of judgments.

#include "datasets/judgments/json_view.hpp"
#include "datasets/judgments/judgments.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace rulerank::inline v0::datasets {

/// Counts and skipped parts of a file, for warnings.
struct judgment_notes {
  std::size_t found = 0;              ///< judgments, or documents of a log
  std::set<std::string> left_out;     ///< parts that judgments cannot represent
  std::size_t without_grade = 0;      ///< listed documents or queries without a judgment
  std::size_t without_judgments = 0;  ///< queries with an empty list
};

/// Returns the object with `judgmentRatings` in a response to a GET of the Search Relevance
/// Workbench.
std::optional<json_view> stored_judgments(json_view response);

/// Reads an object in the format rre or srw.
void read_json_judgments(json_view value, judgment_form form, judgment_list& to,
                         judgment_notes& notes);

/// Reads responses in the format ltr-log or solr-log. If the file has a single response, without a
/// query, the file's name is the query's id.
void read_log(std::span<json_view const> values, judgment_form form, std::string const& path,
              std::string const& id_field, feature_log& to, judgment_notes& notes);

}  // namespace rulerank::datasets
