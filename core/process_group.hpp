#pragma once

#include "core/bytes.hpp"
#include "core/context.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// Threads: one thread of a process uses its group, the one that made it; contexts with a group are
// for that thread alone.
namespace rulerank {

/// Processes that share out work (context::processes): each makes the same calls in the same order,
/// and all have the results. cluster/communicator.hpp has one of MPI ranks.
///
/// What is thrown in a task, or by one process alone, ends the work of all: the group's maker says
/// how they learn of it.
class process_group {
 public:
  /// On one process: does a task and returns its result.
  using task_fn = std::function<std::string(std::size_t task)>;
  /// On the first process, from any thread, one result at a time as they come: what a result means
  /// for all processes, such as the result itself.
  using keep_fn = std::function<std::string(std::size_t task, std::string result)>;

  virtual ~process_group() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  bool is_first() const noexcept { return rank() == 0; }

  /// The bytes that each process gives, by rank, on every process.
  virtual std::vector<std::string> gather(std::string_view mine) const = 0;
  /// What `keep` returned for each of the tasks 0, 1, ..., on every process. A task goes to the
  /// next process that is free, in rising order.
  virtual std::vector<std::string> deal(std::size_t tasks, task_fn const& task,
                                        keep_fn const& keep) const = 0;
};

/// Whether there are processes to share work out to.
inline bool has_processes(context const& ctx) {
  return ctx.processes != nullptr && ctx.processes->size() > 1;
}

/// The context of work that this process does without the others.
inline context without_processes(context const& ctx) {
  context alone = ctx;
  alone.processes = nullptr;
  return alone;
}

/// The bytes of the first process, on all of them; `mine` is called there alone.
template <class Bytes>
std::string from_first(process_group const& group, Bytes&& mine) {
  return group.gather(group.is_first() ? mine() : std::string()).front();
}

/// A value that differs among processes, such as what a clock says: the first one's, on all of
/// them.
template <class Value>
Value of_first(context const& ctx, Value mine) {
  if (!has_processes(ctx)) return mine;
  std::string const bytes = from_first(*ctx.processes, [&] {
    std::string own;
    put(own, mine);
    return own;
  });
  std::string_view left = bytes;
  take(left, mine);
  return mine;
}

}  // namespace rulerank
