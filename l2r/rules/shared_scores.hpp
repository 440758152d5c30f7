#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "l2r/rules/ranker.hpp"

#include <cstddef>
#include <functional>
#include <span>

// Splits the scoring of documents over processes (context::processes).
namespace rulerank::inline v0::l2r {

/// The queries [begin, end) of one process; processes get about equally many documents.
struct query_range {
  std::size_t begin = 0;
  std::size_t end = 0;
};
query_range queries_of_process(std::span<datasets::query_group const> queries, int rank, int size);

/// The scores of all documents of the queries, on every process. Each process scores some queries
/// by `score`, which gets a context without processes. Look-ups are summed over the processes;
/// times and counters by size are this process's own.
scored share_scores(
    context const& ctx, std::span<datasets::query_group const> queries,
    std::function<scored(context const&, std::span<std::size_t const> documents)> const& score);

}  // namespace rulerank::l2r
