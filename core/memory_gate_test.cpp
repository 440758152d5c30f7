#include "core/memory_gate.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <new>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace rulerank::inline v0::memory_gate_test {
namespace {

using rulerank::testing_tools::message_of;

TEST(memory_gate, refuses_what_is_not_there) {
  memory_gate gate([] { return std::uint64_t{3'000'000'000}; });
  bool taken = false;
  auto const take = [&] { taken = true; };
  gate.take({3'000'000'000, "tables", "use smaller ones"}, take);
  EXPECT_TRUE(taken);
  taken = false;
  EXPECT_EQ(message_of<usage_error>([&] {
              gate.take({4'000'000'000, "tables", "use smaller ones"}, take);
            }),
            "tables need 4.00 GB more, but 3.00 GB are free; use smaller ones");
  EXPECT_FALSE(taken);
  EXPECT_THROW(gate.take({1, "a byte", ""}, [] { throw std::bad_alloc(); }), usage_error);
  gate.take({3'000'000'000, "tables", ""}, take);  // a rejected request leaves it usable
  EXPECT_TRUE(taken);
}

TEST(memory_gate, does_not_ask_for_little) {
  int asked = 0;
  memory_gate gate(
      [&] {
        ++asked;
        return std::uint64_t{0};
      },
      100);
  bool taken = false;
  gate.take({100, "little", ""}, [&] { taken = true; });
  EXPECT_TRUE(taken);
  EXPECT_EQ(asked, 0);
  EXPECT_THROW(gate.take({101, "more", ""}, [] {}), usage_error);
  EXPECT_EQ(asked, 1);
}

/// If two callers at different places each request more than half of the free memory, one is
/// rejected.
TEST(memory_gate, two_call_sites_do_not_count_on_the_same_bytes) {
  std::atomic<std::uint64_t> left{100};
  memory_gate gate(
      [&] {
        std::uint64_t const there = left;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return there;
      },
      0);
  std::atomic<int> refused{0};
  std::barrier start(2);
  auto const count_refusals = [&](auto const& take) {
    start.arrive_and_wait();
    try {
      take();
    } catch (usage_error const&) {
      ++refused;
    }
  };
  {
    std::jthread const first([&] {
      count_refusals([&] { gate.take({60, "the first table", ""}, [&] { left -= 60; }); });
    });
    std::jthread const second([&] {
      count_refusals([&] { gate.take({70, "the second table", ""}, [&] { left -= 70; }); });
    });
  }
  EXPECT_EQ(refused, 1);
  EXPECT_LE(left, 100U);
}

}  // namespace
}  // namespace rulerank::memory_gate_test
