#pragma once
// Threads of a test that do as processes do.

#include "core/process_group.hpp"

#include <atomic>
#include <barrier>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace rulerank::testing_tools {

/// What threads have in common.
struct meeting {
  explicit meeting(std::size_t count) : all(static_cast<std::ptrdiff_t>(count)), told(count) {}
  std::barrier<> all;
  std::vector<std::string> told;
  std::atomic<bool> ended{false};
};

/// Thrown where another thread has thrown.
struct ended_elsewhere {};

/// One of the threads.
class thread_process final : public process_group {
 public:
  thread_process(meeting& place, int rank) : place_(place), rank_(rank) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return static_cast<int>(place_.told.size()); }
  std::vector<std::string> gather(std::string_view mine) const override {
    place_.told[static_cast<std::size_t>(rank_)] = mine;
    place_.all.arrive_and_wait();
    if (place_.ended) throw ended_elsewhere();
    std::vector<std::string> told = place_.told;
    place_.all.arrive_and_wait();
    return told;
  }
  std::vector<std::string> deal(std::size_t tasks, task_fn const& task,
                                keep_fn const& keep) const override {
    std::vector<std::string> kept;
    for (std::size_t t = 0; t < tasks; ++t) kept.push_back(keep(t, task(t)));
    return kept;
  }

 private:
  meeting& place_;
  int rank_;
};

/// work(process) in so many threads. What the first of those that throw has thrown is thrown again.
template <class Work>
void in_threads(std::size_t count, Work const& work) {
  meeting place(count);
  std::vector<std::exception_ptr> thrown(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < count; ++t)
      threads.emplace_back([&, t] {
        try {
          work(thread_process(place, static_cast<int>(t)));
        } catch (ended_elsewhere const&) {
          place.all.arrive_and_drop();
        } catch (...) {
          place.ended = true;
          thrown[t] = std::current_exception();
          place.all.arrive_and_drop();
        }
      });
  }
  for (auto const& one : thrown)
    if (one) std::rethrow_exception(one);
}

}  // namespace rulerank::testing_tools
