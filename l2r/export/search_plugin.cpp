#include "core/json_text.hpp"
#include "l2r/export/point_tree.hpp"

#include <limits>

#include <nlohmann/json.hpp>

// The model type model/xgboost+json of the plugins "Learning to Rank" of Elasticsearch and
// OpenSearch.
namespace rulerank::inline v0::l2r {

namespace {

using nlohmann::ordered_json;

ordered_json plugin_node(additive_feature const& feature, std::vector<point_node> const& nodes,
                         std::size_t n, int depth) {
  point_node const& node = nodes[n];
  if (node.is_leaf) return {{"nodeid", n}, {"leaf", node.value}};
  return {{"nodeid", n},
          {"depth", depth},
          {"split", feature.name},
          {"split_condition", node.value},
          {"yes", node.left},
          {"no", node.right},
          {"missing", node.right},
          {"children",
           {plugin_node(feature, nodes, node.left, depth + 1),
            plugin_node(feature, nodes, node.right, depth + 1)}}};
}

}  // namespace

std::string write_search_plugin(additive_form const& form, export_options const& options) {
  ordered_json trees = ordered_json::array();
  for (additive_feature const& one : form.features)
    trees.push_back(plugin_node(one, tree_of(one, std::numeric_limits<float>::max()), 0, 0));
  return json_line_of(ordered_json{
             {"model",
              {{"name", options.name},
               {"model", {{"type", "model/xgboost+json"}, {"definition", std::move(trees)}}}}}}) +
         "\n";
}

}  // namespace rulerank::l2r
