// bpref: the share of the preferences "relevant before judged not relevant" that the ranking
// satisfies, over the first R judged non-relevant documents, as in trec_eval since version 8: 1/R
// sum over retrieved relevant d of 1 - min(n_d, R) / min(N, R), with n_d the judged non-relevant
// documents before d and N all of them. Unjudged documents do not count. Without a relevant
// document: the profile's no-relevant value.
//
// In a tie with m judged non-relevant documents, n_d is uniform over 0 .. m plus those before the
// tie; if max-docs cuts the tie, it is hypergeometric at each remaining rank.
#include "eval/groups.hpp"
#include "eval/measures.hpp"

#include <vector>

namespace rulerank::inline v0::eval {

namespace {

double bpref_of(ranked_query const& query, conventions const& rules, std::size_t) {
  if (query.relevant == 0) return rules.rules().no_relevant;
  auto const bound = std::min(query.nonrelevant, query.relevant);
  auto const kept = [&](std::size_t above) {
    if (above == 0) return 1.0;
    return 1.0 - static_cast<double>(std::min(above, query.relevant)) / static_cast<double>(bound);
  };
  double sum = 0;
  std::size_t above = 0;  // judged non-relevant documents before the group
  for_each_group(query, query.depth, [&](tie_group const& group) {
    std::size_t const relevant = group.relevant(rules);
    auto const others = static_cast<std::size_t>(
        std::count_if(group.labels.begin(), group.labels.end(),
                      [&](double label) { return label >= 0 && !rules.relevant(label); }));
    if (relevant > 0 && group.cut == group.end) {
      double expected = 0;
      for (std::size_t x = 0; x <= others; ++x) expected += kept(above + x);
      sum += static_cast<double>(relevant) * expected / static_cast<double>(others + 1);
    } else if (relevant > 0) {
      auto const rest = static_cast<double>(group.size() - 1);
      std::vector<double> chance(others + 2, 0);  // probability of x of the others before this rank
      chance[0] = 1;
      for (std::size_t j = 0; j < group.cut - group.begin; ++j) {
        double expected = 0;
        for (std::size_t x = 0; x <= std::min(j, others); ++x)
          expected += chance[x] * kept(above + x);
        sum += static_cast<double>(relevant) / static_cast<double>(group.size()) * expected;
        double const left = rest - static_cast<double>(j);
        for (std::size_t x = std::min(j, others) + 1; x-- > 0;) {
          double const next = static_cast<double>(others - x) / left;
          chance[x + 1] += chance[x] * next;
          chance[x] *= 1 - next;
        }
      }
    }
    above += others;
    return true;
  });
  return sum / static_cast<double>(query.relevant);
}

}  // namespace

constinit measure_definition const bpref{
    {"bpref",
     {},
     measure_kind::cutoff::none,
     "binary preference",
     "Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004"},
    bpref_of};

}  // namespace rulerank::eval
