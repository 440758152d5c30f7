#pragma once

#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace rulerank::inline v0::l2r {

/// Some whole queries of a set.
struct query_part {
  std::vector<datasets::query_group> queries;
  datasets::binned_dataset items;
};

/// The queries of a fold, or those of all other folds. `folds`: of each query.
query_part part_of_fold(std::span<datasets::query_group const> queries,
                        datasets::binned_dataset const& all, std::vector<std::size_t> const& folds,
                        std::size_t fold, bool inside);

double mean_label(datasets::binned_dataset const& of);

}  // namespace rulerank::l2r
