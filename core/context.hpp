#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0 {

/// Processes that share out work: each makes the same calls in the same order, and all have the
/// results. One thread of a process uses its group, the one that made it.
///
/// An exception in a task, or on one process alone, ends the work of all processes. The class that
/// implements the group says how the other processes learn of it.
class process_group {
 public:
  /// Does a task on one process, and returns the task's result.
  using task_fn = std::function<std::string(std::size_t task)>;
  /// Called on the first process, from any thread, with one result at a time as they come. Returns
  /// what a result means for all processes, such as the result itself.
  using keep_fn = std::function<std::string(std::size_t task, std::string result)>;

  virtual ~process_group() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  bool is_first() const noexcept { return rank() == 0; }

  /// Returns the bytes that each process gives, by rank, on every process.
  virtual std::vector<std::string> gather(std::string_view mine) const = 0;
  /// Returns what `keep` returned for each of the tasks 0, 1, ..., on every process. A process does
  /// its tasks in rising order.
  virtual std::vector<std::string> deal(std::size_t tasks, task_fn const& task,
                                        keep_fn const& keep) const = 0;
};

/// Reports the progress of a stage (`total` 0: unknown); returns false to stop the work. One
/// computation calls it from one thread at a time.
using progress_fn =
    std::function<bool(std::string_view stage, std::uint64_t done, std::uint64_t total)>;

/// The first argument of every long computation: where it runs and how to stop it. The result never
/// depends on `threads` or `devices`.
///
/// Computations do not change a context, so several may use one context at once. Each of them then
/// calls `progress` from its own thread.
struct context {
  int threads = 0;           ///< CPU threads; 0: all that the process may use
  std::vector<int> devices;  ///< CUDA device ordinals; empty: CPU only
  std::uint64_t seed = 1;    ///< for all random choices
  std::stop_token stop;      ///< on request, the work soon throws `interrupted`
  progress_fn progress;      ///< may be empty
  /// Processes that do the same work on the same input at the same time and divide it; null: this
  /// process alone.
  process_group const* processes = nullptr;
  /// Whether plain text files may be mapped instead of copied. If a file is cut short while it is
  /// read, a mapped file raises SIGBUS and a copied file throws `error`.
  bool map_files = true;

  /// The number of CPU threads to use, at least 1.
  int thread_count() const noexcept;
  /// Throws `interrupted` if a stop was requested. Any thread may call it.
  void check_stop() const;
  /// Calls `progress`; throws `interrupted` if it returns false or a stop was requested. One call
  /// at a time: several threads must hold a lock.
  void report(std::string_view stage, std::uint64_t done, std::uint64_t total) const;
};

}  // namespace rulerank
