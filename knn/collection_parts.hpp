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

// A collection in parts: what searches of the parts found becomes what one search of all finds, bit
// for bit. Queries in parts likewise.
//
// Threads: functions with a group are for the thread that uses it, the others for any. All
// processes of a group call them together, with the same queries and k.
namespace rulerank::inline v0::knn {

/// What a part found, by the numbers that its items have in the collection, where the first of them
/// is `first`.
void renumber(part_neighbours& found, std::uint32_t first);
void renumber(part_rows_in_range& found, std::uint32_t first);

/// What parts of a collection found for the same queries, as one list a query of the k nearest, of
/// which only matches stay. Where there are no parts, nobody has neighbours.
neighbours merge(std::span<part_neighbours const> parts, std::size_t queries, std::size_t k);
rows_in_range merge(std::span<part_rows_in_range const> parts, std::size_t queries);

/// The same of the parts of all processes, on each of them. `mine`: of this one's parts.
neighbours merge(process_group const& group, std::span<part_neighbours const> mine,
                 std::size_t queries, std::size_t k);
rows_in_range merge(process_group const& group, std::span<part_rows_in_range const> mine,
                    std::size_t queries);

/// The names of items that were found, which a process knows of its own items alone: `name` gives
/// that, or nothing. In the order of `items`, empty for `no_neighbour`.
std::vector<std::string> names_of(
    process_group const& group, std::span<std::uint32_t const> items,
    std::function<std::optional<std::string>(std::uint32_t)> const& name);

/// The bits of items [begin, end) of a filter of all items; none of an empty one.
std::vector<std::uint64_t> bits_of(std::span<std::uint64_t const> filter, std::size_t begin,
                                   std::size_t end);

/// Runs of n things to be dealt to `parts` processes that are free at different times: by factoring
/// (Hummel, Schonberg, Flynn 1992), rounds of `parts` equal shares that are half of what is left,
/// of `least` things at least. The last ones are small, so that all processes end together.
std::vector<index_range> factored_shares(std::size_t n, std::size_t parts, std::size_t least);

/// Joins the results of ranges of queries that follow each other. At least one range.
neighbours joined(std::vector<neighbours> parts);
rows_in_range joined(std::vector<rows_in_range> parts);

/// The neighbours of so many queries, which the processes share out evenly. `search` finds those of
/// a range that is not empty.
neighbours search_evenly(process_group const& group, std::size_t queries,
                         std::function<neighbours(index_range)> const& search);

}  // namespace rulerank::knn
