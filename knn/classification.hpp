#pragma once

#include "knn/neighbours.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::knn {

/// How neighbours vote for a query's class. Of classes with equally many votes, the class of the
/// nearer neighbour wins.
enum class voting {
  majority,    ///< one vote a neighbour
  similarity,  ///< a vote weighs the similarity; of a distance 1 / (1 + distance)
};
/// Throws `usage_error` that lists the names: majority, similarity.
voting voting_from(std::string_view name);

/// An item without a class, which does not vote; a query whose class is unknown or that no
/// neighbour voted for.
inline constexpr std::uint32_t no_class = std::numeric_limits<std::uint32_t>::max();

/// The class of each query, from the neighbours that any search found. `class_of`: of each item
/// that was searched, or `no_class`. A query none of whose neighbours has a class has `no_class`.
std::vector<std::uint32_t> classify(neighbours const& found,
                                    std::span<std::uint32_t const> class_of, voting how);

/// How good classes are, one class a query (Yang and Liu 1999). Queries of the true class
/// `no_class` do not count; a given `no_class` is never right, and no class of the macro-F1.
struct classification_quality {
  std::size_t queries = 0;  ///< that count
  double accuracy = 0;
  double micro_f1 = 0;  ///< of all decisions together; with one class a query the accuracy
  double macro_f1 = 0;  ///< mean over the classes that were true or given; 0 where both are 0
};
/// Throws `usage_error` for as many given classes as there are not true ones.
classification_quality quality_of(std::span<std::uint32_t const> truth,
                                  std::span<std::uint32_t const> given);

}  // namespace rulerank::knn
