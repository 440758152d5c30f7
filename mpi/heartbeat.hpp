#pragma once

#include <memory>
#include <stop_token>
#include <string_view>
#include <thread>

// Threads: the one that uses the communicator makes and destroys it.
namespace rulerank::inline v0::mpi {

/// Finds ranks that stall: that are stopped, that wait for memory or a disk with all their threads,
/// whose machine hangs or is behind a link that is cut. A thread of each rank tells the first rank
/// each second that it runs, and the first rank's tells the others. Where nothing is heard of a
/// rank for the time limit, the job ends with a message that names it and its machine. A rank that
/// computes for long is heard of, because its thread runs.
///
/// A whole job that is suspended and resumed goes on: silence is counted in the listener's own
/// time.
class heartbeat {
 public:
  /// For all ranks together, after MPI_Init_thread with MPI_THREAD_MULTIPLE. `limit`: seconds.
  explicit heartbeat(int limit);
  /// For all ranks together, before MPI_Finalize.
  ~heartbeat();
  heartbeat(heartbeat const&) = delete;
  heartbeat& operator=(heartbeat const&) = delete;
  /// Of communicator::gave_up.
  std::stop_token gave_up() const;

 private:
  class watch;
  std::unique_ptr<watch> watch_;
};

/// Ends the process where what it stands around takes longer than `seconds`, 0: never. For MPI's
/// own start and end, in which no rank hears of another: `mpirun` then ends the job. Ranks wait a
/// second more each, so that one says so before the others. Time while the job is suspended does
/// not count.
class time_limit {
 public:
  /// `what`: "MPI has not started on all ranks".
  time_limit(int seconds, std::string_view what);

 private:
  std::jthread thread_;
};

/// The seconds that RULERANK_RANK_TIMEOUT says, or 30; 0: no limit. Throws `usage_error` where it
/// is no whole number from 0 to 86,400.
int heartbeat_limit();

}  // namespace rulerank::mpi
