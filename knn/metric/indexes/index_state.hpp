#pragma once

#include "knn/metric/indexes/exclusion.hpp"
#include "knn/metric/indexes/structure.hpp"
#include "knn/metric/search.hpp"

#include <memory>
#include <vector>

namespace rulerank::inline v0::knn {

/// The state of a `metric_index`.
struct metric_index::implementation {
  std::shared_ptr<metric_space const> space;
  metric_index_options options;  ///< with the chosen type
  exclusion rule;
  std::unique_ptr<metric_structure> structure;
  std::vector<bool> holds{};  ///< [objects of the space] whether the index holds it
};

/// Access for searches outside of `metric_index`.
struct metric_index_access {
  static metric_index::implementation const& of(metric_index const& index) {
    return *index.implementation_;
  }
};

}  // namespace rulerank::knn
