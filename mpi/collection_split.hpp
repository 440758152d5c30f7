#pragma once

#include "core/process_group.hpp"

#include <cstdint>
#include <string_view>

// What a search shares out over MPI ranks. All ranks call with the same arguments.
namespace rulerank::inline v0::mpi {

/// What is shared out over ranks: the queries, where each rank has all of the collection, or the
/// collection, where each has all queries.
enum class shared_out : std::uint8_t { automatic, queries, collection };
/// "auto", "queries", "collection". Throws `usage_error` that lists the names.
shared_out shared_out_from(std::string_view name);

/// Whether the collection is shared out. `automatic`: where the memory that each process would take
/// for all of it, `bytes`, is more than what is free on its machine, divided by the processes
/// there; it is so on all where it is on one.
bool shares_collection(process_group const& group, shared_out asked, std::uint64_t bytes);

}  // namespace rulerank::mpi
