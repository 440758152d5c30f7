#include "l2r/scorecard/query_parts.hpp"

#include "eval/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace rulerank::inline v0::l2r {

query_subset subset_of_fold(std::span<datasets::query_group const> queries,
                            datasets::binned_dataset const& all,
                            std::vector<std::size_t> const& folds, std::size_t fold, bool inside) {
  query_subset result;
  std::vector<std::size_t> documents;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    if ((folds[q] == fold) != inside) continue;
    datasets::query_group group = queries[q];
    group.begin = documents.size();
    for (std::size_t d = queries[q].begin; d < queries[q].end; ++d) documents.push_back(d);
    group.end = documents.size();
    result.queries.push_back(std::move(group));
  }
  result.items = datasets::subset(all, documents);
  return result;
}

bool has_pairs(datasets::query_group const& query, std::span<std::int32_t const> labels) {
  auto const own = labels.subspan(query.begin, query.size());
  return std::ranges::adjacent_find(own, std::not_equal_to<>()) != own.end();
}

std::vector<double> ndcg_of_pairs(context const& ctx, std::span<std::int32_t const> labels,
                                  std::span<datasets::query_group const> queries,
                                  std::span<double const> scores) {
  if (queries.empty()) return {};
  eval::profile rules = eval::make_profile("standard");
  rules.ties = eval::tie_rule::average;
  eval::measure const measures[] = {eval::parse_measure("NDCG")};
  auto const all = eval::evaluate(ctx, {labels, queries, {}}, scores, measures, rules);
  std::vector<double> found;
  for (std::size_t q = 0; q < queries.size(); ++q)
    if (has_pairs(queries[q], labels)) found.push_back(all.values[q]);
  return found;
}

double gain_of(std::int32_t label, std::int32_t largest) {
  return std::ldexp(1.0, label - largest);
}

double mean_label(datasets::binned_dataset const& of) {
  double sum = 0;
  for (std::int32_t const y : of.labels) sum += y;
  return sum / static_cast<double>(of.labels.size());
}

}  // namespace rulerank::l2r
