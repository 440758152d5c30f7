#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "l2r/export/additive.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// Models whose scores depend on the documents of a query's list, for formats that score a list.
namespace rulerank::inline v0::l2r {

/// A weighted sum of z-scores within the list; values that are missing have no z-score.
struct line_form {
  std::vector<double> weights;   ///< [features]
  std::vector<double> missing;   ///< [features] what a missing value adds
  bool missing_is_zero = false;  ///< a missing value is 0, and has a z-score
};

/// Points for two features together. A group of a feature is the number of its cuts <= the value.
struct pair_table {
  std::size_t first = 0, second = 0;  ///< of the list's features
  std::vector<double> first_cuts, second_cuts;
  /// Missing values are the last group; otherwise they add nothing.
  bool has_missing_group = false;
  std::vector<double> points;  ///< [groups of first x groups of second]
};

/// A sum of points, z-scores and tables.
struct joint_form {
  additive_form points;
  line_form lines;
  std::vector<pair_table> tables;
};

using list_member = std::variant<additive_form, line_form, joint_form>;

/// The terms of a score: each feature alone, then pairs of features.
using feature_pair = std::pair<std::size_t, std::size_t>;

/// The score is that of the one member or, of several, the mean of theirs, each standardized within
/// the list; where these are all equal, 0.
struct list_form {
  std::vector<std::uint32_t> numbers;      ///< of the features, ascending
  std::vector<std::string> names;          ///< [features]
  std::vector<feature_description> about;  ///< [features]; empty: none has a unit or an origin
  bool absent_is_missing = false;          ///< of a feature that a document does not list
  std::vector<list_member> members;        ///< all of them of all the features
  std::vector<feature_pair> pairs;         ///< with a table in some member; ascending
  l2r::portability portability;
};

/// Members of all kinds but rules. Throws `usage_error` for others.
list_form list_form_of(model const& of, export_options const& options);

/// The scores of documents whose features have the numbers of the form.
std::vector<double> scores_of(context const& ctx, list_form const& form,
                              datasets::dataset const& documents);

std::string write_onnx(list_form const& form, export_options const& options);

}  // namespace rulerank::l2r
