#include "core/version.hpp"
#include "l2r/export/list_form.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

// ONNX (https://onnx.ai): the bins of all features as one product of matrices, in double. The file
// is a message of protocol buffers; the numbers of its fields are those of onnx.proto3.
namespace rulerank::inline v0::l2r {

namespace {

/// A message of protocol buffers (https://protobuf.dev/programming-guides/encoding).
class proto_message {
 public:
  proto_message& number(std::uint32_t field, std::uint64_t value) {
    put(field << 3);
    put(value);
    return *this;
  }
  proto_message& bytes(std::uint32_t field, std::string_view value) {
    put((field << 3) | 2);
    put(value.size());
    bytes_ += value;
    return *this;
  }
  proto_message& message(std::uint32_t field, proto_message const& value) {
    return bytes(field, value.bytes_);
  }
  std::string const& encoded() const { return bytes_; }

 private:
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

constexpr std::uint64_t type_int64 = 7, type_double = 11;  // TensorProto.DataType
constexpr std::uint64_t ir_version = 8, operator_set = 17;
constexpr std::uint64_t attribute_int = 2, attribute_ints = 7;  // AttributeProto.AttributeType

/// A matrix of double with a row for each document.
proto_message matrix_info(std::string_view name, std::size_t columns) {
  proto_message rows, column, shape, of_tensor, type;
  rows.bytes(2, "documents");
  column.number(1, columns);
  shape.message(1, rows).message(1, column);
  of_tensor.number(1, type_double).message(2, shape);
  type.message(1, of_tensor);
  return proto_message().bytes(1, name).message(2, type);
}

/// A graph that grows node by node. Functions give the name of what the node computes.
class onnx_graph {
 public:
  using inputs = std::vector<std::string>;

  std::string node(std::string_view kind, inputs const& of,
                   std::vector<proto_message> attributes = {}) {
    std::string output = fmt::format("{}_{}", kind, ++nodes_);
    add(kind, of, output, std::move(attributes));
    return output;
  }
  void add(std::string_view kind, inputs const& of, std::string_view output,
           std::vector<proto_message> attributes = {}) {
    proto_message made;
    for (std::string_view const input : of) made.bytes(1, input);
    made.bytes(2, output).bytes(3, output).bytes(4, kind);
    for (proto_message const& attribute : attributes) made.message(5, attribute);
    graph.message(1, made);
  }
  template <class Number>
  std::string tensor(std::vector<std::uint64_t> const& shape, std::vector<Number> const& values) {
    static_assert(sizeof(Number) == 8);
    std::string const name = fmt::format("numbers_{}", ++tensors_);
    proto_message made;
    for (std::uint64_t const size : shape) made.number(1, size);
    std::string raw;
    for (Number const value : values) {
      auto const bits = std::bit_cast<std::uint64_t>(value);
      for (int byte = 0; byte < 8; ++byte) raw += static_cast<char>(bits >> (8 * byte));
    }
    bool const whole = std::numeric_limits<Number>::is_integer;
    tensors.push_back(
        made.number(2, whole ? type_int64 : type_double).bytes(8, name).bytes(9, raw));
    return name;
  }
  std::string scalar(double value) { return tensor({}, std::vector{value}); }
  std::string row(std::vector<double> const& values) { return tensor({values.size()}, values); }
  /// The sum over the documents (0) or the features (1), as a matrix.
  std::string sum(std::string const& of, std::int64_t axis) {
    return node("ReduceSum", {of, tensor({1}, std::vector{axis})});
  }
  /// The largest or smallest value of a column.
  std::string extreme(std::string_view kind, std::string const& of) {
    return node(kind, {of},
                {proto_message().bytes(1, "axes").number(8, 0).number(20, attribute_ints)});
  }
  static proto_message whole(std::string_view name, std::uint64_t value) {
    return proto_message().bytes(1, name).number(3, value).number(20, attribute_int);
  }

  proto_message graph;
  std::vector<proto_message> tensors;

 private:
  int nodes_ = 0, tensors_ = 0;
};

/// The points of each feature: where a value is at or above a cut, the cut's step is added.
std::string points_in(onnx_graph& to, additive_form const& form) {
  std::size_t const features = form.features.size();
  std::vector<std::int64_t> feature_of_cut;
  std::vector<double> cuts, first_points, missing, steps;
  for (std::size_t f = 0; f < features; ++f) {
    additive_feature const& one = form.features[f];
    first_points.push_back(one.points.front());
    missing.push_back(one.missing);
    for (std::size_t bin = 1; bin < one.points.size(); ++bin) {
      feature_of_cut.push_back(static_cast<std::int64_t>(f));
      cuts.push_back(one.cuts[bin - 1]);
      steps.resize(steps.size() + features, 0);
      steps[steps.size() - features + f] = one.points[bin] - one.points[bin - 1];
    }
  }
  std::string const of_cuts =
      to.node("Gather", {"values", to.tensor({cuts.size()}, feature_of_cut)},
              {onnx_graph::whole("axis", 1)});
  std::string const above = to.node("Cast", {to.node("GreaterOrEqual", {of_cuts, to.row(cuts)})},
                                    {onnx_graph::whole("to", type_double)});
  std::string const points =
      to.node("Add", {to.node("MatMul", {above, to.tensor({cuts.size(), features}, steps)}),
                      to.row(first_points)});
  return to.node("Where", {to.node("Equal", {"values", "values"}), points, to.row(missing)});
}

/// The weighted z-scores of each feature within the list.
std::string lines_in(onnx_graph& to, line_form const& form) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::string const zero = to.scalar(0), one = to.scalar(1);
  std::string const listed = to.node("Equal", {"values", "values"});
  std::string const filled = to.node("Where", {listed, "values", zero});
  std::string const present = form.missing_is_zero ? to.node("Equal", {filled, filled}) : listed;
  std::string const ones = to.node("Cast", {present}, {onnx_graph::whole("to", type_double)});
  std::string const count = to.node("Max", {to.sum(ones, 0), one});
  std::string const mean = to.node("Div", {to.sum(filled, 0), count});
  std::string const away = to.node("Where", {present, to.node("Sub", {filled, mean}), zero});
  std::string const variance = to.node("Div", {to.sum(to.node("Mul", {away, away}), 0), count});
  std::string const varies =
      to.node("Greater",
              {to.extreme("ReduceMax", to.node("Where", {present, filled, to.scalar(-infinity)})),
               to.extreme("ReduceMin", to.node("Where", {present, filled, to.scalar(infinity)}))});
  std::string const deviation = to.node("Where", {varies, to.node("Sqrt", {variance}), one});
  std::string const z = to.node("Where", {varies, to.node("Div", {away, deviation}), zero});
  return to.node("Where",
                 {present, to.node("Mul", {z, to.row(form.weights)}), to.row(form.missing)});
}

/// Where a value lies in each group of a feature, as 1 and 0.
std::string groups_in(onnx_graph& to, std::string const& values, std::size_t feature,
                      std::vector<double> const& cuts, bool has_missing_group) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::string const column =
      to.node("Gather", {values, to.tensor({1}, std::vector{static_cast<std::int64_t>(feature)})},
              {onnx_graph::whole("axis", 1)});
  std::vector<double> from{-infinity}, below = cuts;
  from.insert(from.end(), cuts.begin(), cuts.end());
  below.push_back(infinity);
  std::string inside = to.node("And", {to.node("GreaterOrEqual", {column, to.row(from)}),
                                       to.node("Less", {column, to.row(below)})});
  if (has_missing_group)
    inside = to.node("Concat", {inside, to.node("Not", {to.node("Equal", {column, column})})},
                     {onnx_graph::whole("axis", 1)});
  return to.node("Cast", {inside}, {onnx_graph::whole("to", type_double)});
}

/// The points of a table, in a column.
std::string table_in(onnx_graph& to, std::string const& values, pair_table const& table) {
  std::uint64_t const missing = table.has_missing_group ? 1 : 0;
  std::string const first =
      groups_in(to, values, table.first, table.first_cuts, table.has_missing_group);
  std::string const second =
      groups_in(to, values, table.second, table.second_cuts, table.has_missing_group);
  std::string const points =
      to.tensor({table.first_cuts.size() + 1 + missing, table.second_cuts.size() + 1 + missing},
                table.points);
  return to.sum(to.node("Mul", {to.node("MatMul", {first, points}), second}), 1);
}

/// Adds a column of zeros for each pair of features.
std::string widened_in(onnx_graph& to, list_form const& form, std::string const& of) {
  std::size_t const features = form.names.size(), terms = features + form.pairs.size();
  if (terms == features) return of;
  std::vector<double> places(features * terms);
  for (std::size_t f = 0; f < features; ++f) places[f * terms + f] = 1;
  return to.node("MatMul", {of, to.tensor({features, terms}, places)});
}

std::string terms_in(onnx_graph& to, list_form const& form, additive_form const& member) {
  return widened_in(to, form, points_in(to, member));
}

std::string terms_in(onnx_graph& to, list_form const& form, line_form const& member) {
  return widened_in(to, form, lines_in(to, member));
}

std::string terms_in(onnx_graph& to, list_form const& form, joint_form const& member) {
  std::string const alone =
      to.node("Add", {points_in(to, member.points), lines_in(to, member.lines)});
  if (form.pairs.empty()) return alone;
  std::string const values =
      member.lines.missing_is_zero
          ? to.node("Where", {to.node("Equal", {"values", "values"}), "values", to.scalar(0)})
          : "values";
  std::vector<std::string> columns{alone};
  for (feature_pair const& pair : form.pairs) {
    auto const table = std::ranges::find_if(member.tables, [&](pair_table const& one) {
      return feature_pair(one.first, one.second) == pair;
    });
    columns.push_back(table != member.tables.end()
                          ? table_in(to, values, *table)
                          : to.node("Mul", {to.sum(alone, 1), to.scalar(0)}));
  }
  return to.node("Concat", columns, {onnx_graph::whole("axis", 1)});
}

/// What a member adds to the mean of the standardized scores of `members`.
std::string standardized_in(onnx_graph& to, std::string const& contributions, double members) {
  std::string const zero = to.scalar(0), one = to.scalar(1);
  std::string const documents = to.sum(
      to.node("Cast", {to.node("Equal", {to.sum(contributions, 1), to.sum(contributions, 1)})},
              {onnx_graph::whole("to", type_double)}),
      0);
  auto const mean_of = [&](std::string const& of) {
    return to.node("Div", {to.sum(of, 0), documents});
  };
  std::string const scores = to.sum(contributions, 1);
  std::string const mean = mean_of(scores);
  std::string const away = to.node("Sub", {scores, mean});
  std::string const deviation = to.node("Sqrt", {mean_of(to.node("Mul", {away, away}))});
  std::string const varies =
      to.node("Greater", {deviation, to.node("Mul", {to.node("Abs", {mean}), to.scalar(1e-12)})});
  std::string const by =
      to.node("Mul", {to.node("Where", {varies, deviation, one}), to.scalar(members)});
  return to.node(
      "Where",
      {varies, to.node("Div", {to.node("Sub", {contributions, mean_of(contributions)}), by}),
       zero});
}

/// The head of the file, as a model says of itself.
std::string onnx_head(list_form const& form, export_options const& options) {
  return fmt::format("{}: exported by rulerank {}{}. The model is {}.{}", options.name, version,
                     options.source.empty() ? "" : " from " + options.source,
                     form.portability.words,
                     form.portability.portable ? "" : " Run it on all documents of one query.");
}

}  // namespace

std::string write_onnx(list_form const& form, export_options const& options) {
  onnx_graph to;
  std::vector<std::string> parts;
  for (list_member const& member : form.members) {
    std::string const own =
        std::visit([&](auto const& of_kind) { return terms_in(to, form, of_kind); }, member);
    parts.push_back(form.members.size() == 1
                        ? own
                        : standardized_in(to, own, static_cast<double>(form.members.size())));
  }
  to.add("Sum", parts, "contributions");
  to.add("ReduceSum", {"contributions", to.tensor({1}, std::vector<std::int64_t>{1})}, "score");
  proto_message& graph = to.graph;
  graph.bytes(2, options.name);
  for (proto_message const& one : to.tensors) graph.message(5, one);
  graph.message(11, matrix_info("values", form.names.size()))
      .message(12, matrix_info("score", 1))
      .message(12, matrix_info("contributions", form.names.size() + form.pairs.size()));
  auto const property = [](std::string_view key, std::string_view value) {
    return proto_message().bytes(1, key).bytes(2, value);
  };
  std::vector<std::string> names;
  for (std::string const& name : form.names) names.push_back(string_text(name));
  std::vector<std::string> pairs;
  for (auto const& [first, second] : form.pairs)
    pairs.push_back(fmt::format("[{}, {}]", names[first], names[second]));
  proto_message model;
  model.number(1, ir_version)
      .bytes(2, "rulerank")
      .bytes(3, version)
      .bytes(6, onnx_head(form, options))
      .message(7, graph)
      .message(8, proto_message().bytes(1, "").number(2, operator_set))
      .message(14, property("features", fmt::format("[{}]", fmt::join(names, ", "))))
      .message(14, property("pairs", fmt::format("[{}]", fmt::join(pairs, ", "))))
      .message(14, property("absent", form.absent_is_missing ? "NaN" : "0"))
      .message(14, property("portable", form.portability.portable ? "true" : "false"))
      .message(14, property("portability", form.portability.words));
  for (auto const& [key, text] : {std::pair("feature_units", &feature_description::unit),
                                  std::pair("feature_origins", &feature_description::origin)}) {
    std::vector<std::string> texts;
    for (feature_description const& one : form.about) texts.push_back(string_text(one.*text));
    if (!texts.empty())
      model.message(14, property(key, fmt::format("[{}]", fmt::join(texts, ", "))));
  }
  return model.encoded();
}

}  // namespace rulerank::l2r
