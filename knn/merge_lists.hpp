#pragma once

#include "knn/near_key.hpp"
#include "knn/neighbours.hpp"

#include <cstddef>
#include <span>

namespace rulerank::inline v0::knn {

/// The first `found.k` of several lists become the neighbours of a query: the heap that ends a
/// search (Freitas 2017, Algorithm 9, line 6). Lists have `length` keys each, ascending, and
/// together at least `found.k` items; a list with fewer ends in `no_near_key`. The keys are of
/// `found.order`.
void merge_lists(std::span<near_key const> lists, std::size_t length, std::size_t query,
                 neighbours& found);

}  // namespace rulerank::knn
