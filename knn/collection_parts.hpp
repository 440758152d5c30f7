#pragma once

#include "core/process_group.hpp"
#include "knn/neighbours.hpp"
#include "knn/part_neighbours.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Merges the results of searches in parts of a collection. The merged result equals that of one
// search in the whole collection, bit for bit. The same holds for queries in parts.
//
// Threads: only the thread that uses a group may call functions with it; any thread may call the
// others. Functions with a group are collective: all processes call them with equal queries and k.
namespace rulerank::inline v0::knn {

/// Adds `first`, the collection's number of the part's first item, to all item numbers.
void renumber(part_neighbours& found, std::uint32_t first);
void renumber(part_rows_in_range& found, std::uint32_t first);

/// Merges the results of several parts for the same queries: keeps the k nearest items of each
/// query, without items that do not match. Without parts, no query has neighbours.
neighbours merge(std::span<part_neighbours const> parts, std::size_t queries, std::size_t k);
rows_in_range merge(std::span<part_rows_in_range const> parts, std::size_t queries);

/// Merges the parts of all processes, on each process. `mine`: the parts of this process.
neighbours merge(process_group const& group, std::span<part_neighbours const> mine,
                 std::size_t queries, std::size_t k);
rows_in_range merge(process_group const& group, std::span<part_rows_in_range const> mine,
                    std::size_t queries);

/// Returns the names of items in the order of `items`, empty for `no_neighbour`. Each process knows
/// only the names of its own items: `name` returns the name or nothing.
std::vector<std::string> names_of(
    process_group const& group, std::span<std::uint32_t const> items,
    std::function<std::optional<std::string>(std::uint32_t)> const& name);

/// Copies the bits of items [begin, end) from a filter of all items; empty for an empty filter.
std::vector<std::uint64_t> bits_of(std::span<std::uint64_t const> filter, std::size_t begin,
                                   std::size_t end);

/// Splits n items into ranges for `parts` processes that become free at different times, by
/// factoring (Hummel, Schonberg, Flynn 1992): each round halves what remains and divides that half
/// into `parts` equal ranges of at least `least` items. The last ranges are small, so all processes
/// end at about the same time.
std::vector<index_range> factored_shares(std::size_t n, std::size_t parts, std::size_t least);

/// Concatenates the results of consecutive ranges of queries. At least one range.
neighbours joined(std::vector<neighbours> parts);
rows_in_range joined(std::vector<rows_in_range> parts);

/// Returns the neighbours of `queries` queries, which the processes divide evenly. `search`
/// searches for a non-empty range of them.
neighbours search_evenly(process_group const& group, std::size_t queries,
                         std::function<neighbours(index_range)> const& search);

}  // namespace rulerank::knn
