// MeanNDCG: the mean of NDCG@1 .. NDCG@n, n being the number of ranked documents, as LETOR 4.0's
// script prints it. A query with an ideal DCG of 0 has the profile's no-relevant value.
#include "eval/discounted_gain.hpp"
#include "eval/measures.hpp"

namespace rulerank::inline v0::eval {

namespace {

double mean_ndcg_of(ranked_query const& query, conventions const& rules, std::size_t) {
  if (query.ideal.empty() || rules.gain(query.ideal[0]) == 0) return rules.rules().no_relevant;
  if (query.depth == 0) return 0;
  double sum = 0;
  double found = 0;
  double best = 0;
  for_each_gain(query, rules, query.depth, [&](std::size_t rank, double term) {
    found += term;
    if (rank < query.ideal.size()) best += rules.discounted(rules.gain(query.ideal[rank]), rank);
    sum += found / best;
  });
  return sum / static_cast<double>(query.depth);
}

}  // namespace

constinit measure_definition const mean_ndcg{
    {"MeanNDCG",
     {},
     measure_kind::cutoff::none,
     "mean of NDCG@1 to NDCG@n, n the list's length",
     "Qin and Liu, Introducing LETOR 4.0 datasets, arXiv:1306.2597, 2013",
     measure_kind::mean::arithmetic,
     measure_kind::labels::gains},
    mean_ndcg_of};

}  // namespace rulerank::eval
