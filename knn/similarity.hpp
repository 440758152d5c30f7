#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::knn {

/// The measure of how near two items are. Each search names the measures that it supports. A search
/// of items other than rows of term weights adds its measure here.
enum class similarity : std::uint8_t {
  cosine,         ///< inner product divided by the product of the norms; 0 if a norm is 0
  inner_product,  ///< sum of products of weights
  /// Euclidean distance of the vectors divided by their norms; a vector of norm 0 stays at the
  /// origin.
  normalized_l2,
  l2,  ///< Euclidean distance
};

/// Which of two values is nearer: the larger similarity, or the smaller distance.
enum class value_order : std::uint8_t { larger_is_nearer, smaller_is_nearer };

struct named_similarity {
  similarity which;
  std::string_view name;
  value_order order;  ///< of the values that a search returns
};

/// Lists all similarities.
std::span<named_similarity const> similarities();
std::string_view name_of(similarity which);
value_order order_of(similarity which);

/// Returns a value as a score, of which the larger is nearer: a similarity itself, a distance
/// negated; 0 stays +0.
constexpr double score_of(value_order order, double value) {
  return order == value_order::smaller_is_nearer ? 0.0 - value : value;
}

}  // namespace rulerank::knn
