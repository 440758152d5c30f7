// RBP, RBP@k: rank-biased precision, (1 - p) sum over relevant ranks i of p^(i - 1), with the
// profile's persistence p (default .9). Relevance is binary: grades do not matter.
#include "eval/groups.hpp"
#include "eval/measures.hpp"

namespace rulerank::inline v0::eval {

namespace {

double rbp_of(ranked_query const& query, conventions const& rules, std::size_t k) {
  double const p = rules.rules().rbp_persistence;
  double sum = 0;
  double weight = 1;
  for_each_group(query, looked_at(query, k), [&](tie_group const& group) {
    double const share =
        static_cast<double>(group.relevant(rules)) / static_cast<double>(group.size());
    for (std::size_t rank = group.begin; rank < group.cut; ++rank, weight *= p)
      sum += share * weight;
    return weight > 0;
  });
  return (1 - p) * sum;
}

}  // namespace

constinit measure_definition const rbp{
    {"RBP",
     {},
     measure_kind::cutoff::optional,
     "rank-biased precision",
     "Moffat and Zobel, Rank-biased precision for measurement of "
     "retrieval effectiveness, TOIS 27(1), 2008"},
    rbp_of};

}  // namespace rulerank::eval
