#pragma once

#include "core/process_group.hpp"
#include "knn/neighbours.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A collection that is split over processes: each searches its parts for all queries, and what the
// parts found becomes what one index of all finds, bit for bit. All processes call with the same
// queries and k.
//
// Threads: functions with a group are for the thread that uses it, the others for any.
namespace rulerank::mpi {

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
