#include "core/device_pool.hpp"
#include "core/error.hpp"
#include "core/for_each_device.hpp"
#include "core/stream.hpp"
#include "core/testing.hpp"

#include <array>
#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

// Tests the parts of core for CUDA sources.
namespace rulerank::inline v0 {
namespace {

int current() {
  int ordinal = -1;
  check_cuda(cudaGetDevice(&ordinal));
  return ordinal;
}

TEST(share_of, cuts_a_range_evenly) {
  for (std::size_t const n : {0, 1, 7, 8, 100})
    for (std::size_t const parts : {1, 3, 8}) {
      std::size_t next = 0;
      for (std::size_t i = 0; i < parts; ++i) {
        index_range const s = even_range(n, parts, i);
        EXPECT_EQ(s.begin, next);
        EXPECT_LE(s.size(), n / parts + 1);
        EXPECT_GE(s.size(), n / parts);
        next = s.end;
      }
      EXPECT_EQ(next, n);
    }
}

TEST(device_threads, do_nothing_without_devices) {
  device_threads threads(std::vector<int>{});
  threads.run([](std::size_t) { FAIL() << "work for no device"; });
}

TEST(device_threads, run_on_every_device_again_and_again) {
  RULERANK_NEEDS_GPU();
  std::vector<int> const devices = testing_tools::gpus();
  int const before = current();
  device_threads threads(devices);
  std::vector<int> calls(devices.size(), 0);
  for (int round = 0; round < 200; ++round) {
    threads.run([&](std::size_t i) {
      EXPECT_EQ(current(), devices[i]);
      ++calls[i];
    });
    for (int const n : calls) ASSERT_EQ(n, round + 1);
  }
  EXPECT_EQ(current(), before);
}

TEST(device_threads, throw_the_first_exception_when_all_have_ended_and_go_on) {
  RULERANK_NEEDS_GPU();
  std::vector<int> const devices = testing_tools::gpus();
  device_threads threads(devices);
  for (std::size_t first = 0; first < devices.size(); ++first) {
    std::atomic<std::size_t> ended{0};
    try {
      threads.run([&](std::size_t i) {
        ++ended;
        if (i >= first) throw usage_error("device " + std::to_string(i));
      });
      FAIL() << "nothing thrown";
    } catch (usage_error const& e) {
      EXPECT_EQ(e.what(), "device " + std::to_string(first));
    }
    EXPECT_EQ(ended, devices.size());
    std::atomic<std::size_t> after{0};
    threads.run([&](std::size_t) { ++after; });
    EXPECT_EQ(after, devices.size());
  }
}

TEST(shared_device_threads, run_on_the_first_for_several_callers_at_once) {
  RULERANK_NEEDS_GPU();
  std::vector<int> const devices = testing_tools::gpus();
  shared_device_threads threads(devices);
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round)
        for (std::size_t busy = 0; busy <= devices.size(); ++busy) {
          std::vector<int> seen(devices.size(), -1);
          threads.run(busy, [&](std::size_t i) { seen[i] = current(); });
          for (std::size_t i = 0; i < devices.size(); ++i)
            ASSERT_EQ(seen[i], i < busy ? devices[i] : -1);
        }
    });
}

TEST(shared_device_threads, throw_and_go_on) {
  RULERANK_NEEDS_GPU();
  std::vector<int> const devices = testing_tools::gpus();
  shared_device_threads threads(devices);
  EXPECT_THROW(threads.run(devices.size(), [](std::size_t) { throw usage_error("all"); }),
               usage_error);
  std::atomic<std::size_t> after{0};
  threads.run(devices.size(), [&](std::size_t) { ++after; });
  EXPECT_EQ(after, devices.size());
}

TEST(for_each_device, runs_once_on_each) {
  RULERANK_NEEDS_GPU();
  std::vector<int> const devices = testing_tools::gpus();
  std::vector<int> seen(devices.size(), -1);
  for_each_device(devices, [&](std::size_t i) { seen[i] = current(); });
  EXPECT_EQ(seen, devices);
}

TEST(device_memory, keeps_what_is_copied) {
  RULERANK_NEEDS_GPU();
  for (int const ordinal : testing_tools::gpus()) {
    current_device const guard(ordinal);
    std::vector<std::uint32_t> numbers(100'000);
    std::iota(numbers.begin(), numbers.end(), 7U);
    device_buffer<std::uint32_t> buffer = copy_to_device(numbers);
    device_buffer<std::uint32_t> moved = std::move(buffer);
    EXPECT_EQ(moved.to_host(), numbers);
    EXPECT_EQ(moved.to_host(3), (std::vector<std::uint32_t>{7, 8, 9}));
    stream work;
    pinned_buffer<std::uint32_t> staged(numbers.size());
    event begin, end;
    begin.record(work);
    check_cuda(cudaMemcpyAsync(staged.data(), moved.data(), moved.bytes(), cudaMemcpyDeviceToHost,
                               work.get()));
    end.record(work);
    EXPECT_GE(end.seconds_since(begin), 0);
    EXPECT_EQ(staged[99'999], 100'006U);
    moved.fill_bytes(0xff, work.get());
    EXPECT_EQ(moved.to_host(2, work.get()), (std::vector<std::uint32_t>{~0U, ~0U}));
    moved.reserve(10);
    EXPECT_EQ(moved.size(), numbers.size());
    moved.reserve(200'000);
    EXPECT_EQ(moved.size(), 200'000U);
    EXPECT_GT(memory_budget(), 0U);
  }
  EXPECT_EQ(device_buffer<int>().to_host().size(), 0U);
}

/// Records the current device on construction and destruction.
struct device_witness {
  device_witness(std::vector<int>& log, bool throws) : log_(log) {
    if (throws) throw usage_error("a witness that cannot be made");
    log_.push_back(current());
  }
  ~device_witness() { log_.push_back(current()); }
  device_witness(device_witness const&) = delete;
  device_witness& operator=(device_witness const&) = delete;

 private:
  std::vector<int>& log_;
};

TEST(per_device, has_nothing_before_it_is_made) {
  per_device<device_witness> const none{std::vector<int>{}};
  EXPECT_EQ(none.size(), 0U);
  per_device<device_witness> const three{std::vector<int>{0, 1, 2}};
  EXPECT_EQ(three.size(), 3U);
  EXPECT_FALSE(three.has(2));
}

TEST(per_device, makes_and_destroys_with_the_device_current) {
  RULERANK_NEEDS_GPU();
  std::vector<int> const devices = testing_tools::gpus();
  int const before = current();
  std::vector<std::vector<int>> logs(devices.size());
  {
    per_device<device_witness> witnesses(devices);
    for_each_device(devices, [&](std::size_t i) { witnesses.make(i, logs[i], false); });
    witnesses.make(devices.size() - 1, logs.back(), false);  // replaces the previous one
    for (std::size_t i = 0; i < devices.size(); ++i) EXPECT_TRUE(witnesses.has(i));
    EXPECT_EQ(current(), before);
  }
  EXPECT_EQ(current(), before);
  for (std::size_t i = 0; i < devices.size(); ++i)
    EXPECT_EQ(logs[i], std::vector<int>(i + 1 == devices.size() ? 4 : 2, devices[i]));
}

TEST(per_device, destroys_what_was_made_when_a_constructor_throws) {
  RULERANK_NEEDS_GPU();
  std::vector<int> const devices = testing_tools::gpus();
  int const before = current();
  std::vector<std::vector<int>> logs(devices.size());
  struct owner {
    owner(std::vector<int> const& ordinals, std::vector<std::vector<int>>& kept)
        : witnesses(ordinals) {
      for (std::size_t i = 0; i < ordinals.size(); ++i)
        witnesses.make(i, kept[i], i + 1 == ordinals.size());
    }
    per_device<device_witness> witnesses;
  };
  EXPECT_THROW(owner(devices, logs), usage_error);
  EXPECT_EQ(current(), before);
  EXPECT_TRUE(logs.back().empty());
  for (std::size_t i = 0; i + 1 < devices.size(); ++i)
    EXPECT_EQ(logs[i], (std::vector<int>{devices[i], devices[i]}));
}

TEST(device_pool, keeps_what_is_given_back) {
  RULERANK_NEEDS_GPU();
  std::vector<int> const devices = testing_tools::gpus();
  int const before = current();
  std::vector<std::vector<int>> logs(devices.size());
  {
    device_pool<device_witness> pool(devices);
    for_each_device(devices, [&](std::size_t i) {
      for (int use = 0; use < 5; ++use) {
        auto const one = pool.take(i, logs[i], false);
        auto const two = pool.take(i, logs[i], false);
      }
    });
    {
      auto const one = pool.take(0, logs[0], true);  // idle ones are reused
      auto const two = pool.take(0, logs[0], true);
      EXPECT_THROW(pool.take(0, logs[0], true), usage_error);
    }
    EXPECT_EQ(current(), before);
    for (std::size_t i = 0; i < devices.size(); ++i)
      EXPECT_EQ(logs[i], std::vector<int>(2, devices[i])) << "made twice, kept";
  }
  EXPECT_EQ(current(), before);
  for (std::size_t i = 0; i < devices.size(); ++i)
    EXPECT_EQ(logs[i], std::vector<int>(4, devices[i])) << "destroyed";
}

/// Counts concurrent allocations.
struct counted_source {
  static inline std::size_t held = 0;
  static inline std::size_t most = 0;
  static void* take(std::size_t bytes) {
    most = std::max(most, held += bytes);
    auto* const sized = static_cast<std::size_t*>(::operator new(bytes + sizeof(std::size_t)));
    *sized = bytes;
    return sized + 1;
  }
  static void give_back(void* data) noexcept {
    auto* const sized = static_cast<std::size_t*>(data) - 1;
    held -= *sized;
    ::operator delete(sized);
  }
};

TEST(owned_array, does_not_hold_the_old_memory_while_it_takes_more) {
  {
    owned_array<char, counted_source> bytes(100);
    bytes.reserve(80);
    EXPECT_EQ(bytes.size(), 100U);
    bytes.reserve(150);
    EXPECT_EQ(bytes.size(), 150U);
    EXPECT_EQ(counted_source::most, 150U);
  }
  EXPECT_EQ(counted_source::held, 0U);
}

TEST(cuda_check, names_the_device_and_the_line) {
  RULERANK_NEEDS_GPU();
  try {
    check_cuda(cudaSetDevice(100'000));
    FAIL() << "a device of that number";
  } catch (device_error const& e) {
    EXPECT_NE(std::string(e.what()).find("device_test.cu"), std::string::npos) << e.what();
  }
  try {
    device_buffer<char> const large(std::size_t{1} << 50);
    FAIL() << "a petabyte";
  } catch (device_error const& e) {
    EXPECT_NE(std::string(e.what()).find("1125899906842624 bytes requested"), std::string::npos)
        << e.what();
  }
  check_cuda(cudaGetLastError());  // no later call reports these errors
}

}  // namespace
}  // namespace rulerank
