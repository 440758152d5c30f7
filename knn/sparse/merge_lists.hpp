#pragma once

#include "knn/sparse/single_precision.hpp"

#include <cstddef>
#include <span>

namespace rulerank::knn {

/// The first `found.k` of several lists become the neighbours of a query: the heap that ends a
/// search (Freitas 2017, Algorithm 9, line 6). Lists have `length` keys each, ascending, and
/// together at least `found.k` documents; what a list lacks is `no_document`, at its end.
void merge_lists(std::span<near_key const> lists, std::size_t length, std::size_t query,
                 neighbours& found);

}  // namespace rulerank::knn
