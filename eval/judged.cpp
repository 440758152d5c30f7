// judged@k: the share of judged documents among the first k ranks; for a list shorter than k among
// its own documents, and 0 for an empty one. It shows how far the other measures can be trusted,
// which treat unjudged documents as not relevant. If k cuts a tie, the whole tie's share is used
// for its part.
#include "eval/groups.hpp"
#include "eval/measures.hpp"

namespace rulerank::inline v0::eval {

namespace {

double judged_of(ranked_query const& query, conventions const&, std::size_t k) {
  std::size_t const ranks = looked_at(query, k);
  if (ranks == 0) return 0;
  double found = 0;
  for_each_group(query, ranks, [&](tie_group const& group) {
    std::size_t known = 0;
    for (std::size_t i = group.begin; i < group.end; ++i) known += query.labels[i] >= 0 ? 1 : 0;
    found += static_cast<double>(known) * static_cast<double>(group.cut - group.begin) /
             static_cast<double>(group.size());
    return true;
  });
  return found / static_cast<double>(ranks);
}

}  // namespace

constinit measure_definition const judged{
    {"judged",
     {},
     measure_kind::cutoff::required,
     "share of judged documents among the first k",
     "Sakai and Kando, On information retrieval metrics designed for evaluation with incomplete "
     "relevance assessments, Information Retrieval 11, 2008",
     measure_kind::mean::arithmetic,
     measure_kind::labels::order},
    judged_of};

}  // namespace rulerank::eval
