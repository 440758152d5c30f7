#pragma once

#include "core/process_group.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// Threads: the one that uses the communicator makes, uses and destroys it.
namespace rulerank::inline v0::mpi {

/// Deals tasks to the ranks that ask for one. A thread of the first rank answers the others while
/// its own thread works. In a build with MPI, with MPI_THREAD_MULTIPLE.
class task_dealer {
 public:
  /// For all ranks together.
  task_dealer();
  /// For all ranks together, before MPI_Finalize.
  ~task_dealer();
  task_dealer(task_dealer const&) = delete;
  task_dealer& operator=(task_dealer const&) = delete;

  /// process_group::deal: on the first rank what was kept of each task, on the others nothing. A
  /// rank whose task or `keep` throws throws that again once no rank waits for it; every rank is
  /// then given no further task. All ranks call `meet` before any waits for another; it throws
  /// where one failed before.
  std::vector<std::string> deal(std::size_t tasks, process_group::task_fn const& task,
                                process_group::keep_fn const& keep,
                                std::function<void()> const& meet);

 private:
  class ranks;
  std::unique_ptr<ranks> ranks_;
};

}  // namespace rulerank::mpi
