#include "core/version.hpp"
#include "l2r/export/additive.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>

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
constexpr std::uint64_t attribute_int = 2;  // AttributeProto.AttributeType

template <class Number>
proto_message tensor(std::string_view name, std::vector<std::uint64_t> const& shape,
                     std::vector<Number> const& values) {
  static_assert(sizeof(Number) == 8);
  proto_message made;
  for (std::uint64_t const size : shape) made.number(1, size);
  std::string raw;
  for (Number const value : values) {
    auto const bits = std::bit_cast<std::uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte) raw += static_cast<char>(bits >> (8 * byte));
  }
  bool const whole = std::numeric_limits<Number>::is_integer;
  return made.number(2, whole ? type_int64 : type_double).bytes(8, name).bytes(9, raw);
}

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

proto_message node(std::string_view kind, std::vector<std::string_view> const& inputs,
                   std::string_view output,
                   std::vector<std::pair<std::string_view, std::uint64_t>> const& attributes = {}) {
  proto_message made;
  for (std::string_view const input : inputs) made.bytes(1, input);
  made.bytes(2, output).bytes(3, output).bytes(4, kind);
  for (auto const& [name, value] : attributes)
    made.message(5, proto_message().bytes(1, name).number(3, value).number(20, attribute_int));
  return made;
}

/// Adds the cuts of all features, and what each adds to the points of its feature.
void add_numbers(proto_message& graph, additive_form const& form) {
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
  graph.message(5, tensor("feature_of_cut", {cuts.size()}, feature_of_cut))
      .message(5, tensor("cuts", {cuts.size()}, cuts))
      .message(5, tensor("steps", {cuts.size(), features}, steps))
      .message(5, tensor("first_points", {features}, first_points))
      .message(5, tensor("missing_points", {features}, missing))
      .message(5, tensor("columns", {1}, std::vector<std::int64_t>{1}));
}

}  // namespace

std::string write_onnx(additive_form const& form, export_options const& options) {
  std::vector<std::string> names;
  for (additive_feature const& one : form.features) names.push_back(string_text(one.name));
  proto_message graph;
  graph.message(1, node("Gather", {"values", "feature_of_cut"}, "value_of_cut", {{"axis", 1}}))
      .message(1, node("GreaterOrEqual", {"value_of_cut", "cuts"}, "is_above"))
      .message(1, node("Cast", {"is_above"}, "above", {{"to", type_double}}))
      .message(1, node("MatMul", {"above", "steps"}, "above_points"))
      .message(1, node("Add", {"above_points", "first_points"}, "points"))
      .message(1, node("Equal", {"values", "values"}, "is_present"))
      .message(1, node("Where", {"is_present", "points", "missing_points"}, "contributions"))
      .message(1, node("ReduceSum", {"contributions", "columns"}, "score", {{"keepdims", 1}}))
      .bytes(2, options.name);
  add_numbers(graph, form);
  graph.message(11, matrix_info("values", names.size()))
      .message(12, matrix_info("score", 1))
      .message(12, matrix_info("contributions", names.size()));
  auto const property = [](std::string_view key, std::string_view value) {
    return proto_message().bytes(1, key).bytes(2, value);
  };
  proto_message model;
  model.number(1, ir_version)
      .bytes(2, "rulerank")
      .bytes(3, version)
      .bytes(6, head_comment(form, options, ""))
      .message(7, graph)
      .message(8, proto_message().bytes(1, "").number(2, operator_set))
      .message(14, property("features", fmt::format("[{}]", fmt::join(names, ", "))))
      .message(14, property("absent", form.absent_is_missing ? "NaN" : "0"));
  return model.encoded();
}

}  // namespace rulerank::l2r
