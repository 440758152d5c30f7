#pragma once

#include "knn/metric/indexes/structure.hpp"

#include <cstddef>
#include <span>
#include <vector>

// Sparse Spatial Selection: Brisaboa et al. 2006, Similarity search using sparse pivots for
// efficient multimedia information retrieval; Barrientos 2011, Algorithm 3.
namespace rulerank::inline v0::knn {

/// Returns the places of the pivots among the objects: the first object, then in order each object
/// at a distance of at least `apart` from all previous pivots; at most `most`.
inline std::vector<std::size_t> sss_pivots(metric_build const& from,
                                           std::span<std::uint32_t const> objects, double apart,
                                           std::size_t most, std::uint64_t& evaluations) {
  std::vector<std::size_t> places;
  if (objects.empty()) return places;
  places.push_back(0);
  std::vector<std::uint32_t> pivots{objects[0]};
  for (std::size_t i = 1; i < objects.size() && places.size() < most; ++i) {
    if (i % 1024 == 0) from.ctx.check_stop();
    auto const origin = from.space.from(objects[i]);
    bool is_apart = true;
    for (std::size_t p = 0; p < pivots.size() && is_apart; ++p) {
      ++evaluations;
      is_apart = origin->to(pivots[p]) >= apart;
    }
    if (!is_apart) continue;
    places.push_back(i);
    pivots.push_back(objects[i]);
  }
  return places;
}

}  // namespace rulerank::knn
