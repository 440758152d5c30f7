#include "l2r/rules/shared_scores.hpp"

#include "core/even_ranges.hpp"
#include "core/process_group.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace rulerank::inline v0::l2r {

query_range queries_of_process(std::span<datasets::query_group const> queries, int rank, int size) {
  std::size_t const documents = queries.empty() ? 0 : queries.back().end;
  index_range const mine =
      even_range(documents, static_cast<std::size_t>(size), static_cast<std::size_t>(rank));
  auto const first_from = [&](std::size_t document) {
    auto const at = std::ranges::lower_bound(queries, document, {}, &datasets::query_group::begin);
    return static_cast<std::size_t>(at - queries.begin());
  };
  return {first_from(mine.begin), first_from(mine.end)};
}

scored share_scores(
    context const& ctx, std::span<datasets::query_group const> queries,
    std::function<scored(context const&, std::span<std::size_t const> documents)> const& score) {
  process_group const& group = *ctx.processes;
  query_range const mine = queries_of_process(queries, group.rank(), group.size());
  scored result;
  if (mine.begin < mine.end) {
    std::size_t const first = queries[mine.begin].begin;
    std::vector<std::size_t> documents(queries[mine.end - 1].end - first);
    std::iota(documents.begin(), documents.end(), first);
    result = score(without_processes(ctx), documents);
  }
  auto const parts = gather_values(group, result);
  result.counts.clear();
  result.scores.clear();
  for (scored const& part : parts) {
    if (result.engine == engine::automatic) result.engine = part.engine;
    add(result.counts, part.counts);
    result.scores.insert(result.scores.end(), part.scores.begin(), part.scores.end());
  }
  return result;
}

}  // namespace rulerank::l2r
