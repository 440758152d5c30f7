#pragma once

#include "knn/neighbours.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::knn {

/// How neighbours vote for a query's class. If classes have equal votes, the class of the nearer
/// neighbour wins.
enum class voting {
  majority,    ///< one vote per neighbour
  similarity,  ///< votes weighted by the similarity, or by 1 / (1 + distance)
};
/// Parses "majority" or "similarity". Throws `usage_error` that lists these names.
voting voting_from(std::string_view name);

/// The class of an item without a class, which does not vote; also of a query whose class is
/// unknown or for which no neighbour voted.
inline constexpr std::uint32_t no_class = std::numeric_limits<std::uint32_t>::max();

/// Returns the class of each query, from the neighbours that any search found. `class_of`: the
/// class of each searched item, or `no_class`. A query gets `no_class` if none of its neighbours
/// has a class.
std::vector<std::uint32_t> classify(neighbours const& found,
                                    std::span<std::uint32_t const> class_of, voting how);

/// The quality of assigned classes, one per query (Yang and Liu 1999). Queries whose true class is
/// `no_class` are not counted. An assigned `no_class` is always wrong, and is no class of the
/// macro-F1.
struct classification_quality {
  std::size_t queries = 0;  ///< counted queries
  double accuracy = 0;
  double micro_f1 = 0;  ///< over all decisions; equals the accuracy, with one class per query
  double macro_f1 = 0;  ///< mean over the classes that are true or assigned; 0 if there are none
};
/// Throws `usage_error` if `truth` and `given` have different sizes.
classification_quality quality_of(std::span<std::uint32_t const> truth,
                                  std::span<std::uint32_t const> given);

}  // namespace rulerank::knn
