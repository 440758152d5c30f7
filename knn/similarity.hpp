#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::knn {

/// What says how near two items are. Searches name those that they offer; a search that compares
/// other items than rows of term weights adds its own here.
enum class similarity : std::uint8_t {
  cosine,         ///< the inner product over the product of the norms; 0 where a norm is 0
  inner_product,  ///< sum of products of weights
  normalized_l2,  ///< Euclidean distance of the vectors divided by their norms; a vector of norm 0
                  ///< stays at the origin
  l2,             ///< Euclidean distance
};

/// Which of two values is the nearer one: of similarities the larger, of distances the smaller.
enum class value_order : std::uint8_t { larger_is_nearer, smaller_is_nearer };

struct named_similarity {
  similarity which;
  std::string_view name;
  value_order order;  ///< of the values that a search returns
};

/// All of them.
std::span<named_similarity const> similarities();
std::string_view name_of(similarity which);
value_order order_of(similarity which);

/// A value as a score, of which the larger is the nearer one: a similarity as it is, a distance
/// with a minus; 0 has none.
constexpr double score_of(value_order order, double value) {
  return order == value_order::smaller_is_nearer ? 0.0 - value : value;
}

}  // namespace rulerank::knn
