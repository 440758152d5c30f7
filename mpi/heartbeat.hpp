#pragma once

#include <memory>
#include <stop_token>
#include <string_view>
#include <thread>

// Threads: only the thread that uses the communicator makes and destroys these objects.
namespace rulerank::inline v0::mpi {

/// Detects stalled ranks: stopped processes, processes whose threads all wait for memory or a disk,
/// hung machines, cut links. Every second, a thread of each rank sends a sign to rank 0, and that
/// of rank 0 sends one to all others. If no sign of a rank arrives within the time limit, the job
/// ends with a message that names the rank and its machine. A rank that computes for long still
/// sends signs, because the thread keeps running.
///
/// A job may be suspended and resumed as a whole: silence is measured in ticks of the listener's
/// thread, not in wall time.
class heartbeat {
 public:
  /// Collective, after MPI_Init_thread with MPI_THREAD_MULTIPLE. `limit`: seconds.
  explicit heartbeat(int limit);
  /// Collective, before MPI_Finalize.
  ~heartbeat();
  heartbeat(heartbeat const&) = delete;
  heartbeat& operator=(heartbeat const&) = delete;
  /// The token that communicator::gave_up returns.
  std::stop_token gave_up() const;

 private:
  class watch;
  std::unique_ptr<watch> watch_;
};

/// Ends the process if the object lives longer than `seconds` (0: no limit). It guards MPI's own
/// start and end, when ranks cannot hear each other; mpirun then ends the job. Rank r waits r
/// seconds longer, so only one rank prints the message. Time in which the job is suspended does not
/// count.
class time_limit {
 public:
  /// `what` begins the message, such as "MPI has not started on all ranks".
  time_limit(int seconds, std::string_view what);

 private:
  std::jthread thread_;
};

/// Returns the seconds in RULERANK_RANK_TIMEOUT, 30 if it is not set; 0: no limit. Throws
/// `usage_error` unless the value is an integer from 0 to 86,400.
int heartbeat_limit();

}  // namespace rulerank::mpi
