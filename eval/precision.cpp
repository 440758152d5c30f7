// P@k: the share of relevant documents among the first k ranks; a list shorter than k is divided by
// k all the same, in every profile.
#include "eval/groups.hpp"
#include "eval/measures.hpp"

#include <array>

namespace rulerank::eval {

namespace {

double value(ranked_query const& query, conventions const& rules, std::size_t k) {
  return relevant_within(query, rules, looked_at(query, k)) / static_cast<double>(k);
}

constexpr std::array<std::string_view, 2> aliases{"prec", "precision"};

}  // namespace

constinit measure_kind const precision{
    "P",
    aliases,
    measure_kind::cutoff::required,
    "precision",
    "Cleverdon and Keen, Factors determining the performance of indexing systems, 1966",
    value};

}  // namespace rulerank::eval
