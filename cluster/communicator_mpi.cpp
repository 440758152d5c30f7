// All over one exchange: the ranks tell each other how many bytes each of them has, or that it
// failed, then each rank's bytes are broadcast, in pieces whose length fits MPI's int.
#include "cluster/agreement.hpp"
#include "cluster/communicator.hpp"
#include "cluster/heartbeat.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <mpi.h>

namespace rulerank::cluster {
namespace {

constexpr std::int64_t failed = -1;
constexpr std::size_t piece = std::size_t{1} << 30;

/// Of mpirun of Open MPI, and of launchers of PMIx and PMI such as Slurm's srun. A job of one rank
/// needs no MPI, whose start takes longer than many a run of the program.
bool is_launched() {
  if (char const* const ranks = std::getenv("OMPI_COMM_WORLD_SIZE"))
    return std::string_view(ranks) != "1";
  return std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
}

std::vector<std::int64_t> gather_sizes(int ranks, std::int64_t mine) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
  return sizes;
}

std::vector<std::string> broadcast_all(std::vector<std::int64_t> const& sizes, int rank,
                                       std::string_view mine) {
  std::vector<std::string> parts(sizes.size());
  for (std::size_t r = 0; r < parts.size(); ++r) {
    int const from = static_cast<int>(r);
    if (from == rank)
      parts[r] = mine;
    else
      parts[r].resize(static_cast<std::size_t>(sizes[r]));
    for (std::size_t at = 0; at < parts[r].size(); at += piece)
      MPI_Bcast(parts[r].data() + at, static_cast<int>(std::min(piece, parts[r].size() - at)),
                MPI_CHAR, from, MPI_COMM_WORLD);
  }
  return parts;
}

/// Of a rank that failed, `mine` is its failure, else empty.
failure settle(int ranks, int rank, std::string const& mine) {
  auto const sizes = gather_sizes(ranks, static_cast<std::int64_t>(mine.size()));
  return agreed_failure(broadcast_all(sizes, rank, mine));
}

}  // namespace

communicator::communicator() {
  if (!is_launched()) return;
  int const limit = heartbeat_limit();
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, limit > 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED,
                  &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  if (size_ > 1 && limit > 0 && provided == MPI_THREAD_MULTIPLE)
    heartbeat_ = std::make_shared<heartbeat>(limit);
}

communicator::~communicator() {
  heartbeat_.reset();
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun != 0) MPI_Finalize();
}

std::vector<std::string> communicator::gather(std::string_view mine) const {
  if (size_ == 1) return {std::string(mine)};
  auto const sizes = gather_sizes(size_, static_cast<std::int64_t>(mine.size()));
  if (std::ranges::count(sizes, failed) > 0) throw job_failed(settle(size_, rank_, {}));
  ++exchanged_.exchanges;
  for (std::int64_t const size : sizes) exchanged_.bytes += static_cast<std::uint64_t>(size);
  return broadcast_all(sizes, rank_, mine);
}

failure communicator::fail(failure const& own) const {
  if (size_ == 1) return agreed_failure({text_of(own)});
  gather_sizes(size_, failed);
  return settle(size_, rank_, text_of(own));
}

std::string mpi_name() {
  return fmt::format("{}.{}", MPI_VERSION, MPI_SUBVERSION);
}

}  // namespace rulerank::cluster
