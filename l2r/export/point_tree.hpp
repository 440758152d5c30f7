#pragma once

#include "l2r/export/additive.hpp"

#include <cstddef>
#include <string>
#include <vector>

// The points of a feature as a decision tree, for formats that hold trees.
namespace rulerank::inline v0::l2r {

struct point_node {
  bool is_leaf = false;
  double value = 0;  ///< a leaf's points; another's cut: values below it go left
  std::size_t left = 0, right = 0;
};

/// The nodes of a balanced tree, the root first. A missing value goes right in all of them: below a
/// root whose cut is `largest`, which finite values lie below, to a leaf of its own; without that
/// root where the last bin has the same points.
std::vector<point_node> tree_of(additive_feature const& feature, double largest);

/// Makes the form one that engines of float32 compute exactly: cuts are rounded, as values will be.
/// Throws `usage_error` for points that are not whole, for sums from 2^24 and for cuts that float32
/// does not distinguish.
void make_single(additive_form& form, std::string_view format);

/// The threshold for a cut in Solr's MultipleAdditiveTreesModel, which adds 1e-6 to it in float32
/// and sends values up to the sum left: the sum is the largest one below `cut`.
float solr_threshold(float cut);
/// The least value that goes right by that threshold: the cut, or one float32 less, or up to
/// 2.4e-13 less near 0.
float solr_cut(float cut);

std::string write_lightgbm(additive_form const& form, export_options const& options);
std::string write_xgboost(additive_form const& form, export_options const& options);
/// For the plugins of Elasticsearch and OpenSearch.
std::string write_search_plugin(additive_form const& form, export_options const& options);
std::string write_solr(additive_form const& form, export_options const& options);

}  // namespace rulerank::l2r
