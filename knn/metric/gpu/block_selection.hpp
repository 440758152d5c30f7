#pragma once

#include "core/host_device.hpp"

#include <cstdint>

// Selects the nearest objects with the threads of a block (knn/metric/gpu/block_objects.hpp defines
// Block).
namespace rulerank::inline v0::knn {

/// The state that the threads of a block share during selection.
struct selection_state {
  std::uint32_t histogram[256];
  std::uint64_t prefix;
  std::uint32_t below;  ///< keys smaller than the selected key
  std::uint32_t equal;  ///< keys equal to the selected key
  std::uint32_t count;
};

/// Returns the k-th smallest key among the i in [0, n) with `counts(i)`, of which there are at
/// least k >= 1. Sets in `state` how many keys are smaller and equal. Radix selection over keys of
/// `bytes` bytes, eight bits at a time from the highest. All threads call it.
template <class Block, class KeyOf, class Counts>
RULERANK_HOST_DEVICE std::uint64_t kth_smallest_key(Block const& block, selection_state& state,
                                                    std::uint32_t n, std::uint32_t k, int bytes,
                                                    KeyOf const& key_of, Counts const& counts) {
  std::uint64_t prefix = 0;
  std::uint32_t below = 0;
  for (int digit = bytes - 1; digit >= 0; --digit) {
    int const shift = 8 * digit;
    for (std::uint32_t b = block.thread(); b < 256; b += block.threads()) state.histogram[b] = 0;
    block.sync();
    for (std::uint32_t i = block.thread(); i < n; i += block.threads()) {
      if (!counts(i)) continue;
      std::uint64_t const key = key_of(i);
      // A shift by 64 bits is undefined.
      if (digit + 1 < bytes && (key >> (shift + 8)) != prefix) continue;
      block.add(&state.histogram[(key >> shift) & 255U], 1U);
    }
    block.sync();
    if (block.thread() == 0) {
      std::uint32_t bin = 0;
      std::uint32_t sum = below;
      while (sum + state.histogram[bin] < k) sum += state.histogram[bin++];
      state.prefix = (prefix << 8) | bin;
      state.below = sum;
      state.equal = state.histogram[bin];
    }
    block.sync();
    prefix = state.prefix;
    below = state.below;
    block.sync();
  }
  return prefix;
}

/// Calls take(at, i) for the k objects with the smallest keys, equal keys by ascending number; at <
/// k in any order. `ids`: their numbers. k is at most n.
template <class Block, class KeyOf, class Take>
RULERANK_HOST_DEVICE void take_nearest(Block const& block, selection_state& state, std::uint32_t n,
                                       std::uint32_t k, int bytes, KeyOf const& key_of,
                                       std::uint32_t const* ids, Take const& take) {
  if (k == 0) return;
  std::uint64_t const kth =
      kth_smallest_key(block, state, n, k, bytes, key_of, [](std::uint32_t) { return true; });
  std::uint32_t const of_equal = k - state.below;
  std::uint64_t last_id = ~std::uint64_t{0};
  if (of_equal < state.equal) {
    block.sync();
    last_id = kth_smallest_key(
        block, state, n, of_equal, 4, [=](std::uint32_t i) { return std::uint64_t{ids[i]}; },
        [=](std::uint32_t i) { return key_of(i) == kth; });
  }
  block.sync();
  if (block.thread() == 0) state.count = 0;
  block.sync();
  for (std::uint32_t i = block.thread(); i < n; i += block.threads()) {
    std::uint64_t const key = key_of(i);
    if (key < kth || (key == kth && ids[i] <= last_id)) take(block.add(&state.count, 1U), i);
  }
  block.sync();
}

}  // namespace rulerank::knn
