#pragma once

#include "mpi/communicator.hpp"

#include <string>
#include <string_view>
#include <vector>

// Threads: several threads may call these functions at once, except those that take a communicator:
// only its own thread may call them.
namespace rulerank::inline v0::mpi {

/// Merges the failures of all ranks into one (communicator::fail). `of_ranks` holds, by rank, the
/// result of `text_of`, or an empty text for a rank that did not fail. At least one rank failed.
failure agreed_failure(std::vector<std::string> const& of_ranks);
std::string text_of(failure const& one);

/// Throws `usage_error` on all ranks if `mine` differs between ranks. The message names the first
/// rank that differs from rank 0 and both values: "--seed: found 'B' on rank 2 and 'A' on rank 0,
/// expected the same".
void expect_same(communicator const& ranks, std::string_view what, std::string_view mine);
/// Checks values that were already gathered, by rank.
void expect_same(std::string_view what, std::vector<std::string> const& of_ranks);

/// Returns whether all ranks run on one machine and `path` is one regular file there (the same
/// device and inode, not a copy). Collective: every rank calls it.
bool find_one_file(communicator const& ranks, std::string const& path);

}  // namespace rulerank::mpi
