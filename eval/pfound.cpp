// pFound, pFound@k: the probability that a reader who scans the list finds an answer: at each
// document with the p_rel of its label, giving up after each with p_break (default .15): sum_i
// pLook_i pRel_i, pLook_1 = 1, pLook_{i+1} = pLook_i (1 - pRel_i) (1 - p_break). p_rel is (2^r - 1)
// / 2^r_max unless the profile lists it.
#include "eval/cascade.hpp"
#include "eval/measures.hpp"

namespace rulerank::inline v0::eval {

namespace {

double pfound_of(ranked_query const& query, conventions const& rules, std::size_t k) {
  double sum = 0;
  double patience = 1;
  std::size_t at = 0;
  for_each_stop(
      query, looked_at(query, k), [&](double label) { return rules.found(label); },
      [&](std::size_t rank, double chance) {
        for (; at < rank; ++at) patience *= 1 - rules.rules().pfound_break;
        sum += chance * patience;
      });
  return sum;
}

}  // namespace

constinit measure_definition const pfound{
    {"pFound",
     {},
     measure_kind::cutoff::optional,
     "probability that the reader finds an answer",
     "Gulin, Karpovich, Raskovalov and Segalovich, Yandex at ROMIP 2009: optimization of ranking "
     "algorithms by machine learning methods, ROMIP 2009",
     measure_kind::mean::arithmetic,
     measure_kind::labels::grades},
    pfound_of};

}  // namespace rulerank::eval
