#pragma once

#include "knn/metric/gpu/block_memory.hpp"
#include "knn/metric/gpu/cuda_block.cuh"
#include "knn/metric/gpu/devices_with_layout.cuh"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

// Computes the distances of queries to all objects as a matrix of keys: unsigned integers in the
// order of the distances. For words, the key is the distance; for vectors, the bits of the double,
// which is not negative.
namespace rulerank::inline v0::knn {

template <class Key>
RULERANK_HOST_DEVICE Key key_of_distance(double distance) {
  if constexpr (sizeof(Key) == sizeof(double)) {
    Key bits = 0;
    memcpy(&bits, &distance, sizeof bits);
    return bits;
  } else {
    return static_cast<Key>(distance);
  }
}
template <class Key>
RULERANK_HOST_DEVICE double distance_of_key(Key key) {
  if constexpr (sizeof(Key) == sizeof(double)) {
    double distance = 0;
    memcpy(&distance, &key, sizeof distance);
    return distance;
  } else {
    return static_cast<double>(key);
  }
}

/// Most shared memory per block, so that several blocks fit a multiprocessor.
inline constexpr std::size_t most_own_bytes = std::size_t{32} << 10;
inline constexpr std::uint32_t threads_a_query = 128;

/// The blocks of a launch, and their global memory.
struct resident_work {
  std::uint32_t blocks = 0;
  std::byte* memory = nullptr;
};
/// Returns as many blocks of a kernel as fill the current device, limited by `most` and by its
/// memory.
template <class Kernel, class Plan>
resident_work place_blocks(Kernel* kernel, Plan const& plan, device_work& on, std::size_t most) {
  std::size_t blocks =
      std::min<std::size_t>(most, resident_blocks(kernel, threads_a_query, plan.own_bytes));
  if (plan.device_bytes > 0)
    blocks = std::clamp<std::size_t>(memory_budget() / 2 / plan.device_bytes, 1, blocks);
  return {static_cast<std::uint32_t>(blocks),
          on.block_memory(std::max<std::size_t>(blocks * plan.device_bytes, 1))};
}

/// Objects that a block compares with a query before it takes the next tile.
inline constexpr std::uint32_t objects_a_tile = 2048;

/// Sets keys[slots[s]][place]. Each block takes a query and a tile of objects at a time. `slots`
/// null: 0, 1, ...
template <class Objects, class Key>
__global__ __launch_bounds__(threads_a_query) void measure_all(
    __grid_constant__ Objects const objects, std::uint32_t count, std::uint32_t const* which,
    std::uint32_t const* slots, std::uint32_t queries, __grid_constant__ query_plan const plan,
    std::byte* memory, Key* keys) {
  extern __shared__ __align__(16) std::byte own[];
  query_space const space = plan.at(own, memory + blockIdx.x * plan.device_bytes);
  cuda_block const block;
  std::uint32_t const tiles = (count + objects_a_tile - 1) / objects_a_tile;
  for (std::uint64_t work = blockIdx.x; work < std::uint64_t{tiles} * queries; work += gridDim.x) {
    auto const s = static_cast<std::uint32_t>(work / tiles);
    std::uint32_t const slot = slots == nullptr ? s : slots[s];
    std::uint32_t const first = static_cast<std::uint32_t>(work % tiles) * objects_a_tile;
    std::uint32_t const end = min(first + objects_a_tile, count);
    __syncthreads();
    auto const origin = objects.load(block, which[slot], space);
    for (std::uint32_t place = first + threadIdx.x; place < end; place += blockDim.x)
      keys[std::size_t{slot} * count + place] = key_of_distance<Key>(origin.measure(place));
  }
}

/// Launches it for placed queries; `which` and `slots` must be on the device.
template <class Key>
void measure_matrix(gpu_layout const& layout, placed_arrays const& arrays,
                    placed_queries const& queries, device_work& on, std::uint32_t const* which,
                    std::uint32_t const* slots, std::uint32_t count, Key* keys) {
  if (count == 0) return;
  with_objects(layout, arrays, queries, [&](auto const& objects) {
    auto* const kernel = measure_all<std::remove_cvref_t<decltype(objects)>, Key>;
    query_plan const plan(objects, threads_a_query, most_own_bytes);
    resident_work const place =
        place_blocks(kernel, plan, on, std::numeric_limits<std::uint32_t>::max());
    kernel<<<place.blocks, threads_a_query, plan.own_bytes, on.raw()>>>(
        objects, layout.objects, which, slots, count, plan, place.memory, keys);
    check_launch();
  });
}

}  // namespace rulerank::knn
