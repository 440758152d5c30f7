#pragma once

#include "core/process_group.hpp"

#include <cstdint>
#include <string_view>

// How a search is divided among MPI ranks. Collective: every rank calls these functions with equal
// arguments.
namespace rulerank::inline v0::mpi {

/// The input that a search divides among ranks: the queries (every rank holds the whole collection)
/// or the collection (every rank gets all queries).
enum class shared_out : std::uint8_t { automatic, queries, collection };
/// Parses "auto", "queries" or "collection". Throws `usage_error` that lists these names.
shared_out shared_out_from(std::string_view name);

/// Returns whether the collection is divided, with one answer for all ranks. `automatic` divides it
/// if on any rank `bytes`, the memory that one process needs for the whole collection, exceeds the
/// free memory of its machine divided by the number of processes there.
bool shares_collection(process_group const& group, shared_out asked, std::uint64_t bytes);

}  // namespace rulerank::mpi
