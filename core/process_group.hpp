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

// Exchange of values between the processes of a group (core/context.hpp). Threads: one thread of a
// process uses its group, the one that made it; contexts with a group are for that thread alone.
namespace rulerank::inline v0 {

/// Whether there are processes to share work out to.
inline bool has_processes(context const& ctx) {
  return ctx.processes != nullptr && ctx.processes->size() > 1;
}

/// This process's share of n things that processes share out evenly.
inline index_range own_range(process_group const& group, std::size_t n) {
  return even_range(n, static_cast<std::size_t>(group.size()),
                    static_cast<std::size_t>(group.rank()));
}

/// The same of the context's processes; all of them where it has none.
inline index_range own_range(context const& ctx, std::size_t n) {
  return has_processes(ctx) ? own_range(*ctx.processes, n) : index_range{0, n};
}

/// The context of work that this process does without the others.
inline context without_processes(context const& ctx) {
  context alone = ctx;
  alone.processes = nullptr;
  return alone;
}

/// What each process has, by rank, on all of them.
template <class Value>
std::vector<Value> gather_values(process_group const& group, Value const& mine) {
  std::vector<Value> all;
  for (std::string_view told : group.gather(bytes_of(mine))) take(told, all.emplace_back());
  return all;
}

/// The values of all processes, one behind the other.
template <class Value>
std::vector<Value> join(process_group const& group, std::vector<Value> const& mine) {
  std::vector<Value> all;
  for (std::string_view told : group.gather(bytes_of(mine))) take(told, all);
  return all;
}

/// The sum of what the processes have, on all of them.
inline std::uint64_t sum(process_group const& group, std::uint64_t mine) {
  auto const all = gather_values(group, mine);
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

/// The bytes of the first process, on all of them; `mine` is called there alone.
template <class Bytes>
std::string from_first(process_group const& group, Bytes&& mine) {
  return group.gather(group.is_first() ? mine() : std::string()).front();
}

/// What the first process has for this one, `piece(rank)`, which is called there alone. One piece
/// after the other passes all processes, so that each holds its own and the one that passes.
template <class Piece>
std::string dealt_by_first(process_group const& group, Piece&& piece) {
  std::string mine = group.is_first() ? piece(0) : std::string();
  for (int rank = 1; rank < group.size(); ++rank) {
    std::string passing = from_first(group, [&] { return piece(rank); });
    if (rank == group.rank()) mine = std::move(passing);
  }
  return mine;
}

/// Calls `use(bytes)` on the first process with what each process has, by rank, one at a time as
/// above.
template <class Use>
void collect_on_first(process_group const& group, std::string_view mine, Use&& use) {
  for (int rank = 0; rank < group.size(); ++rank) {
    auto const passing = group.gather(rank == group.rank() ? mine : std::string_view());
    if (group.is_first()) use(std::string_view(passing[static_cast<std::size_t>(rank)]));
  }
}

/// The value of the first process, on all of them; `mine` is called there alone.
template <class Make>
auto value_from_first(process_group const& group, Make&& mine) {
  return value_of<std::invoke_result_t<Make>>(from_first(group, [&] { return bytes_of(mine()); }));
}

/// A value that differs among processes, such as what a clock says: the first one's, on all of
/// them.
template <class Value>
Value of_first(context const& ctx, Value mine) {
  return has_processes(ctx) ? value_from_first(*ctx.processes, [&] { return mine; }) : mine;
}

}  // namespace rulerank
