// P@k: the share of relevant documents among the first k ranks; a list shorter than k is still
// divided by k, in every profile.
#include "eval/groups.hpp"
#include "eval/measures.hpp"

#include <array>

namespace rulerank::inline v0::eval {

namespace {

double precision_of(ranked_query const& query, conventions const& rules, std::size_t k) {
  return relevant_within(query, rules, looked_at(query, k)) / static_cast<double>(k);
}

constexpr std::array<std::string_view, 2> precision_aliases{"prec", "precision"};

}  // namespace

constinit measure_definition const precision{
    {"P", precision_aliases, measure_kind::cutoff::required, "precision",
     "Cleverdon and Keen, Factors determining the performance of indexing systems, 1966"},
    precision_of};

}  // namespace rulerank::eval
