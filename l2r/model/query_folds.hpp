#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rulerank::inline v0::l2r {

/// Assigns queries to folds at random by the seed; fold sizes differ by at most one. Returns the
/// fold of each query [queries], from 0. `folds`: 1 or more.
std::vector<std::size_t> deal_queries(std::uint64_t seed, std::size_t queries, std::size_t folds);

}  // namespace rulerank::l2r
