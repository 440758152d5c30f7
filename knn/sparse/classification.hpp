#pragma once

#include "knn/sparse/search.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace rulerank::knn {

/// How neighbours vote for a query's class. Where classes have as many votes, the one of the nearer
/// neighbour wins.
enum class voting {
  majority,    ///< a neighbour, a vote
  similarity,  ///< a vote weighs the similarity; for l2 1 / (1 + distance)
};
voting voting_from(std::string_view name);

/// A document without a class, which does not vote; a query whose class nobody knows or votes for.
inline constexpr std::uint32_t no_class = std::numeric_limits<std::uint32_t>::max();

/// The class of each query. `class_of`: of each document, or `no_class`. A query none of whose
/// neighbours has a class has `no_class`.
std::vector<std::uint32_t> classify(neighbours const& found, similarity metric,
                                    std::span<std::uint32_t const> class_of, voting how);

/// How good classes are, one class a query (Yang and Liu 1999). Queries of the true class
/// `no_class` do not count; a given `no_class` is never right, and no class of the macro-F1.
struct classification_quality {
  std::size_t queries = 0;  ///< that count
  double accuracy = 0;
  double micro_f1 = 0;  ///< of all decisions together; with one class a query the accuracy
  double macro_f1 = 0;  ///< mean over the classes that were true or given; 0 where both are 0
};
classification_quality quality_of(std::span<std::uint32_t const> truth,
                                  std::span<std::uint32_t const> given);

}  // namespace rulerank::knn
