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

/// What a part found, by the numbers that its items have in the collection, where the first of them
/// is `first`.
void renumber(knn::part_neighbours& found, std::uint32_t first);
void renumber(knn::part_rows_in_range& found, std::uint32_t first);

/// What parts of a collection found for the same queries, as one list a query of the k nearest, of
/// which only matches stay. Where there are no parts, nobody has neighbours.
knn::neighbours merge(std::span<knn::part_neighbours const> parts, std::size_t queries,
                      std::size_t k);
knn::rows_in_range merge(std::span<knn::part_rows_in_range const> parts, std::size_t queries);

/// The same of the parts of all processes, on each of them. `mine`: of this one's parts.
knn::neighbours merge(process_group const& group, std::span<knn::part_neighbours const> mine,
                      std::size_t queries, std::size_t k);
knn::rows_in_range merge(process_group const& group, std::span<knn::part_rows_in_range const> mine,
                         std::size_t queries);

/// The names of items that were found, which a process knows of its own items alone: `name` gives
/// that, or nothing. In the order of `items`, empty for `no_neighbour`.
std::vector<std::string> names_of(
    process_group const& group, std::span<std::uint32_t const> items,
    std::function<std::optional<std::string>(std::uint32_t)> const& name);

/// The bits of items [begin, end) of a filter of all items; none of an empty one.
std::vector<std::uint64_t> bits_of(std::span<std::uint64_t const> filter, std::size_t begin,
                                   std::size_t end);

}  // namespace rulerank::mpi
