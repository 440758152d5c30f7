#pragma once

#include "core/process_group.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Threads: only the thread that made the communicator may use it.
namespace rulerank::inline v0::mpi {

/// The failure that ends a job: the program's exit code and the message.
struct failure {
  int code = 1;
  std::string message;
  /// The dealt task that failed; empty if no dealt task failed.
  std::optional<std::size_t> task = std::nullopt;
};

/// The data that this rank received in `gather`: the number of exchanges, and bytes including its
/// own.
struct traffic {
  std::uint64_t exchanges = 0;
  std::uint64_t bytes = 0;
};

/// Another rank has failed. Every rank throws it with the failure that all ranks agreed on.
class job_failed : public std::exception {
 public:
  explicit job_failed(failure agreed) : agreed_(std::move(agreed)) {}
  failure const& agreed() const noexcept { return agreed_; }
  char const* what() const noexcept override { return agreed_.message.c_str(); }

 private:
  failure agreed_;
};

class heartbeat;
class task_dealer;

/// The processes that mpirun or another MPI launcher started together. A process without a launcher
/// is rank 0 of 1, and MPI is not initialized.
///
/// Every rank runs the same program on the same inputs and makes the same calls of `gather` in the
/// same order. A rank that cannot go on calls `fail` in place of its next `gather`, so no rank
/// waits for a failed one. If a rank dies, mpirun ends the job. If a rank stalls, the heartbeat
/// detects it.
class communicator final : public process_group {
 public:
  /// Throws `usage_error` if the process is one of several ranks and the build has no MPI.
  communicator();
  ~communicator() override;  // NOLINT(performance-trivially-destructible): with MPI it ends MPI
  communicator(communicator const&) = delete;
  communicator& operator=(communicator const&) = delete;

  /// Rank 0 writes the outputs and messages.
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  /// The number of ranks on this machine, and this rank's number among them.
  int size_here() const noexcept { return size_here_; }
  int rank_here() const noexcept { return rank_here_; }

  /// Returns the bytes of all ranks, by rank. Throws `job_failed` on all ranks if one failed.
  std::vector<std::string> gather(std::string_view mine) const override;
  /// Deals tasks in ascending order. After a failure, no rank gets another task, and the other
  /// ranks throw `job_failed`. The lowest task that would fail is therefore always among the tasks
  /// that did. With MPI_THREAD_MULTIPLE, rank 0 deals from a separate thread while it works.
  /// Without it, the tasks are divided evenly in advance.
  std::vector<std::string> deal(std::size_t tasks, task_fn const& task,
                                keep_fn const& keep) const override;
  /// Waits for all ranks. Throws `job_failed` as `gather` does.
  void meet() const { gather({}); }
  /// Called by a rank that failed; returns the failure that all ranks agree on. If dealt tasks
  /// failed with wrong usage or bad input (codes 2 and 3), the lowest such task decides, because a
  /// single process would fail there too. Otherwise the lowest failed rank decides, and the message
  /// begins with its number unless all ranks failed alike. To be called once; no `gather` may
  /// follow.
  failure fail(failure const& own) const;
  traffic exchanged() const noexcept { return exchanged_; }
  /// Stop is requested if this rank has ended the job because another rank stalled, or if this rank
  /// stalled itself and learns of it when it resumes. The reason has already been printed. Any
  /// thread may call it at any time.
  std::stop_token gave_up() const;

 private:
  int rank_ = 0;
  int size_ = 1;
  int rank_here_ = 0;
  int size_here_ = 1;
  mutable traffic exchanged_;
  mutable std::optional<std::size_t> failed_task_;  // the task whose exception this rank threw
  // Used with several ranks in a build with MPI; safe from any thread:
  [[maybe_unused]] int limit_ = 0;  // a rank is lost after so many seconds without a sign
  std::shared_ptr<heartbeat> heartbeat_;
  std::shared_ptr<task_dealer> dealer_;
};

/// The MPI version that the build supports, or "none".
std::string mpi_name();

}  // namespace rulerank::mpi
