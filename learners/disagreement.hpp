#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::learners {

/// How much rankers disagree on each of a query's documents [n]: the pairs of members and other
/// documents of the query such that one member puts the document above the other and the other
/// member below. It is the document's share of Kendall's distance, summed over the pairs of
/// members; a member that scores two documents alike does not count for their order. `scores`
/// [members][n], none NaN. Costs n log n for each pair of members.
std::vector<std::uint64_t> disagreements(std::span<std::span<double const> const> scores);

/// The distance of each document's score to the nearest other one [n]: small where one ranker is
/// least sure of its order. Infinite for a query of one document. Both functions may be called from
/// several threads at once.
std::vector<double> margins(std::span<double const> scores);

}  // namespace rulerank::learners
