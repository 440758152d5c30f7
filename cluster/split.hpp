#pragma once

#include "cluster/communicator.hpp"
#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "knn/neighbours.hpp"
#include "l2r/scorer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

// Work on queries, shared out over ranks: each rank does a run of them, and every rank gets the
// answers to all, in the order of the queries and with the bits of one process. All ranks call with
// the same arguments; where there is one rank, it does all at once. All throw as
// communicator::gather does.
//
// Threads: the one that uses the communicator.
namespace rulerank::cluster {

/// The items [begin, end).
struct part {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const noexcept { return end - begin; }
};

/// A rank's part of `count` items: equal parts, but for one item.
part part_of(std::size_t count, int rank, int size);
/// A rank's part of the queries, where each rank gets about as many documents.
part part_of(std::vector<datasets::query_group> const& queries, int rank, int size);

/// The scores of raw documents. Look-ups are summed up over the ranks; timings, the engine and what
/// is counted by size are those of this rank.
l2r::scored score(communicator const& ranks, context const& ctx, l2r::scorer const& scorer,
                  datasets::dataset const& documents);

/// The neighbours of so many queries. `search` finds those of a part that is not empty.
knn::neighbours search(communicator const& ranks, std::size_t queries,
                       std::function<knn::neighbours(part)> const& search);
/// The rows in range of so many queries.
knn::rows_in_range search_range(communicator const& ranks, std::size_t queries,
                                std::function<knn::rows_in_range(part)> const& search);

/// What the ranks counted, one after the other.
std::vector<std::uint64_t> join(communicator const& ranks, std::vector<std::uint64_t> const& mine);
/// The sum over the ranks.
std::uint64_t sum(communicator const& ranks, std::uint64_t mine);

}  // namespace rulerank::cluster
