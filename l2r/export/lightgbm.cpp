#include "core/error.hpp"
#include "l2r/export/point_tree.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

// LightGBM's text: https://lightgbm.readthedocs.io, version 4 of the format.
namespace rulerank::inline v0::l2r {

namespace {

/// A numerical split whose missing values are NaN and go right.
constexpr int missing_right = 2 << 2;

/// Values up to a threshold go left. LightGBM reads values up to 1e-35 from 0 as 0.
double lightgbm_threshold(double cut) {
  constexpr double near_zero = 1e-36;
  if (std::abs(cut) < 1e-35) return cut > 0 ? near_zero : -near_zero;
  return std::nextafter(cut, -std::numeric_limits<double>::infinity());
}

/// Names are separated by blanks, and LightGBM refuses marks of JSON in them.
void expect_lightgbm_names(additive_form const& form) {
  for (additive_feature const& one : form.features)
    if (one.name.find_first_of(" \t\n\r\",:[]{}") != std::string::npos)
      throw usage_error(fmt::format(
          "found the feature {}, whose name LightGBM refuses; expected no blanks and none of "
          "\",:[]{{}}; --names FILE gives other names",
          rulerank::quoted(one.name)));
}

std::string lightgbm_tree(std::size_t number, additive_feature const& feature) {
  std::vector<point_node> const nodes = tree_of(feature, std::numeric_limits<double>::max());
  // LightGBM counts splits and leaves apart: a leaf is -1 - its number.
  std::vector<long> place;
  long splits = 0, leaves = 0;
  for (point_node const& node : nodes) place.push_back(node.is_leaf ? -1 - leaves++ : splits++);
  std::vector<long> left, right;
  std::vector<double> thresholds, values;
  for (point_node const& node : nodes) {
    if (node.is_leaf) {
      values.push_back(node.value);
      continue;
    }
    left.push_back(place[node.left]);
    right.push_back(place[node.right]);
    thresholds.push_back(lightgbm_threshold(node.value));
  }
  auto const same = [](long count, std::size_t value) {
    return std::vector(static_cast<std::size_t>(count), value);
  };
  return fmt::format(
      "Tree={}\nnum_leaves={}\nnum_cat=0\nsplit_feature={}\nsplit_gain={}\nthreshold={}\n"
      "decision_type={}\nleft_child={}\nright_child={}\nleaf_value={}\nleaf_weight={}\n"
      "leaf_count={}\ninternal_value={}\ninternal_weight={}\ninternal_count={}\nis_linear=0\n"
      "shrinkage=1\n\n\n",
      number, leaves, fmt::join(same(splits, number), " "), fmt::join(same(splits, 0), " "),
      fmt::join(thresholds, " "), fmt::join(same(splits, missing_right), " "), fmt::join(left, " "),
      fmt::join(right, " "), fmt::join(values, " "), fmt::join(same(leaves, 1), " "),
      fmt::join(same(leaves, 1), " "), fmt::join(same(splits, 0), " "),
      fmt::join(same(splits, 1), " "), fmt::join(same(splits, 1), " "));
}

/// Units and origins, which LightGBM ignores. A line of its head has one `=`.
std::string lines_of_descriptions(additive_form const& form) {
  if (!has_descriptions(form)) return {};
  std::string lines;
  for (auto const& [key, text] : {std::pair("feature_units", &feature_description::unit),
                                  std::pair("feature_origins", &feature_description::origin)}) {
    std::string list = list_of(form, text);
    for (std::size_t at = list.find('='); at != list.npos; at = list.find('='))
      list.replace(at, 1, "\\u003d");
    lines += fmt::format("{}={}\n", key, list);
  }
  return lines;
}

}  // namespace

std::string write_lightgbm(additive_form const& form, export_options const&) {
  expect_lightgbm_names(form);
  std::vector<std::string> names, ranges;
  std::string trees;
  for (std::size_t f = 0; f < form.features.size(); ++f) {
    additive_feature const& one = form.features[f];
    names.push_back(one.name);
    ranges.push_back(fmt::format("[{}:{}]", one.cuts.front(), one.cuts.back()));
    trees += lightgbm_tree(f, one);
  }
  return fmt::format(
      "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
      "max_feature_idx={}\nobjective=regression\nfeature_names={}\nfeature_infos={}\nportable="
      "true\nportability={}\n{}\n{}"
      "end of trees\n\nfeature_importances:\n\nparameters:\nend of parameters\n\n"
      "pandas_categorical:null\n",
      form.features.size() - 1, fmt::join(names, " "), fmt::join(ranges, " "), form.portability,
      lines_of_descriptions(form), trees);
}

}  // namespace rulerank::l2r
