#include "l2r/combination.hpp"

#include "core/error.hpp"

#include <cmath>

namespace rulerank::l2r {

std::vector<double> combine(std::span<datasets::query_group const> queries,
                            std::span<std::vector<double> const> members) {
  if (members.empty()) throw usage_error("no scores to combine");
  std::size_t const documents = queries.empty() ? 0 : queries.back().end;
  for (std::vector<double> const& scores : members)
    if (scores.size() != documents) throw usage_error("scores to combine of other documents");
  if (members.size() == 1) return members.front();
  std::vector<double> combined(documents);
  for (datasets::query_group const& query : queries) {
    auto const size = static_cast<double>(query.size());
    for (std::vector<double> const& scores : members) {
      double sum = 0, squares = 0;
      for (std::size_t d = query.begin; d < query.end; ++d) sum += scores[d];
      double const mean = sum / size;
      for (std::size_t d = query.begin; d < query.end; ++d)
        squares += (scores[d] - mean) * (scores[d] - mean);
      double const deviation = std::sqrt(squares / size);
      // Equal scores may miss their mean by a rounding.
      if (!(deviation > 1e-12 * std::abs(mean))) continue;
      for (std::size_t d = query.begin; d < query.end; ++d)
        combined[d] += (scores[d] - mean) / deviation;
    }
    for (std::size_t d = query.begin; d < query.end; ++d)
      combined[d] /= static_cast<double>(members.size());
  }
  return combined;
}

}  // namespace rulerank::l2r
