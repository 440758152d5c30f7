#pragma once

#include "core/bytes.hpp"
#include "core/context.hpp"
#include "core/even_ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Exchanges values between the processes of a group (core/context.hpp). Threads: only the thread
// that made a group uses it, and contexts with a group belong to that thread.
namespace rulerank::inline v0 {

/// Returns whether there are processes to divide work among.
inline bool has_processes(context const& ctx) {
  return ctx.processes != nullptr && ctx.processes->size() > 1;
}

/// This process's range of n items that are divided evenly.
inline index_range own_range(process_group const& group, std::size_t n) {
  return even_range(n, static_cast<std::size_t>(group.size()),
                    static_cast<std::size_t>(group.rank()));
}

/// The range of this context's process; [0, n) if the context has no processes.
inline index_range own_range(context const& ctx, std::size_t n) {
  return has_processes(ctx) ? own_range(*ctx.processes, n) : index_range{0, n};
}

/// The context for work that this process does without the others.
inline context without_processes(context const& ctx) {
  context alone = ctx;
  alone.processes = nullptr;
  return alone;
}

/// Returns the value of each process, by rank, on all processes. Collective.
template <class Value>
std::vector<Value> gather_values(process_group const& group, Value const& mine) {
  std::vector<Value> all;
  for (std::string_view told : group.gather(bytes_of(mine))) take(told, all.emplace_back());
  return all;
}

/// Concatenates the values of all processes, by rank, on all processes. Collective.
template <class Value>
std::vector<Value> join(process_group const& group, std::vector<Value> const& mine) {
  std::vector<Value> all;
  for (std::string_view told : group.gather(bytes_of(mine))) take(told, all);
  return all;
}

/// Returns the sum of all processes' values on all processes. Collective.
inline std::uint64_t sum(process_group const& group, std::uint64_t mine) {
  auto const all = gather_values(group, mine);
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

/// Returns the bytes of the first process on all processes; only there `mine` is called.
/// Collective.
template <class Bytes>
std::string from_first(process_group const& group, Bytes&& mine) {
  return group.gather(group.is_first() ? mine() : std::string()).front();
}

/// Returns `piece(rank)` of the first process to each rank; only there `piece` is called. The
/// pieces are sent one at a time through all processes, so each holds its own piece and one in
/// transit. Collective.
template <class Piece>
std::string dealt_by_first(process_group const& group, Piece&& piece) {
  std::string mine = group.is_first() ? piece(0) : std::string();
  for (int rank = 1; rank < group.size(); ++rank) {
    std::string passing = from_first(group, [&] { return piece(rank); });
    if (rank == group.rank()) mine = std::move(passing);
  }
  return mine;
}

/// Calls `use(bytes)` on the first process with each process's bytes, by rank, one at a time.
/// Collective.
template <class Use>
void collect_on_first(process_group const& group, std::string_view mine, Use&& use) {
  for (int rank = 0; rank < group.size(); ++rank) {
    auto const passing = group.gather(rank == group.rank() ? mine : std::string_view());
    if (group.is_first()) use(std::string_view(passing[static_cast<std::size_t>(rank)]));
  }
}

/// Returns the value of the first process on all processes; only there `mine` is called.
/// Collective.
template <class Make>
auto value_from_first(process_group const& group, Make&& mine) {
  return value_of<std::invoke_result_t<Make>>(from_first(group, [&] { return bytes_of(mine()); }));
}

/// Returns the first process's value on all processes. For values that differ between processes,
/// such as a measured time.
template <class Value>
Value of_first(context const& ctx, Value mine) {
  return has_processes(ctx) ? value_from_first(*ctx.processes, [&] { return mine; }) : mine;
}

}  // namespace rulerank
