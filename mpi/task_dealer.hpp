#pragma once

#include "core/process_group.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// Threads: only the thread that uses the communicator makes, uses and destroys a dealer.
namespace rulerank::inline v0::mpi {

/// Deals tasks to ranks on request. On rank 0, one thread answers the other ranks while the calling
/// thread works. Needs a build with MPI, and MPI_THREAD_MULTIPLE.
class task_dealer {
 public:
  /// Collective.
  task_dealer();
  /// Collective, before MPI_Finalize.
  ~task_dealer();
  task_dealer(task_dealer const&) = delete;
  task_dealer& operator=(task_dealer const&) = delete;

  /// Implements process_group::deal. Returns what `keep` returned for each task on rank 0, and
  /// nothing on the other ranks. A rank whose task or `keep` throws rethrows the exception once no
  /// rank waits for it, and no rank gets another task. Every rank calls `meet` before it waits for
  /// another rank; `meet` throws if a rank failed earlier.
  std::vector<std::string> deal(std::size_t tasks, process_group::task_fn const& task,
                                process_group::keep_fn const& keep,
                                std::function<void()> const& meet);

 private:
  class ranks;
  std::unique_ptr<ranks> ranks_;
};

}  // namespace rulerank::mpi
