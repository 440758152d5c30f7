// Rprec: precision at rank R, R being the number of relevant documents of the query. Without any,
// the profile's no-relevant value.
#include "eval/groups.hpp"
#include "eval/measures.hpp"

#include <array>

namespace rulerank::inline v0::eval {

namespace {

double r_precision_of(ranked_query const& query, conventions const& rules, std::size_t) {
  if (query.relevant == 0) return rules.rules().no_relevant;
  return relevant_within(query, rules, looked_at(query, query.relevant)) /
         static_cast<double>(query.relevant);
}

constexpr std::array<std::string_view, 2> r_precision_aliases{"r-prec", "r-precision"};

}  // namespace

constinit measure_definition const r_precision{
    {"Rprec", r_precision_aliases, measure_kind::cutoff::none,
     "precision at the number of relevant documents",
     "Buckley and Voorhees, Evaluating evaluation measure stability, SIGIR 2000"},
    r_precision_of};

}  // namespace rulerank::eval
