#include "datasets/libsvm/libsvm.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

libsvm_problem::libsvm_problem(dataset const& data)
    : labels_(data.labels.begin(), data.labels.end()) {
  if (data.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw usage_error("found more documents than libsvm can count");
  nodes_.reserve(data.entries.size() + data.size());
  rows_.reserve(data.size());
  for (std::size_t d = 0; d < data.size(); ++d) {
    rows_.push_back(nodes_.data() + nodes_.size());  // reserved, so pointers stay valid
    for (feature_value const& entry : data.document(d)) {
      if (std::isnan(entry.value))
        throw error(
            {data.name, place_of(data, d).line, 0},
            fmt::format(
                "feature {} is missing, expected a value, because libsvm has no missing values",
                entry.feature));
      nodes_.push_back({static_cast<int>(entry.feature), entry.value});
    }
    nodes_.push_back({-1, 0});
  }
  problem_ = {static_cast<int>(rows_.size()), labels_.data(), rows_.data()};
}

dataset from_libsvm(svm_problem const& problem, std::span<std::size_t const> group_sizes,
                    std::string name) {
  dataset data;
  data.name = std::move(name);
  auto const documents = static_cast<std::size_t>(problem.l);
  data.labels.reserve(documents);
  data.row.reserve(documents + 1);
  data.line_numbers.reserve(documents);
  for (std::size_t d = 0; d < documents; ++d) {
    auto const fail = [&](std::string const& what) { throw error({data.name, d + 1, 0}, what); };
    double const y = problem.y[d];
    if (!(y >= unlabelled && y <= std::numeric_limits<std::int32_t>::max()) || y != std::floor(y))
      fail(fmt::format("found label {}, expected an integer of 0 or more", y));
    data.labels.push_back(static_cast<std::int32_t>(y));
    int last = -1;
    for (svm_node const* node = problem.x[d]; node->index != -1; ++node) {
      if (node->index <= last)
        fail(fmt::format("found index {} after {}, expected ascending indexes from 0", node->index,
                         last));
      if (std::isinf(node->value))
        fail(fmt::format("found value {} of index {}, expected a finite number", node->value,
                         node->index));
      last = node->index;
      data.entries.push_back({static_cast<std::uint32_t>(node->index), node->value});
    }
    data.row.push_back(data.entries.size());
    data.line_numbers.push_back(d + 1);
  }
  std::size_t begin = 0;
  for (std::size_t const size : group_sizes) {
    if (size == 0 || size > documents - begin)
      throw usage_error("from_libsvm: found group sizes whose sum is not the number of rows");
    data.queries.push_back({std::to_string(data.queries.size() + 1), begin, begin + size});
    begin += size;
  }
  if (group_sizes.empty() && documents > 0)
    data.queries.push_back({std::to_string(1), 0, documents});
  else if (begin != documents)
    throw usage_error("from_libsvm: found group sizes whose sum is not the number of rows");
  return data;
}

}  // namespace rulerank::datasets
