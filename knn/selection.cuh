#pragma once

#include "core/host_device.hpp"

#include <cstdint>
#include <type_traits>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

// The selection in the blocks of every search. Keys are unsigned integers, and larger keys are
// better: integer similarities directly, other values and orders as bits that ascend towards the
// nearest (knn/near_key.hpp).
namespace rulerank::inline v0::knn {

/// The threads of a block, as the `each` of the sorts in knn/block_sort.hpp.
template <std::uint32_t threads>
struct block_threads {
  template <class Work>
  RULERANK_HOST_DEVICE void operator()(std::uint32_t n, Work const& work) const {
#if defined(__CUDA_ARCH__)
    for (std::uint32_t e = threadIdx.x; e < n; e += threads) work(e);
    __syncthreads();
#else
    static_cast<void>(n), static_cast<void>(work);
#endif
  }
};

/// The k-th largest key, for a block of `threads`; the object must be in shared memory.
template <std::uint32_t threads, class Key = std::uint32_t>
class kth_largest {
  static_assert(std::is_same_v<Key, std::uint32_t> || std::is_same_v<Key, std::uint64_t>);

 public:
  /// Returns the k-th largest key, rounded down by at most 1/1,024 of the largest key; the same in
  /// all threads of the block. each(work) calls work(key) for this thread's share of the keys, of
  /// which there are at least k. All threads of the block must call it.
  template <class Each>
  __device__ Key operator()(std::uint32_t k, Each const& each) {
    Key largest = 0;
    each([&](Key key) { largest = max(largest, key); });
    for (std::uint32_t i = threadIdx.x; i < bins; i += threads) histogram_[i] = 0;
    largest = reduce(storage_.reduce).Reduce(largest, [](Key a, Key b) { return max(a, b); });
    if (threadIdx.x == 0) key_ = largest;
    __syncthreads();
    int const shift = max(0, digits - leading_zeros(key_) - bins_log);
    each([&](Key key) { atomicAdd(histogram_ + (key >> shift), 1U); });
    __syncthreads();
    // The bins of this thread, in descending order.
    std::uint32_t const top = bins - 1 - threadIdx.x * bins_a_thread;
    std::uint32_t mine = 0;
    for (std::uint32_t i = 0; i < bins_a_thread; ++i) mine += histogram_[top - i];
    std::uint32_t above = 0;
    scan(storage_.scan).ExclusiveSum(mine, above);
    if (above < k && above + mine >= k) {
      std::uint32_t bin = top;
      while (above + histogram_[bin] < k) above += histogram_[bin--];
      key_ = Key{bin} << shift;
    }
    __syncthreads();
    return key_;
  }

 private:
  static constexpr int digits = 8 * sizeof(Key);
  static constexpr int bins_log = 11;
  static constexpr std::uint32_t bins = 1U << bins_log;
  static constexpr std::uint32_t bins_a_thread = bins / threads;
  static_assert(bins % threads == 0);
  using reduce = cub::BlockReduce<Key, threads>;
  using scan = cub::BlockScan<std::uint32_t, threads>;

  static __device__ int leading_zeros(Key key) {
    if constexpr (sizeof(Key) == 4)
      return __clz(static_cast<int>(key));
    else
      return __clzll(static_cast<long long>(key));
  }

  union {
    typename reduce::TempStorage reduce;
    typename scan::TempStorage scan;
  } storage_;
  std::uint32_t histogram_[bins];
  Key key_;
};

}  // namespace rulerank::knn
