#include "core/json_text.hpp"
#include "l2r/export/point_tree.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// XGBoost's JSON: https://xgboost.readthedocs.io, "Introduction to Model IO".
namespace rulerank::inline v0::l2r {

namespace {

constexpr std::int32_t no_node = -1, no_parent = 2147483647;

using nlohmann::ordered_json;

/// UBJSON (https://ubjson.org) as XGBoost reads it: lengths and integers of 64 bits, and
/// floating-point numbers of 32, which hold the form's exactly.
class ubjson_writer {
 public:
  std::string text;

  void put(ordered_json const& value) {
    if (value.is_object()) {
      text += '{';
      for (auto const& [key, member] : value.items()) {
        put_string(key);
        put(member);
      }
      text += '}';
    } else if (value.is_array()) {
      text += '[';
      for (ordered_json const& one : value) put(one);
      text += ']';
    } else if (value.is_string()) {
      text += 'S';
      put_string(value.get<std::string>());
    } else if (value.is_number_float()) {
      text += 'd';
      put_bits(std::bit_cast<std::uint32_t>(value.get<float>()));
    } else {
      put_integer(value.get<std::int64_t>());
    }
  }

 private:
  template <class Bits>
  void put_bits(Bits bits) {  // the highest byte first
    for (std::size_t byte = sizeof(Bits); byte-- > 0;)
      text += static_cast<char>(bits >> (8 * byte));
  }
  void put_integer(std::int64_t value) {
    text += 'L';
    put_bits(static_cast<std::uint64_t>(value));
  }
  void put_string(std::string const& value) {
    put_integer(static_cast<std::int64_t>(value.size()));
    text += value;
  }
};

ordered_json xgboost_tree(std::size_t number, std::size_t features,
                          additive_feature const& feature) {
  std::vector<point_node> const nodes = tree_of(feature, std::numeric_limits<float>::max());
  std::vector<std::int64_t> left, right, parents(nodes.size(), no_parent);
  std::vector<double> conditions;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    point_node const& node = nodes[n];
    conditions.push_back(node.value);
    left.push_back(node.is_leaf ? no_node : static_cast<std::int64_t>(node.left));
    right.push_back(node.is_leaf ? no_node : static_cast<std::int64_t>(node.right));
    if (node.is_leaf) continue;
    parents[node.left] = parents[node.right] = static_cast<std::int64_t>(n);
  }
  std::vector<int> const zeros(nodes.size(), 0);
  std::vector<std::size_t> split(nodes.size(), number);
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (nodes[n].is_leaf) split[n] = 0;
  std::vector<double> const numbers(nodes.size(), 0);
  auto const none = ordered_json::array();
  return {{"base_weights", numbers},
          {"categories", none},
          {"categories_nodes", none},
          {"categories_segments", none},
          {"categories_sizes", none},
          {"default_left", zeros},
          {"id", number},
          {"left_children", left},
          {"loss_changes", numbers},
          {"parents", parents},
          {"right_children", right},
          {"split_conditions", conditions},
          {"split_indices", split},
          {"split_type", zeros},
          {"sum_hessian", numbers},
          {"tree_param",
           {{"num_deleted", "0"},
            {"num_feature", fmt::format("{}", features)},
            {"num_nodes", fmt::format("{}", nodes.size())},
            {"size_leaf_vector", "1"}}}};
}

}  // namespace

std::string write_xgboost(additive_form const& form, export_options const& options) {
  std::size_t const features = form.features.size();
  ordered_json names = ordered_json::array(), types = ordered_json::array(),
               trees = ordered_json::array(), groups = ordered_json::array(),
               begins = ordered_json::array({0});
  for (std::size_t f = 0; f < features; ++f) {
    names.push_back(form.features[f].name);
    types.push_back("float");
    trees.push_back(xgboost_tree(f, features, form.features[f]));
    groups.push_back(0);
    begins.push_back(f + 1);
  }
  ordered_json attributes{{"portable", "true"}, {"portability", form.portability}};  // texts alone
  if (has_descriptions(form))
    attributes.update({{"feature_units", list_of(form, &feature_description::unit)},
                       {"feature_origins", list_of(form, &feature_description::origin)}});
  ordered_json const model{
      {"learner",
       {{"attributes", attributes},
        {"feature_names", names},
        {"feature_types", types},
        {"gradient_booster",
         {{"model",
           {{"gbtree_model_param",
             {{"num_parallel_tree", "1"}, {"num_trees", fmt::format("{}", features)}}},
            {"iteration_indptr", begins},
            {"tree_info", groups},
            {"trees", trees}}},
          {"name", "gbtree"}}},
        {"learner_model_param",
         {{"base_score", "0E0"},
          {"boost_from_average", "0"},
          {"num_class", "0"},
          {"num_feature", fmt::format("{}", features)},
          {"num_target", "1"}}},
        {"objective",
         {{"name", "reg:squarederror"}, {"reg_loss_param", {{"scale_pos_weight", "1"}}}}}}},
      {"version", {2, 0, 0}}};
  if (options.ubjson) {
    ubjson_writer writer;
    writer.put(model);
    return writer.text;
  }
  return json_line_of(model) + "\n";
}

}  // namespace rulerank::l2r
