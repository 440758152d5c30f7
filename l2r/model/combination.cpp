#include "core/error.hpp"
#include "l2r/model/scorer.hpp"

#include <cmath>

namespace rulerank::inline v0::l2r {

list_moments moments_of(std::span<double const> scores) {
  auto const size = static_cast<double>(scores.size());
  double sum = 0, squares = 0;
  for (double const score : scores) sum += score;
  double const mean = sum / size;
  for (double const score : scores) squares += (score - mean) * (score - mean);
  double const deviation = std::sqrt(squares / size);
  // Rounding can make the mean of equal scores differ from them.
  return {mean, deviation > 1e-12 * std::abs(mean) ? deviation : 0};
}

std::vector<double> combine(std::span<datasets::query_group const> queries,
                            std::span<std::vector<double> const> members) {
  if (members.empty())
    throw usage_error("found no scores to combine, expected those of one member or more");
  std::size_t const documents = queries.empty() ? 0 : queries.back().end;
  for (std::vector<double> const& scores : members)
    if (scores.size() != documents)
      throw usage_error("found a number of scores that differs from the number of documents");
  if (members.size() == 1) return members.front();
  std::vector<double> combined(documents);
  for (datasets::query_group const& query : queries) {
    for (std::vector<double> const& scores : members) {
      list_moments const list = moments_of(std::span(scores).subspan(query.begin, query.size()));
      for (std::size_t d = query.begin; d < query.end; ++d)
        combined[d] += standardized(scores[d], list);
    }
    for (std::size_t d = query.begin; d < query.end; ++d)
      combined[d] /= static_cast<double>(members.size());
  }
  return combined;
}

}  // namespace rulerank::l2r
