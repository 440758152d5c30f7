// Every collective call is one exchange. Each rank announces the size of its bytes, or that it
// failed, together with the bytes if they are few. Otherwise the ranks confirm that they have
// allocated memory, and then broadcast their bytes one rank after the other, in pieces whose length
// fits MPI's int.
#include "mpi/agreement.hpp"
#include "mpi/communicator.hpp"
#include "mpi/heartbeat.hpp"
#include "mpi/task_dealer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <mpi.h>

namespace rulerank::inline v0::mpi {
namespace {

constexpr std::int64_t failed = -1;
constexpr std::size_t most_bytes_a_message = std::size_t{1} << 30;

/// Checks the variables that Open MPI's mpirun and launchers of PMIx and PMI (Slurm's srun) set. A
/// job of one rank does not need MPI, which takes longer to start than many runs of the program.
bool is_launched() {
  if (char const* const ranks = std::getenv("OMPI_COMM_WORLD_SIZE"))
    return std::string_view(ranks) != "1";
  return std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
}

/// The first message of a rank: the size of its bytes, and the bytes themselves if they fit.
struct announcement {
  std::int64_t size = 0;
  std::array<char, 56> few{};
  bool has_all() const { return size <= std::ssize(few); }
};

using announcements = std::vector<announcement>;

announcements announce(int ranks, std::int64_t size, std::string_view bytes) {
  announcement mine{size};
  if (mine.has_all()) std::ranges::copy(bytes, mine.few.begin());
  announcements all(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

bool is_large(announcements const& told) {
  return !std::ranges::all_of(told, &announcement::has_all);
}

std::vector<std::string> space_for(announcements const& told) {
  std::vector<std::string> parts;
  for (announcement const& one : told) parts.emplace_back(static_cast<std::size_t>(one.size), '\0');
  return parts;
}

/// Receives into allocated memory. Must not throw, because the other ranks wait in the same
/// broadcasts.
void broadcast_all(announcements const& told, int rank, std::string_view mine,
                   std::vector<std::string>& parts) noexcept {
  for (std::size_t r = 0; r < parts.size(); ++r) {
    std::string& part = parts[r];
    int const from = static_cast<int>(r);
    if (from == rank)
      std::ranges::copy(mine, part.begin());
    else if (told[r].has_all())
      std::copy_n(told[r].few.begin(), part.size(), part.begin());
    if (told[r].has_all()) continue;
    for (std::size_t at = 0; at < part.size(); at += most_bytes_a_message)
      MPI_Bcast(part.data() + at,
                static_cast<int>(std::min(most_bytes_a_message, part.size() - at)), MPI_CHAR, from,
                MPI_COMM_WORLD);
  }
}

/// `mine` is the failure of this rank, or empty if it did not fail.
failure settle(int ranks, int rank, std::string const& mine) {
  auto const told = announce(ranks, std::ssize(mine), mine);
  auto parts = space_for(told);
  broadcast_all(told, rank, mine, parts);
  return agreed_failure(parts);
}

/// Throws `job_failed` if a rank announced a failure.
announcements announce_or_fail(int ranks, int rank, std::string_view mine) {
  auto told = announce(ranks, std::ssize(mine), mine);
  if (std::ranges::count(told, failed, &announcement::size) > 0)
    throw job_failed(settle(ranks, rank, {}));
  return told;
}

}  // namespace

communicator::communicator() {
  if (!is_launched()) return;
  limit_ = heartbeat_limit();
  // Some machines start ranks slowly.
  time_limit const starts(4 * limit_, "MPI has not started on all ranks");
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here);
  MPI_Comm_rank(here, &rank_here_);
  MPI_Comm_size(here, &size_here_);
  MPI_Comm_free(&here);
  if (size_ == 1 || provided != MPI_THREAD_MULTIPLE) return;
  dealer_ = std::make_shared<task_dealer>();
  if (limit_ > 0) heartbeat_ = std::make_shared<heartbeat>(limit_);
}

communicator::~communicator() {
  heartbeat_.reset();
  dealer_.reset();
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun == 0) return;
  time_limit const ends(limit_, "MPI has not ended on all ranks");
  MPI_Finalize();
}

std::vector<std::string> communicator::gather(std::string_view mine) const {
  if (size_ == 1) return {std::string(mine)};
  auto const told = announce_or_fail(size_, rank_, mine);
  auto parts = space_for(told);
  if (is_large(told)) announce_or_fail(size_, rank_, {});
  ++exchanged_.exchanges;
  for (announcement const& one : told) exchanged_.bytes += static_cast<std::uint64_t>(one.size);
  broadcast_all(told, rank_, mine, parts);
  return parts;
}

std::vector<std::string> communicator::deal(std::size_t tasks, task_fn const& task,
                                            keep_fn const& keep) const {
  auto const noted = [&](std::size_t t) {
    try {
      return task(t);
    } catch (...) {
      failed_task_ = t;
      throw;
    }
  };
  auto const meet_with_the_same = [&] {
    expect_same("tasks to deal", gather(std::to_string(tasks)));
  };
  if (dealer_) {
    auto const mine = dealer_->deal(tasks, noted, keep, meet_with_the_same);
    return value_from_first(*this, [&] { return mine; });
  }
  meet_with_the_same();
  // Task t belongs to rank t modulo the number of ranks.
  auto const ranks = static_cast<std::size_t>(size_);
  std::vector<std::string> mine;
  for (auto t = static_cast<std::size_t>(rank_); t < tasks; t += ranks) mine.push_back(noted(t));
  auto of_ranks = gather_values(*this, mine);
  return value_from_first(*this, [&] {
    std::vector<std::string> kept;
    for (std::size_t t = 0; t < tasks; ++t)
      kept.push_back(keep(t, std::move(of_ranks[t % ranks][t / ranks])));
    return kept;
  });
}

failure communicator::fail(failure const& own) const {
  if (size_ == 1) return agreed_failure({text_of(own)});
  announce(size_, failed, {});
  return settle(size_, rank_, text_of({own.code, own.message, failed_task_}));
}

std::stop_token communicator::gave_up() const {
  return heartbeat_ ? heartbeat_->gave_up() : std::stop_token();
}

std::string mpi_name() {
  return fmt::format("{}.{}", MPI_VERSION, MPI_SUBVERSION);
}

}  // namespace rulerank::mpi
