#pragma once

#include "core/even_shares.hpp"
#include "knn/neighbours.hpp"
#include "knn/sparse/sparse_index.hpp"
#include "mpi/communicator.hpp"

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
namespace rulerank::mpi {

/// The devices of a machine that one of its ranks uses: a share of them, or one that ranks share
/// where there are fewer than ranks.
std::vector<int> devices_of_rank(std::vector<int> const& devices, int rank_here, int size_here);

/// The rows of a part; a view.
knn::sparse_rows rows_of(knn::sparse_rows const& all, share some);

/// Runs of n things to be dealt to `parts` processes that are free at different times: by factoring
/// (Hummel, Schonberg, Flynn 1992), rounds of `parts` equal shares that are half of what is left,
/// of `least` things at least. The last ones are small, so that all processes end together.
std::vector<share> factored_shares(std::size_t n, std::size_t parts, std::size_t least);

/// The neighbours of so many queries. `search` finds those of a part that is not empty.
knn::neighbours search(communicator const& ranks, std::size_t queries,
                       std::function<knn::neighbours(share)> const& search);

/// The neighbours of queries that follow each other, of at least one part.
knn::neighbours joined(std::vector<knn::neighbours> parts);

/// The sum over the ranks.
std::uint64_t sum(communicator const& ranks, std::uint64_t mine);

}  // namespace rulerank::mpi
