#pragma once

#include "datasets/dataset.hpp"

#include <cstddef>
#include <span>

namespace rulerank::inline v0::datasets {

/// Returns the documents with these indexes, in that order, without queries.
dataset rows_of(dataset const& data, std::span<std::size_t const> documents);

}  // namespace rulerank::datasets
