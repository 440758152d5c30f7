// MRR, MRR@k: one over the rank of the first relevant document; 0 if there is none. In the first
// tie with a relevant document, rank j of t is the first relevant one with probability prod_{i < j}
// (t - r - i) / (t - i) x r / (t - j).
#include "eval/groups.hpp"
#include "eval/measures.hpp"

#include <array>

namespace rulerank::inline v0::eval {

namespace {

double reciprocal_rank_of(ranked_query const& query, conventions const& rules, std::size_t k) {
  double sum = 0;
  for_each_group(query, looked_at(query, k), [&](tie_group const& group) {
    auto const relevant = static_cast<double>(group.relevant(rules));
    if (relevant == 0) return true;
    auto const size = static_cast<double>(group.size());
    double missed = 1;
    for (std::size_t rank = group.begin; rank < group.cut && missed > 0; ++rank) {
      double const left = size - static_cast<double>(rank - group.begin);
      sum += missed * (relevant / left) / static_cast<double>(rank + 1);
      missed *= std::max(0.0, left - relevant) / left;
    }
    return false;
  });
  return sum;
}

constexpr std::array<std::string_view, 2> reciprocal_rank_aliases{"rr", "recip_rank"};

}  // namespace

constinit measure_definition const reciprocal_rank{
    {"MRR", reciprocal_rank_aliases, measure_kind::cutoff::optional,
     "reciprocal rank of the first relevant document",
     "Voorhees, The TREC-8 question answering track report, TREC 1999"},
    reciprocal_rank_of};

}  // namespace rulerank::eval
