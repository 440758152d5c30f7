#pragma once

#include "datasets/dataset.hpp"
#include "l2r/export/export.hpp"
#include "l2r/model/model.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What every format is written from: a sum of points, one number a feature.
namespace rulerank::inline v0::l2r {

struct additive_feature {
  std::uint32_t feature = 0;
  std::string name;
  std::vector<double> cuts;    ///< ascending; the bin of x is the number of cuts <= x
  std::vector<double> points;  ///< [cuts + 1]
  double missing = 0;          ///< the points of a missing value
  bool misses = true;          ///< a training document missed the value, or it is unknown
  feature_description about{};
};

/// Sums of points are exact in double, and in float32 where `single`.
struct additive_form {
  std::vector<additive_feature> features;
  std::string portability;  ///< portability_of the model
  /// A feature that a document does not list is missing; otherwise it is 0.
  bool absent_is_missing = false;
  /// Values become float32 before they are compared with the cuts.
  bool single = false;
};

/// Throws as `export_model` does.
additive_form additive_form_of(model const& of, export_options const& options);

/// The name of a feature that has `own` names in the model; those of the options come first.
std::string name_of_feature(std::uint32_t feature, datasets::feature_names const& own,
                            datasets::feature_names const& given);

/// Throws `usage_error` for a name of an export that is no identifier, and for equal names.
void expect_identifier(std::string const& name);
void expect_distinct(std::span<std::string const> names);

double points_of(additive_feature const& feature, double value);
/// The smallest and largest score.
struct score_range {
  double low = 0, high = 0;
};
score_range range_of(additive_form const& form);

/// The lines of the comment at the head of a file, without marks of a comment.
std::vector<std::string> head_lines(additive_form const& form, export_options const& options);
/// The same and the descriptions of features, each line after `mark`. `ascii`: for Java.
std::string head_comment(additive_form const& form, export_options const& options,
                         std::string_view mark, bool ascii = false);

/// Whether a feature has a unit or an origin.
bool has_descriptions(additive_form const& form);
/// The features' units, or origins, as a list of JSON.
std::string list_of(additive_form const& form, std::string feature_description::*text);

/// A number as C, Java, JavaScript and Python read it: the shortest decimal of the same double.
std::string number_text(double value);
/// These, separated by commas.
std::string numbers_text(std::vector<double> const& values);
/// A string of Python and JavaScript; with `ascii` of Java.
std::string string_text(std::string_view text, bool ascii = false);

// One file each.
std::string write_c(additive_form const& form, export_options const& options);
std::string write_java(additive_form const& form, export_options const& options);
std::string write_javascript(additive_form const& form, export_options const& options);
std::string write_python(additive_form const& form, export_options const& options);
std::string write_sql(additive_form const& form, export_options const& options);
std::string write_xlsx(additive_form const& form, export_options const& options);

}  // namespace rulerank::l2r
