#pragma once
// A process group whose processes are threads, for tests; not installed.

#include "core/process_group.hpp"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace rulerank::inline v0::testing_tools {

/// Thrown if another process has ended.
struct ended_elsewhere {};

/// The state that the threads of run_processes share.
class meeting_place {
 public:
  explicit meeting_place(int size) : said_(static_cast<std::size_t>(size)) {}

  int size() const { return static_cast<int>(said_.size()); }

  std::vector<std::string> gather(int rank, std::string_view mine) {
    std::unique_lock lock(mutex_);
    expect_all();
    said_[static_cast<std::size_t>(rank)] = mine;
    std::size_t const round = round_;
    if (++here_ == said_.size()) {
      here_ = 0;
      ++round_;
      heard_ = said_;
      next_ = 0;
      all_.notify_all();
    } else {
      all_.wait(lock, [&] { return round_ != round || left_; });
      if (round_ == round) expect_all();
    }
    return heard_;
  }

  /// Returns the next task of this round.
  std::size_t next() {
    std::lock_guard const lock(mutex_);
    return next_++;
  }

  /// Called when a process ends; the others can no longer meet it.
  void leave() {
    std::lock_guard const lock(mutex_);
    left_ = true;
    all_.notify_all();
  }

 private:
  void expect_all() const {
    if (left_) throw ended_elsewhere();
  }

  std::mutex mutex_;
  std::condition_variable all_;
  std::vector<std::string> said_, heard_;
  std::size_t here_ = 0, round_ = 0, next_ = 0;
  bool left_ = false;
};

class thread_as_process final : public process_group {
 public:
  thread_as_process(meeting_place& place, int rank) : place_(place), rank_(rank) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return place_.size(); }
  std::vector<std::string> gather(std::string_view mine) const override {
    return place_.gather(rank_, mine);
  }
  std::vector<std::string> deal(std::size_t tasks, task_fn const& task,
                                keep_fn const& keep) const override {
    gather({});
    std::vector<std::pair<std::size_t, std::string>> done;
    for (std::size_t t = place_.next(); t < tasks; t = place_.next()) done.emplace_back(t, task(t));
    // One after the other, so that the first process gets all: each sends one result per round.
    std::vector<std::string> results(tasks);
    for (std::size_t t = 0; t < tasks; ++t) {
      std::string mine;
      for (auto const& [which, result] : done)
        if (which == t) mine = "+" + result;
      for (std::string const& one : gather(mine))
        if (!one.empty()) results[t] = one.substr(1);
    }
    for (std::size_t t = 0; t < tasks; ++t)
      results[t] = gather(is_first() ? keep(t, std::move(results[t])) : std::string()).front();
    return results;
  }

 private:
  meeting_place& place_;
  int rank_;
};

/// Calls `work(group)` for each of `size` processes at once. Rethrows the exception of the lowest
/// process that failed.
template <class Work>
void run_processes(int size, Work const& work) {
  meeting_place place(size);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        try {
          work(thread_as_process(place, rank));
        } catch (ended_elsewhere const&) {
        } catch (...) {
          thrown[static_cast<std::size_t>(rank)] = std::current_exception();
        }
        place.leave();
      });
  }
  for (std::exception_ptr const& one : thrown)
    if (one) std::rethrow_exception(one);
}

}  // namespace rulerank::testing_tools
