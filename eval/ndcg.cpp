// NDCG@k, NDCG: discounted cumulative gain divided by that of the best order of all judged
// documents, both cut at rank k. A query with an ideal DCG of 0 has the profile's no-relevant
// value. The profile decides whether a list shorter than k counts 0 or as it is.
#include "eval/discounted_gain.hpp"
#include "eval/measures.hpp"

#include <array>

namespace rulerank::inline v0::eval {

namespace {

double ndcg_of(ranked_query const& query, conventions const& rules, std::size_t k) {
  double best = 0;
  std::size_t const judged = k == 0 ? query.ideal.size() : std::min(k, query.ideal.size());
  for (std::size_t rank = 0; rank < judged; ++rank)
    best += rules.discounted(rules.gain(query.ideal[rank]), rank);
  if (best == 0) return rules.rules().no_relevant;
  if (query.depth < k && rules.rules().short_lists == short_list::zero) return 0;
  double sum = 0;
  for_each_gain(query, rules, looked_at(query, k), [&](std::size_t, double term) { sum += term; });
  return sum / best;
}

constexpr std::array<std::string_view, 1> ndcg_aliases{"ndcg_cut"};

}  // namespace

constinit measure_definition const ndcg{
    {"NDCG", ndcg_aliases, measure_kind::cutoff::optional, "normalized discounted cumulative gain",
     "Jarvelin and Kekalainen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002",
     measure_kind::mean::arithmetic, measure_kind::labels::gains},
    ndcg_of};

}  // namespace rulerank::eval
