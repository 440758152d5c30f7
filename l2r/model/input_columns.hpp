#pragma once

#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/model/model.hpp"

#include <cstddef>
#include <cstdint>
#include <set>

// The columns and features that a model reads.
namespace rulerank::inline v0::l2r {

/// The columns of arrays whose rows are documents: column c holds feature `first_feature` + c.
struct input_columns {
  std::uint32_t first_feature = 1;  ///< 0 or 1
  std::size_t count = 0;            ///< reaches the last feature of the training documents
};
input_columns columns_of(model const& of);
/// The features whose values change a score: those with points on a card, those with cuts in other
/// members of bins, and those with a weight.
std::set<std::uint32_t> scored_features(model const& of);

}  // namespace rulerank::l2r
