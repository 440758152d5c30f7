#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "l2r/model/model.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A model as source code, as a query, or as a file of another library
// (docs/reference/verbs/export.md). Threads: functions may be called from any number of threads at
// once.
namespace rulerank::inline v0::l2r {

enum class export_format {
  c,
  java,
  javascript,
  python,
  sql,
  xlsx,
  lightgbm,
  xgboost,
  onnx,
  elasticsearch,
  opensearch,
  solr
};

/// The names of the command line, in the order of `export_format`; export_format_from throws
/// `usage_error`.
std::span<std::string_view const> export_format_names();
export_format export_format_from(std::string_view name);

/// An identifier for the exports to a file: its name without folder and extension, in which `_`
/// replaces what identifiers do not have.
std::string export_name_of(std::string const& path);

struct export_options {
  export_format format = export_format::c;
  /// Of the functions, the class or the model: an identifier, letters, digits and `_`.
  std::string name = "card";
  /// What the model is made of, for the comment at the head; empty: the head does not say it.
  std::string source;
  /// Names for features that have none in the model. A feature without a name is `f12`.
  datasets::feature_names names;
  bool ubjson = false;  ///< xgboost: UBJSON instead of JSON, for files *.ubj
  /// elasticsearch, opensearch: JSON of a feature set as the plugin takes it; the export has the
  /// definitions of the card's features. Empty: a model for a set that is there.
  std::string feature_set;
  std::string feature_set_name;  ///< of the file, for messages
};

struct exported_model {
  std::string text;  ///< the file
  /// What the target computes in another way than this program, one sentence each.
  std::vector<std::string> notes;
};

/// Writes a model that is one card or scorecard on values that are not normalized: the score of a
/// document depends on its own values alone. onnx also holds linear and joint members, and several.
/// Throws `usage_error` for other models, for a name that
/// is no identifier, for two features of one name, and for what the format cannot hold; `error`
/// naming the feature set where it lacks a feature of the card.
exported_model export_model(model const& of, export_options const& options);

/// How the scores of an exported model differ from the model's.
struct export_difference {
  /// Scores that differ by this times the larger of 1 and the score count as equal: 0 for portable
  /// exports; sums over a list have another order elsewhere.
  double within = 0;
  std::size_t documents = 0;           ///< with another score
  std::size_t first = 0;               ///< of these
  double by_model = 0, by_export = 0;  ///< the scores of the first
  bool same_order = true;  ///< all pairs of documents of a query are ordered, or tied, alike
};

/// Scores documents by the model and by the numbers and the arithmetic of the exported file.
/// `documents` of the result is 0 where all scores are equal. Throws as `export_model` does.
export_difference check_export(context const& ctx, model const& of, export_options const& options,
                               datasets::dataset const& documents);

}  // namespace rulerank::l2r
