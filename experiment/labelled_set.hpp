#pragma once

#include "datasets/dataset.hpp"
#include "experiment/experiment.hpp"

#include <utility>

namespace rulerank::inline v0::experiment {

/// The labelled documents of a training or validation set. Throws `error` if there are none.
inline datasets::dataset labelled_set(datasets::dataset data, fold_set which) {
  auto const known =
      datasets::labelled_documents(data, which == fold_set::train ? "learn from" : "choose by");
  return known.size() == data.size() ? std::move(data) : datasets::subset(data, known);
}

}  // namespace rulerank::experiment
