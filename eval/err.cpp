// ERR, ERR@k: the expected reciprocal rank at which a reader who scans the list is satisfied; a
// document of label r satisfies with probability (2^r - 1) / 2^r_max, r_max being the profile's
// max-label.
#include "eval/cascade.hpp"
#include "eval/measures.hpp"

namespace rulerank::inline v0::eval {

namespace {

double err_of(ranked_query const& query, conventions const& rules, std::size_t k) {
  double sum = 0;
  for_each_stop(
      query, looked_at(query, k), [&](double label) { return rules.satisfaction(label); },
      [&](std::size_t rank, double chance) { sum += chance / static_cast<double>(rank + 1); });
  return sum;
}

}  // namespace

constinit measure_definition const err{
    {"ERR",
     {},
     measure_kind::cutoff::optional,
     "expected reciprocal rank",
     "Chapelle, Metzler, Zhang and Grinspan, Expected reciprocal rank "
     "for graded relevance, CIKM 2009",
     measure_kind::mean::arithmetic,
     measure_kind::labels::grades},
    err_of};

}  // namespace rulerank::eval
