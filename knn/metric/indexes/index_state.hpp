#pragma once

#include "knn/metric/indexes/exclusion.hpp"
#include "knn/metric/indexes/structure.hpp"
#include "knn/metric/search.hpp"

#include <memory>
#include <vector>

namespace rulerank::inline v0::knn {

/// What a `metric_index` is.
struct metric_index::implementation {
  std::shared_ptr<metric_space const> space;
  metric_index_options options;  ///< with the type that was chosen
  exclusion rule;
  std::unique_ptr<metric_structure> structure;
  std::vector<bool> holds{};  ///< of each object of the space
};

/// For what searches an index in a way of its own.
struct metric_index_access {
  static metric_index::implementation const& of(metric_index const& index) {
    return *index.implementation_;
  }
};

}  // namespace rulerank::knn
