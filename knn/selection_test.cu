#include "core/device_memory.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "knn/block_sort.hpp"
#include "knn/candidate.hpp"
#include "knn/packed_arrays.hpp"
#include "knn/selection.cuh"
#include "knn/staged_memory.cuh"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

// Compares selection and sorting of searches on GPUs with the standard library.
namespace rulerank::inline v0::knn {
namespace {

constexpr std::uint32_t threads = 256;

template <class Key>
__global__ void find_kth(Key const* keys, std::uint32_t n, std::uint32_t k, Key* found) {
  __shared__ kth_largest<threads, Key> kth;
  Key const key = kth(k, [&](auto const& work) {
    for (std::uint32_t i = threadIdx.x; i < n; i += threads) work(keys[i]);
  });
  if (threadIdx.x == 0) *found = key;
}

template <class Key>
void expect_kth_of(int digits) {
  random_engine draw(3);
  for (std::uint32_t const n : {1U, 30U, 5000U}) {
    std::vector<Key> keys(n);
    for (Key& key : keys) key = static_cast<Key>(uniform_below(draw, std::uint64_t{1} << digits));
    std::vector<Key> descending = keys;
    std::sort(descending.begin(), descending.end(), std::greater<>());
    device_buffer<Key> const on_device{std::span<Key const>(keys)};
    device_buffer<Key> found(1);
    for (std::uint32_t const k : {1U, n / 2 + 1, n}) {
      find_kth<<<1, threads>>>(on_device.data(), n, k, found.data());
      check_launch();
      Key const key = found.to_host().front();
      EXPECT_LE(key, descending[k - 1]) << digits << " " << n << " " << k;
      // Rounded down by less than 1/1,024 of the largest.
      EXPECT_LE(descending[k - 1] - key, descending.front() / 1024)
          << digits << " " << n << " " << k;
    }
  }
}

TEST(kth_largest, is_rounded_down_by_little) {
  RULERANK_NEEDS_GPU();
  current_device const guard(testing_tools::gpus().front());
  for (int const digits : {4, 11, 20, 32}) expect_kth_of<std::uint32_t>(digits);
  for (int const digits : {4, 20, 40, 63}) expect_kth_of<std::uint64_t>(digits);
}

template <class Before>
__global__ void sort_in_block(candidate<double>* items, std::uint32_t size, Before before) {
  extern __shared__ uint4 memory[];
  auto* const own = reinterpret_cast<candidate<double>*>(memory);
  block_threads<threads> const each;
  each(size, [=](std::uint32_t i) { own[i] = items[i]; });
  sort_bitonic(own, size, before, each);
  each(size, [=](std::uint32_t i) { items[i] = own[i]; });
}

template <value_order Order>
void expect_sorted_by() {
  random_engine draw(4);
  for (std::uint32_t size = 2; size <= 2048; size *= 4) {
    std::vector<candidate<double>> items(size);
    for (std::uint32_t i = 0; i < size; ++i)
      items[i] = {static_cast<double>(uniform_below(draw, size / 2)), i};
    device_buffer<candidate<double>> on_device{std::span<candidate<double> const>(items)};
    sort_in_block<<<1, threads, size * sizeof(candidate<double>)>>>(on_device.data(), size,
                                                                    nearer<Order>{});
    check_launch();
    std::vector<candidate<double>> const found = on_device.to_host();
    std::sort(items.begin(), items.end(), nearer<Order>{});
    for (std::uint32_t i = 0; i < size; ++i) {
      ASSERT_EQ(found[i].value, items[i].value) << size << " " << i;
      ASSERT_EQ(found[i].id, items[i].id) << size << " " << i;
    }
  }
}

TEST(bitonic_sort, in_a_block_by_both_orders) {
  RULERANK_NEEDS_GPU();
  current_device const guard(testing_tools::gpus().front());
  expect_sorted_by<value_order::larger_is_nearer>();
  expect_sorted_by<value_order::smaller_is_nearer>();
}

TEST(packed_arrays, lie_apart_and_aligned) {
  packed_arrays arrays;
  auto const bytes = arrays.add<std::byte>(3);
  auto const numbers = arrays.add<double>(5);
  auto const nothing = arrays.add<double>(0);
  auto const last = arrays.add<std::uint32_t>(1);
  EXPECT_EQ(bytes.begin, 0U);
  EXPECT_EQ(numbers.begin, alignment);
  EXPECT_EQ(nothing.begin, last.begin);
  EXPECT_EQ(last.begin, 2 * alignment);
  EXPECT_EQ(arrays.bytes(), 3 * alignment);
}

TEST(staged_memory, brings_back_what_was_sent) {
  RULERANK_NEEDS_GPU();
  current_device const guard(testing_tools::gpus().front());
  staged_memory memory;
  for (std::size_t const n : {100, 70, 3000}) {
    memory.reserve(n);
    std::vector<std::byte> sent(n);
    for (std::size_t i = 0; i < n; ++i) sent[i] = static_cast<std::byte>(i * 7);
    memory.upload(sent.data(), n, nullptr);
    memory.download({n / 2, n}, nullptr);
    EXPECT_TRUE(std::equal(sent.begin() + static_cast<std::ptrdiff_t>(n / 2), sent.end(),
                           memory.on_host() + n / 2))
        << n;
  }
}

}  // namespace
}  // namespace rulerank::knn
