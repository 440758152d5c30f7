#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "l2r/rules/ranker.hpp"

#include <cstddef>
#include <functional>
#include <span>

// Scores of documents that processes share out (context::processes).
namespace rulerank::inline v0::l2r {

/// The queries [begin, end) of process `rank` of so many: each gets about as many documents.
struct query_range {
  std::size_t begin = 0;
  std::size_t end = 0;
};
query_range queries_of_process(std::span<datasets::query_group const> queries, int rank, int size);

/// The scores of all documents of the queries, on every process: each scores those of some queries
/// by `score`, whose context has no processes. Look-ups are sums over the processes; timings and
/// what is counted by size are this process's.
scored share_scores(
    context const& ctx, std::span<datasets::query_group const> queries,
    std::function<scored(context const&, std::span<std::size_t const> documents)> const& score);

}  // namespace rulerank::l2r
