// The implementation for a build without MPI.
#include "core/error.hpp"
#include "mpi/agreement.hpp"
#include "mpi/communicator.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace rulerank::inline v0::mpi {

communicator::communicator() {
  // Set by Open MPI's mpirun, and by PMI launchers such as Slurm's srun --mpi=pmi2.
  for (char const* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (char const* const ranks = std::getenv(name);
        ranks != nullptr && std::string_view(ranks) != "1")
      throw usage_error(
          fmt::format("started as one of {} MPI ranks, but this build has no MPI; start one "
                      "process, or build with RULERANK_MPI=ON",
                      ranks));
}
communicator::~communicator() = default;

std::vector<std::string> communicator::gather(std::string_view mine) const {
  return {std::string(mine)};
}

std::vector<std::string> communicator::deal(std::size_t tasks, task_fn const& task,
                                            keep_fn const& keep) const {
  std::vector<std::string> kept;
  for (std::size_t t = 0; t < tasks; ++t) kept.push_back(keep(t, task(t)));
  return kept;
}

failure communicator::fail(failure const& own) const {
  return agreed_failure({text_of(own)});
}

std::stop_token communicator::gave_up() const {
  return {};
}

std::string mpi_name() {
  return "none";
}

}  // namespace rulerank::mpi
