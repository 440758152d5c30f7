#pragma once

#include "mpi/communicator.hpp"

#include <string>
#include <string_view>
#include <vector>

// Threads: functions may be called from any number of threads at once, but those that take
// a communicator, which is one thread's.
namespace rulerank::inline v0::mpi {

/// The failures of all ranks as one (communicator::fail). `of_ranks`: of each rank the text that
/// `text_of` gives, or nothing for one that did not fail; one did.
failure agreed_failure(std::vector<std::string> const& of_ranks);
std::string text_of(failure const& one);

/// Throws `usage_error` on all ranks where `mine` is another on one of them, naming the first such
/// rank and both values: "--seed: found 'B' on rank 2 and 'A' on rank 0, expected the same".
void expect_same(communicator const& ranks, std::string_view what, std::string_view mine);
/// The same of values that were gathered.
void expect_same(std::string_view what, std::vector<std::string> const& of_ranks);

/// Whether all ranks are on one machine and find the same regular file there, not a copy of it. All
/// call it together.
bool find_one_file(communicator const& ranks, std::string const& path);

}  // namespace rulerank::mpi
