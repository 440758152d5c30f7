#include "mpi/task_dealer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include <mpi.h>

namespace rulerank::inline v0::mpi {
namespace {

/// Asks for a task and returns the result of the last one, whose bytes follow.
struct request {
  std::int64_t task = none;
  std::int64_t bytes = 0;
  static constexpr std::int64_t none = -1;
  static constexpr std::int64_t failed = -2;
};

/// A request with its result; without the result if there was no memory for it.
struct received_request {
  int from;
  std::int64_t task;
  std::optional<std::string> its_result;
};

enum tag : std::uint8_t { asks = 1, result, answer };

constexpr std::size_t bytes_a_piece = std::size_t{1} << 20;
/// How long rank 0 sleeps between two looks for requests: a hundredth of the time since the last
/// request, because a rank that has worked for long can wait a little longer.
constexpr std::chrono::microseconds least_patience{200}, most_patience{5000};
constexpr int patience_share = 100;

/// Calls `move(begin, length)` for consecutive pieces of `bytes` bytes.
template <class Move>
void in_pieces(std::size_t bytes, Move&& move) {
  for (std::size_t at = 0; at < bytes; at += bytes_a_piece)
    move(at, static_cast<int>(std::min(bytes_a_piece, bytes - at)));
}

}  // namespace

class task_dealer::ranks {
 public:
  ranks() {
    MPI_Comm_dup(MPI_COMM_WORLD, &all_);
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
    if (is_first()) spare_.resize(bytes_a_piece);
  }
  ~ranks() { MPI_Comm_free(&all_); }
  ranks(ranks const&) = delete;
  ranks& operator=(ranks const&) = delete;

  bool is_first() const { return rank_ == 0; }
  int size() const { return size_; }

  /// Sends a request to rank 0. Returns the task that rank 0 answers with, or a negative number.
  std::int64_t ask(std::int64_t done, std::string const& its_result) const {
    request const mine{done, static_cast<std::int64_t>(its_result.size())};
    MPI_Send(&mine, sizeof(mine), MPI_BYTE, 0, asks, all_);
    in_pieces(its_result.size(), [&](std::size_t at, int length) {
      MPI_Send(its_result.data() + at, length, MPI_BYTE, 0, result, all_);
    });
    std::int64_t next = request::none;
    MPI_Recv(&next, 1, MPI_INT64_T, 0, answer, all_, MPI_STATUS_IGNORE);
    return next;
  }

  /// Returns the request of a rank, if one has arrived.
  std::optional<received_request> received() noexcept {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, asks, all_, &there, &status);
    if (there == 0) return std::nullopt;
    request said;
    int const from = status.MPI_SOURCE;
    MPI_Recv(&said, sizeof(said), MPI_BYTE, from, asks, all_, MPI_STATUS_IGNORE);
    auto const bytes = static_cast<std::size_t>(said.bytes);
    received_request one{from, said.task, std::nullopt};
    try {
      one.its_result.emplace(bytes, '\0');
    } catch (std::exception const&) {
      // The bytes are received nevertheless, or the sender would wait for ever.
    }
    in_pieces(bytes, [&](std::size_t at, int length) {
      MPI_Recv(one.its_result ? one.its_result->data() + at : spare_.data(), length, MPI_BYTE, from,
               result, all_, MPI_STATUS_IGNORE);
    });
    return one;
  }

  void give(int to, std::int64_t task) const { MPI_Send(&task, 1, MPI_INT64_T, to, answer, all_); }

 private:
  MPI_Comm all_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::vector<char> spare_;
};

namespace {

/// The tasks of one call of `deal`, on rank 0.
class deck {
 public:
  deck(std::size_t tasks, process_group::keep_fn const& keep)
      : tasks_(static_cast<std::int64_t>(tasks)), keep_(keep), kept_(tasks) {}

  /// Returns the next task, or `request::none`.
  std::int64_t next() {
    std::int64_t const one = next_.fetch_add(1);
    return one < tasks_ ? one : request::none;
  }
  void end() { next_ = tasks_; }

  /// Keeps the result of `work()` for a task. An exception ends the dealing.
  template <class Work>
  void take(std::int64_t task, Work&& work) noexcept {
    try {
      std::string done = work();
      std::lock_guard const lock(mutex_);
      auto const t = static_cast<std::size_t>(task);
      kept_[t] = keep_(t, std::move(done));
    } catch (...) {
      std::lock_guard const lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      end();
    }
  }

  /// Called when no rank works any more. Rethrows the first exception of `take`.
  std::vector<std::string> kept() {
    if (thrown_) std::rethrow_exception(thrown_);
    return std::move(kept_);
  }

 private:
  std::int64_t tasks_;
  process_group::keep_fn const& keep_;
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;
  std::vector<std::string> kept_;
  std::exception_ptr thrown_;
};

}  // namespace

task_dealer::task_dealer() : ranks_(std::make_unique<ranks>()) {}
task_dealer::~task_dealer() = default;

std::vector<std::string> task_dealer::deal(std::size_t tasks, process_group::task_fn const& task,
                                           process_group::keep_fn const& keep,
                                           std::function<void()> const& meet) {
  if (!ranks_->is_first()) {
    meet();
    std::int64_t done = request::none;
    std::string its_result;
    while ((done = ranks_->ask(done, its_result)) >= 0) {
      try {
        its_result = task(static_cast<std::size_t>(done));
      } catch (...) {
        ranks_->ask(request::failed, {});
        throw;
      }
    }
    return {};
  }
  deck all(tasks, keep);
  meet();
  auto const answer_others = [&]() noexcept {
    using clock = std::chrono::steady_clock;
    auto last = clock::now();
    for (int working = ranks_->size() - 1; working > 0;) {
      auto asked = ranks_->received();
      if (!asked) {
        auto const idle =
            std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - last);
        std::this_thread::sleep_for(
            std::clamp(idle / patience_share, least_patience, most_patience));
        continue;
      }
      last = clock::now();
      if (asked->task == request::failed) all.end();
      if (asked->task >= 0)
        all.take(asked->task, [&] {
          if (!asked->its_result) throw std::bad_alloc();
          return std::move(*asked->its_result);
        });
      std::int64_t const next = all.next();
      if (next < 0) --working;
      ranks_->give(asked->from, next);
    }
  };
  std::thread others;
  try {
    others = std::thread(answer_others);
  } catch (std::exception const&) {
    // No thread is available: the calling thread answers the others, and does no task.
    answer_others();
  }
  for (std::int64_t mine = all.next(); mine >= 0; mine = all.next())
    all.take(mine, [&] { return task(static_cast<std::size_t>(mine)); });
  if (others.joinable()) others.join();
  return all.kept();
}

}  // namespace rulerank::mpi
