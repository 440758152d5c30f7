#include "core/error.hpp"
#include "core/json_text.hpp"
#include "l2r/export/point_tree.hpp"
#include "l2r/export/weights.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// The model types model/xgboost+json and model/linear of the plugins "Learning to Rank" of
// Elasticsearch and OpenSearch.
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

/// The definitions of the model's features, as the set has them.
ordered_json definitions_of(std::vector<std::string> const& names, export_options const& options) {
  source_position const head{options.feature_set_name, 1, 1};
  ordered_json const set =
      parse_ordered_json(options.feature_set, options.feature_set_name, "a feature set");
  constexpr auto path = "/featureset/features";
  ordered_json::json_pointer const features(path);
  if (!set.is_object() || !set.contains(features) || !set[features].is_array())
    throw error(head,
                "found no list featureset.features, expected what PUT _ltr/_featureset takes");
  ordered_json found = ordered_json::array();
  for (std::string const& name : names) {
    auto const at = std::ranges::find_if(set[features], [&](ordered_json const& feature) {
      return feature.is_object() && feature.value("name", ordered_json()) == name;
    });
    if (at == set[features].end())
      throw error(head, fmt::format("found no feature {}, expected all features of the model",
                                    rulerank::quoted(name)));
    found.push_back(*at);
  }
  return found;
}

template <class Form>
std::string plugin_text(Form const& form, export_options const& options, char const* type,
                        ordered_json definition) {
  std::vector<std::string> names;
  for (auto const& one : form.features) names.push_back(one.name);
  ordered_json model{{"name", options.name}};
  if (!options.feature_set.empty())
    model["feature_set"] = {{"name", options.name}, {"features", definitions_of(names, options)}};
  model["model"] = {{"type", type}, {"definition", std::move(definition)}};
  return json_line_of(ordered_json{{"model", std::move(model)}}) + "\n";
}

}  // namespace

std::string write_plugin_weights(weights_form const& form, export_options const& options) {
  ordered_json weights;
  for (raw_feature const& one : form.features) weights[one.name] = one.weight;
  return plugin_text(form, options, "model/linear", std::move(weights));
}

std::string write_search_plugin(additive_form const& form, export_options const& options) {
  ordered_json trees = ordered_json::array();
  for (additive_feature const& one : form.features)
    trees.push_back(plugin_node(one, tree_of(one, std::numeric_limits<float>::max()), 0, 0));
  return plugin_text(form, options, "model/xgboost+json", std::move(trees));
}

}  // namespace rulerank::l2r
