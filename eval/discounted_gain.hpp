#pragma once

#include "eval/groups.hpp"

#include <cstddef>

namespace rulerank::inline v0::eval {

/// Calls `work(rank, term)` for the first `cut` ranks, from 0, with the expected discounted gain at
/// that rank (McSherry and Najork, ECIR 2008: every rank of a tie has the tie's mean gain).
template <class Work>
void for_each_gain(ranked_query const& query, conventions const& rules, std::size_t cut,
                   Work&& work) {
  for_each_group(query, cut, [&](tie_group const& group) {
    double gain = 0;
    for (double const label : group.labels) gain += rules.gain(label);
    if (group.size() > 1) gain /= static_cast<double>(group.size());
    for (std::size_t rank = group.begin; rank < group.cut; ++rank)
      work(rank, rules.discounted(gain, rank));
    return true;
  });
}

}  // namespace rulerank::eval
