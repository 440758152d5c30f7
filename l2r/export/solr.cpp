#include "core/json_text.hpp"
#include "l2r/export/point_tree.hpp"
#include "l2r/export/weights.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// Solr's MultipleAdditiveTreesModel and LinearModel.
namespace rulerank::inline v0::l2r {

namespace {

using nlohmann::ordered_json;

constexpr float solr_slack = 1e-6F;  // NODE_SPLIT_SLACK

ordered_json solr_node(additive_feature const& feature, std::vector<point_node> const& nodes,
                       std::size_t n) {
  point_node const& node = nodes[n];
  if (node.is_leaf) return {{"value", fmt::format("{}", node.value)}};
  double const threshold = solr_threshold(static_cast<float>(node.value));
  return {{"feature", feature.name},
          {"threshold", fmt::format("{}", threshold)},
          {"left", solr_node(feature, nodes, node.left)},
          {"right", solr_node(feature, nodes, node.right)}};
}

std::string solr_text(std::string const& model, export_options const& options,
                      ordered_json features, ordered_json params) {
  return json_line_of(ordered_json{{"class", "org.apache.solr.ltr.model." + model},
                                   {"name", options.name},
                                   {"features", std::move(features)},
                                   {"params", std::move(params)}}) +
         "\n";
}

}  // namespace

float solr_threshold(float cut) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float const wanted = std::nextafter(cut, -infinity);
  auto const sum = [](float threshold) { return threshold + solr_slack; };
  float threshold = wanted - solr_slack;
  while (sum(threshold) >= cut) threshold = std::nextafter(threshold, -infinity);
  while (sum(threshold) < wanted && sum(std::nextafter(threshold, infinity)) < cut)
    threshold = std::nextafter(threshold, infinity);
  return threshold;
}

float solr_cut(float cut) {
  return std::nextafter(solr_threshold(cut) + solr_slack, std::numeric_limits<float>::infinity());
}

std::string write_solr(additive_form const& form, export_options const& options) {
  ordered_json features = ordered_json::array(), trees = ordered_json::array();
  for (additive_feature const& one : form.features) {
    features.push_back({{"name", one.name}});
    trees.push_back({{"weight", "1"},
                     {"root", solr_node(one, tree_of(one, std::numeric_limits<float>::max()), 0)}});
  }
  return solr_text("MultipleAdditiveTreesModel", options, std::move(features),
                   {{"trees", std::move(trees)}});
}

std::string write_solr_weights(weights_form const& form, export_options const& options) {
  ordered_json features = ordered_json::array(), weights;
  for (raw_feature const& one : form.features) {
    features.push_back({{"name", one.name}});
    weights[one.name] = one.weight;  // Solr expects a decimal point or an exponent
  }
  return solr_text("LinearModel", options, std::move(features), {{"weights", std::move(weights)}});
}

}  // namespace rulerank::l2r
