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

// Threads: one thread of a process, the one that made the communicator, uses it.
namespace rulerank::inline v0::mpi {

/// What ends a job: the program's exit code and the message.
struct failure {
  int code = 1;
  std::string message;
  /// Of those that were dealt, the one in which it was met.
  std::optional<std::size_t> task = std::nullopt;
};

/// What a rank has been told by `gather`: how often, and bytes, its own among them.
struct traffic {
  std::uint64_t exchanges = 0;
  std::uint64_t bytes = 0;
};

/// Another rank has failed, and all ranks agree on what it said.
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

/// The processes that mpirun, or another launcher of MPI, started together. A process that none
/// started is the one rank of a job of its own, and MPI is not begun.
///
/// Every rank runs the same program on the same inputs, and meets the others in the same calls of
/// `gather` in the same order. A rank that cannot go on calls `fail` in place of its next `gather`,
/// so that no rank waits for one that has failed. One that dies is its launcher's to report: mpirun
/// ends the job; one that stalls is found by the heartbeat.
class communicator final : public process_group {
 public:
  /// Throws `usage_error` where the process is one of several ranks and the build has no MPI.
  communicator();
  ~communicator() override;  // NOLINT(performance-trivially-destructible): with MPI it ends MPI
  communicator(communicator const&) = delete;
  communicator& operator=(communicator const&) = delete;

  /// The first one, 0, writes outputs and messages.
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  /// Of the ranks on this rank's machine: how many there are, and how many come before it.
  int size_here() const noexcept { return size_here_; }
  int rank_here() const noexcept { return rank_here_; }

  /// Throws `job_failed` on all ranks where one failed.
  std::vector<std::string> gather(std::string_view mine) const override;
  /// A rank that fails gets no further task, nor do the others; they throw `job_failed`. As tasks
  /// are dealt in rising order, the first of those that would fail is among those that did. The
  /// first rank deals from a thread of its own while it works, where MPI has MPI_THREAD_MULTIPLE;
  /// elsewhere the tasks are shared out evenly before.
  std::vector<std::string> deal(std::size_t tasks, task_fn const& task,
                                keep_fn const& keep) const override;
  /// Waits until all ranks are here. Throws as `gather` does.
  void meet() const { gather({}); }
  /// For the rank that failed. What all ranks agree on: wrong usage or bad input (codes 2 and 3)
  /// that the first of the dealt tasks met, which one process would have met too, and else the
  /// failure of the lowest rank that failed, its number before the message unless all ranks failed
  /// alike. To be called once; nothing may be gathered afterwards.
  failure fail(failure const& own) const;
  traffic exchanged() const noexcept { return exchanged_; }
  /// Whether this rank has ended the job because another one stalled, or is the one that stalled
  /// and hears of it when it goes on; why has been said. For any thread, at any time.
  std::stop_token gave_up() const;

 private:
  int rank_ = 0;
  int size_ = 1;
  int rank_here_ = 0;
  int size_here_ = 1;
  mutable traffic exchanged_;
  mutable std::optional<std::size_t> failed_task_;  // the dealt one that threw here
  // Of several ranks, in a build with MPI, where any thread may use it:
  [[maybe_unused]] int limit_ = 0;  // seconds in which a rank must be heard of
  std::shared_ptr<heartbeat> heartbeat_;
  std::shared_ptr<task_dealer> dealer_;
};

/// What the build has of MPI: the version of its interface, or "none".
std::string mpi_name();

}  // namespace rulerank::mpi
