#pragma once

#include "core/host_device.hpp"

#include <cstdint>

// Sorting networks for the threads of a block, on items in shared memory. `each(n, work)` calls
// work(e) for all e < n, in any order or in parallel, and returns when all are done:
// `block_threads` of knn/selection.cuh on a device, a loop in tests.
namespace rulerank::inline v0::knn {

/// Sorts `size` items, a power of two (Batcher 1968, bitonic sort). before(a, b) returns whether a
/// precedes b.
template <class Item, class Before, class Each>
RULERANK_HOST_DEVICE void sort_bitonic(Item* items, std::uint32_t size, Before const& before,
                                       Each const& each) {
  for (std::uint32_t width = 2; width <= size; width *= 2)
    for (std::uint32_t step = width / 2; step > 0; step /= 2)
      each(size, [=](std::uint32_t i) {
        std::uint32_t const other = i ^ step;
        if (other <= i) return;
        bool const ascending = (i & width) == 0;
        Item const a = items[i];
        Item const b = items[other];
        if (before(b, a) == ascending && (before(a, b) || before(b, a))) {
          items[i] = b;
          items[other] = a;
        }
      });
}

template <class Key>
RULERANK_HOST_DEVICE void order_keys(Key& a, Key& b, bool ascending) {
  if ((b < a) != ascending) return;
  Key const before = a;
  a = b;
  b = before;
}

/// Moves the smallest `1 << kept_log` of `size` keys to the front, ascending, and destroys the
/// others. The truncated bitonic sort of Sismanis, Pitsianis and Sun (HPEC 2012), which Freitas
/// 2017, Algorithm 8 uses: sorts runs of the kept length, then repeatedly keeps the smaller half of
/// two runs. `size` is a power of two, larger than the number kept.
template <class Key, class Each>
RULERANK_HOST_DEVICE void sort_truncated(Key* keys, std::uint32_t size, std::uint32_t kept_log,
                                         Each const& each) {
  std::uint32_t const kept = 1U << kept_log;
  // Every second run is descending.
  for (std::uint32_t run = 2; run <= kept; run *= 2)
    for (std::uint32_t apart = run / 2; apart > 0; apart /= 2)
      each(size / 2, [=](std::uint32_t e) {
        std::uint32_t const i = 2 * e - (e & (apart - 1));
        order_keys(keys[i], keys[i + apart], (i & run) == 0);
      });
  // One run ascends and the other descends, so the kept half is a bitonic sequence.
  for (std::uint32_t step = kept; step < size; step *= 2) {
    std::uint32_t const pairs = size / step / 2;
    each(pairs * kept, [=](std::uint32_t e) {
      std::uint32_t const i = (e >> kept_log) * 2 * step + (e & (kept - 1));
      if (keys[i + step] < keys[i]) keys[i] = keys[i + step];
    });
    for (std::uint32_t apart = kept / 2; apart > 0; apart /= 2)
      each(pairs * (kept / 2), [=](std::uint32_t e) {
        std::uint32_t const pair = e >> (kept_log - 1);
        std::uint32_t const within = e & (kept / 2 - 1);
        std::uint32_t const i = pair * 2 * step + 2 * within - (within & (apart - 1));
        order_keys(keys[i], keys[i + apart], (pair & 1) == 0);
      });
  }
}

}  // namespace rulerank::knn
