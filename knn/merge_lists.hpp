#pragma once

#include "knn/near_key.hpp"
#include "knn/neighbours.hpp"

#include <cstddef>
#include <span>

namespace rulerank::inline v0::knn {

/// Writes the first `found.k` keys of several lists as the neighbours of a query: the heap that
/// ends a search (Freitas 2017, Algorithm 9, line 6). Each list has `length` ascending keys of
/// `found.order`; a shorter list ends in `no_near_key`. All lists together have at least `found.k`
/// items.
void merge_lists(std::span<near_key const> lists, std::size_t length, std::size_t query,
                 neighbours& found);

}  // namespace rulerank::knn
