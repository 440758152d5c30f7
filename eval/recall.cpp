// recall@k: the share of the query's relevant documents within the first k ranks. Without any, the
// profile's no-relevant value.
#include "eval/groups.hpp"
#include "eval/measures.hpp"

#include <array>

namespace rulerank::inline v0::eval {

namespace {

double recall_of(ranked_query const& query, conventions const& rules, std::size_t k) {
  if (query.relevant == 0) return rules.rules().no_relevant;
  return relevant_within(query, rules, looked_at(query, k)) / static_cast<double>(query.relevant);
}

constexpr std::array<std::string_view, 1> recall_aliases{"r"};

}  // namespace

constinit measure_definition const recall{
    {"recall", recall_aliases, measure_kind::cutoff::required, "recall",
     "Cleverdon and Keen, Factors determining the performance of indexing systems, 1966"},
    recall_of};

}  // namespace rulerank::eval
