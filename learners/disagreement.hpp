#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::learners {

/// For each of a query's documents [n], the number of pairs of members and other documents such
/// that one member ranks the document above the other document and the other member below it. This
/// is the document's share of Kendall's distance, summed over pairs of members. A member that
/// scores two documents equally does not count for their order. `scores` [members][n] without NaN.
/// Takes O(n log n) per pair of members.
std::vector<std::uint64_t> disagreements(std::span<std::span<double const> const> scores);

/// For each document, the distance of its score to the nearest other score [n]: small where a
/// ranker's order is least certain. Infinite for a query of one document. Thread safety: both
/// functions may be called from several threads at once.
std::vector<double> margins(std::span<double const> scores);

}  // namespace rulerank::learners
