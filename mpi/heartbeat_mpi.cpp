#include "core/error.hpp"
#include "mpi/heartbeat.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

namespace rulerank::inline v0::mpi {
namespace {

constexpr int ticks_a_second = 10;
constexpr int longest_limit = 86'400;
/// Messages between ranks: `alive`, or the sender ends the job and has printed the reason.
constexpr int alive = 0;
constexpr int given_up = 1;

/// Returns the names of the machines, by rank.
std::vector<std::string> machines(MPI_Comm ranks, int size) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> mine{};
  int length = 0;
  MPI_Get_processor_name(mine.data(), &length);
  std::vector<char> all(mine.size() * static_cast<std::size_t>(size));
  MPI_Allgather(mine.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME,
                MPI_CHAR, ranks);
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < all.size(); begin += mine.size())
    names.emplace_back(all.data() + begin);
  return names;
}

}  // namespace

/// The peers that a rank watches: rank 0 watches all others, which watch rank 0.
class heartbeat::watch {
 public:
  explicit watch(int limit) : limit_(limit) {
    MPI_Comm_dup(MPI_COMM_WORLD, &ranks_);
    int size = 0;
    MPI_Comm_rank(ranks_, &rank_);
    MPI_Comm_size(ranks_, &size);
    machines_ = machines(ranks_, size);
    for (int rank = 0; rank < size; ++rank)
      if ((rank_ == 0) != (rank == 0)) peers_.push_back({.rank = rank});
    sent_.resize(machines_.size());
    received_.resize(machines_.size());
    thread_ = std::jthread([this](std::stop_token const& stop) { run(stop); });
  }

  ~watch() {
    MPI_Barrier(ranks_);  // No rank falls silent before all are here.
    thread_.request_stop();
    thread_.join();
    // MPI must not end while a message is in transit.
    time_limit const ends(limit_, "MPI has not ended on all ranks");
    std::vector<int> to_receive(machines_.size());
    MPI_Alltoall(sent_.data(), 1, MPI_INT, to_receive.data(), 1, MPI_INT, ranks_);
    for (peer& other : peers_) {
      while (received_[other.index()] < to_receive[other.index()]) receive(other.rank);
      MPI_Wait(&other.sending, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&ranks_);
  }

  watch(watch const&) = delete;
  watch& operator=(watch const&) = delete;

  std::stop_token gave_up() const { return gave_up_.get_token(); }

 private:
  struct peer {
    int rank = 0;
    int silent_ticks = 0;
    MPI_Request sending = MPI_REQUEST_NULL;
    std::size_t index() const { return static_cast<std::size_t>(rank); }
  };

  void run(std::stop_token const& stop) {
    for (int tick = 0; !stop.stop_requested(); ++tick) {
      for (peer& other : peers_) {
        if (tick % ticks_a_second == 0) send(other);
        listen(other);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1000 / ticks_a_second));
    }
  }

  /// Skips a peer that has not yet received the last sign.
  void send(peer& other) {
    int done = 0;
    MPI_Test(&other.sending, &done, MPI_STATUS_IGNORE);
    if (done == 0) return;
    MPI_Isend(nullptr, 0, MPI_CHAR, other.rank, alive, ranks_, &other.sending);
    ++sent_[other.index()];
  }

  void listen(peer& other) {
    ++other.silent_ticks;
    for (; has_sent(other.rank, alive); other.silent_ticks = 0) receive(other.rank);
    if (has_sent(MPI_ANY_SOURCE, given_up)) gave_up_.request_stop();
    // If several ranks miss rank 0, only the lowest prints the message.
    if (other.silent_ticks > (limit_ + rank_) * ticks_a_second) end_job(other);
  }

  bool has_sent(int rank, int what) const {
    int there = 0;
    MPI_Iprobe(rank, what, ranks_, &there, MPI_STATUS_IGNORE);
    return there != 0;
  }

  void receive(int from) {
    MPI_Recv(nullptr, 0, MPI_CHAR, from, alive, ranks_, MPI_STATUS_IGNORE);
    ++received_[static_cast<std::size_t>(from)];
  }

  /// Only one rank prints the reason. The others may wait longer than mpirun takes to end them,
  /// because mpirun may be slow and because this rank's thread waits for mpirun. mpirun also
  /// resumes a stopped rank before it ends that rank.
  void end_job(peer const& lost) {
    bool const is_told = gave_up_.stop_requested();
    gave_up_.request_stop();
    if (!is_told && !lower_rank_gives_up())
      fmt::print(stderr,
                 "rulerank: error: rank {} on {}: no message for {} s, expected one each second\n",
                 lost.rank, machines_[lost.index()], limit_);
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  /// Notifies all ranks that this rank ends the job; returns whether a lower rank does so at the
  /// same time.
  bool lower_rank_gives_up() const {
    int const ranks = static_cast<int>(machines_.size());
    for (int other = 0; other < ranks; ++other) {
      MPI_Request telling = MPI_REQUEST_NULL;
      if (other != rank_) MPI_Isend(nullptr, 0, MPI_CHAR, other, given_up, ranks_, &telling);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * 1000 / ticks_a_second));
    for (int other = 0; other < rank_; ++other)
      if (has_sent(other, given_up)) return true;
    return false;
  }

  int limit_;
  int rank_ = 0;
  MPI_Comm ranks_ = MPI_COMM_NULL;
  std::vector<std::string> machines_;
  std::vector<peer> peers_;
  std::vector<int> sent_;
  std::vector<int> received_;
  std::stop_source gave_up_;
  std::jthread thread_;
};

time_limit::time_limit(int seconds, std::string_view what) {
  if (seconds == 0) return;
  // Open MPI's launcher sets the rank before MPI is initialized.
  int rank = 0;
  if (char const* const told = std::getenv("OMPI_COMM_WORLD_RANK"); told != nullptr)
    std::from_chars(told, told + std::string_view(told).size(), rank);
  auto const wait = [seconds, rank, what = std::string(what)](std::stop_token const& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    for (int tick = 0; tick < (seconds + rank) * ticks_a_second; ++tick) {
      stopped.wait_for(lock, stop, std::chrono::milliseconds(1000 / ticks_a_second),
                       [] { return false; });
      if (stop.stop_requested()) return;
    }
    fmt::print(stderr, "rulerank: error: {} within {} s\n", what, seconds);
    std::fflush(stderr);
    std::_Exit(1);
  };
  thread_ = std::jthread(wait);
}

heartbeat::heartbeat(int limit) : watch_(std::make_unique<watch>(limit)) {}
heartbeat::~heartbeat() = default;

std::stop_token heartbeat::gave_up() const {
  return watch_->gave_up();
}

int heartbeat_limit() {
  char const* const told = std::getenv("RULERANK_RANK_TIMEOUT");
  if (told == nullptr) return 30;
  std::string_view const text = told;
  int seconds = -1;
  auto const [end, error] = std::from_chars(text.begin(), text.end(), seconds);
  if (error != std::errc() || end != text.end() || seconds < 0 || seconds > longest_limit)
    throw usage_error(
        fmt::format("RULERANK_RANK_TIMEOUT: found '{}', expected whole seconds from 0 to {}", text,
                    longest_limit));
  return seconds;
}

}  // namespace rulerank::mpi
