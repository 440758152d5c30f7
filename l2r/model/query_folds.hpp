#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rulerank::inline v0::l2r {

/// The fold [queries], from 0, of each query: they are dealt out in an order that the seed draws,
/// so that sizes differ by one at most. `folds`: 1 or more.
std::vector<std::size_t> deal_queries(std::uint64_t seed, std::size_t queries, std::size_t folds);

}  // namespace rulerank::l2r
