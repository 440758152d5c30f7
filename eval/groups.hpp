#pragma once

#include "eval/conventions.hpp"
#include "eval/ranking.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

// Shared by the measures: iteration over the tie groups of a ranking.
namespace rulerank::inline v0::eval {

/// Ranks begin .. end - 1 hold `labels` in some order; those below `cut` count.
struct tie_group {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t cut = 0;
  std::span<double const> labels;

  std::size_t size() const noexcept { return end - begin; }
  std::size_t relevant(conventions const& rules) const {
    return static_cast<std::size_t>(std::count_if(
        labels.begin(), labels.end(), [&](double label) { return rules.relevant(label); }));
  }
};

/// The number of ranks that a measure with cut-off k (0: none) considers.
inline std::size_t looked_at(ranked_query const& query, std::size_t k) {
  return k == 0 ? query.depth : std::min(query.depth, k);
}

/// Calls `work(group)` for each group that begins within the first `cut` ranks, until it returns
/// false.
template <class Work>
void for_each_group(ranked_query const& query, std::size_t cut, Work&& work) {
  for (std::size_t g = 0; g < query.group_count() && query.groups[g] < cut; ++g) {
    std::size_t const begin = query.groups[g];
    std::size_t const end = query.groups[g + 1];
    if (!work(tie_group{begin, end, std::min(end, cut),
                        std::span(query.labels).subspan(begin, end - begin)}))
      return;
  }
}

/// The expected number of relevant documents in the first `cut` ranks; exact if no group straddles
/// the cut.
inline double relevant_within(ranked_query const& query, conventions const& rules,
                              std::size_t cut) {
  double found = 0;
  for_each_group(query, cut, [&](tie_group const& group) {
    auto const relevant = static_cast<double>(group.relevant(rules));
    found += group.cut == group.end ? relevant
                                    : relevant * static_cast<double>(group.cut - group.begin) /
                                          static_cast<double>(group.size());
    return true;
  });
  return found;
}

}  // namespace rulerank::eval
