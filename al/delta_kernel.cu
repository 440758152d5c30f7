#include "al/delta_state.cuh"
#include "core/shared_memory.hpp"
#include "datasets/discretizer.hpp"

// The kernel of `delta`: the loop of a partition (docs/reference/modules/al.md, "delta").
//
// Several blocks share a partition. In each iteration they pass over their documents: comparing
// columns of bin codes gives the overlap with the last choice; the overlap's gain is added to the
// document's total; the smallest total is kept. The last block to arrive takes the overall
// smallest, the next choice, counts it in the supports of its itemsets, computes the table of
// gains, and releases the others. With several devices, each has some of the documents and all
// supports; the last blocks write their smallest totals to memory that all devices see, and then
// all take the same step.
namespace rulerank::inline v0::al {

namespace {

constexpr std::uint32_t threads = 512;
constexpr std::uint32_t blocks_per_multiprocessor = 2;
constexpr delta_key no_key = ~delta_key{0};

__device__ std::uint32_t load_volatile(std::uint32_t const* at) {
  return *static_cast<std::uint32_t const volatile*>(at);
}

__device__ std::uint8_t code_of(delta_key const* codes, std::uint32_t f) {
  return static_cast<std::uint8_t>(codes[f / 8] >> (f % 8 * 8));
}

/// The minimum of a block's values, for thread 0.
__device__ delta_key block_min(delta_key value, delta_key* scratch) {
  for (int step = 16; step > 0; step /= 2) value = min(value, __shfl_down_sync(~0U, value, step));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < threads / 32 ? scratch[threadIdx.x] : no_key;
    for (int step = 16; step > 0; step /= 2) value = min(value, __shfl_down_sync(~0U, value, step));
  }
  __syncthreads();
  return value;
}

/// Updates the smallest keys with the documents p .. p + 3.
__device__ void take_smallest(partition_view const& l, std::uint32_t p, int4 const& totals,
                              delta_key (&best)[2]) {
  std::uint32_t const bits = l.chosen[p / 32] >> (p % 32);
  std::int32_t const all[4] = {totals.x, totals.y, totals.z, totals.w};
#pragma unroll
  for (std::uint32_t e = 0; e < 4; ++e) {
    if (p + e >= l.documents) break;
    std::uint32_t const taken = bits >> e & 1;
    delta_key const mine = delta_key{static_cast<std::uint32_t>(all[e])} << 32 |
                           delta_key{l.first + p + e} << 1 | taken;
    best[0] = min(best[0], mine);
    if (taken == 0) best[1] = min(best[1], mine);
  }
}

/// Adds the gains to this block's documents and updates the smallest keys. For overlaps of up to
/// widest_mask features, with gains in shared memory.
__device__ void pass_by_mask(partition_view const& l, std::uint8_t const* wanted,
                             std::int32_t const* gains, std::uint32_t block, std::uint32_t blocks,
                             delta_key (&best)[2]) {
  for (std::uint32_t p = (block * threads + threadIdx.x) * 4; p < l.documents;
       p += blocks * threads * 4) {
    // Bit f of byte e: document p + e has the choice's bin of feature f; of 8 features each.
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    for (std::uint32_t f = 0; f < l.features; ++f) {
      std::uint32_t const codes =
          *reinterpret_cast<std::uint32_t const*>(l.codes + std::size_t{f} * l.stride + p);
      std::uint32_t const same = __vcmpeq4(codes, wanted[f] * 0x01010101U);
      if (f < 8)
        low |= same & (0x01010101U << f);
      else
        high |= same & (0x01010101U << (f - 8));
    }
    int4* const totals = reinterpret_cast<int4*>(l.totals + p);
    int4 now = *totals;
    if ((low | high) != 0) {
      auto const of = [&](int e) {
        return gains[__byte_perm(low, high, static_cast<std::uint32_t>(e | (4 + e) << 4)) &
                     0xFFFFU];
      };
      now.x += of(0);
      now.y += of(1);
      now.z += of(2);
      now.w += of(3);
      *totals = now;
    }
    take_smallest(l, p, now, best);
  }
}

/// As above with a list of changes, for wider partitions.
__device__ void pass_by_list(partition_view const& l, std::uint8_t const* wanted,
                             std::uint32_t change_count, std::uint32_t block, std::uint32_t blocks,
                             delta_key (&best)[2]) {
  for (std::uint32_t p = (block * threads + threadIdx.x) * 4; p < l.documents;
       p += blocks * threads * 4) {
    int4* const totals = reinterpret_cast<int4*>(l.totals + p);
    int4 now = *totals;
    std::int32_t* const each = &now.x;
    for (std::uint32_t e = 0; e < 4; ++e) {
      std::uint64_t overlap = 0;
      for (std::uint32_t f = 0; f < l.features; ++f)
        overlap |= std::uint64_t{l.codes[std::size_t{f} * l.stride + p + e] == wanted[f] &&
                                 wanted[f] != datasets::no_item}
                   << f;
      std::int32_t sum = 0;
      if (overlap != 0)
        for (std::uint32_t c = 0; c < change_count; ++c)
          if ((overlap & l.changes[c].mask) == l.changes[c].mask) sum += l.changes[c].value;
      each[e] += sum;
    }
    *totals = now;
    take_smallest(l, p, now, best);
  }
}

/// Adds the classes and bin codes of the documents with this device's smallest keys.
__device__ void describe(partition_view const& l, device_message& found) {
  for (int which = 0; which < 2; ++which) {
    if (found.smallest[which] == no_key) continue;
    std::uint32_t const local = (static_cast<std::uint32_t>(found.smallest[which]) >> 1) - l.first;
    found.classes[which] = static_cast<delta_key>(static_cast<std::int64_t>(l.classes[local]));
    for (std::uint32_t f = 0; f < l.features; ++f)
      found.codes[which][f / 8] |= delta_key{l.codes[std::size_t{f} * l.stride + local]}
                                   << (f % 8 * 8);
  }
}

/// Reduces the smallest keys over the devices; false if the host has aborted the kernel.
__device__ bool exchange(delta_arguments const& a, partition_view const& l, std::uint32_t q,
                         delta_key sequence, device_message& found) {
  device_message volatile* const messages =
      a.messages + (std::size_t{q} * 2 + sequence % 2) * a.devices;
  std::uint32_t const words = (l.features + 7) / 8;
  device_message volatile& mine = messages[a.device];
  for (int which = 0; which < 2; ++which) {
    mine.smallest[which] = found.smallest[which];
    mine.classes[which] = found.classes[which];
    for (std::uint32_t w = 0; w < words; ++w) mine.codes[which][w] = found.codes[which][w];
  }
  __threadfence_system();
  mine.sequence = sequence;
  for (std::uint32_t other = 0; other < a.devices; ++other) {
    if (other == a.device) continue;
    device_message const volatile& theirs = messages[other];
    while (theirs.sequence != sequence)
      if (*a.abort != 0) return false;
    __threadfence_system();
    for (int which = 0; which < 2; ++which) {
      delta_key const smallest = theirs.smallest[which];
      if (smallest >= found.smallest[which]) continue;
      found.smallest[which] = smallest;
      found.classes[which] = theirs.classes[which];
      for (std::uint32_t w = 0; w < words; ++w) found.codes[which][w] = theirs.codes[which][w];
    }
  }
  return true;
}

/// After a pass: determines the next choice and whether the partition is done. Thread 0 of the last
/// block.
__device__ void choose(delta_arguments const& a, partition_view const& l, std::uint32_t q,
                       partition_state& state) {
  device_message found{};
  found.smallest[0] = atomicExch(l.smallest, no_key);
  found.smallest[1] = atomicExch(l.smallest + 1, no_key);
  describe(l, found);
  if (a.devices > 1 && !exchange(a, l, q, state.iterations, found)) {
    state.leave = 1;
    return;
  }
  bool const stops = (found.smallest[0] & 1) != 0;
  if (stops && state.stopped_after == 0) state.stopped_after = state.iterations;
  state.done = (stops && a.stop_rule != 0) || state.iterations == l.all_documents;
  if (state.done != 0) return;
  int const which = stops ? 1 : 0;
  state.next = {static_cast<std::uint32_t>(found.smallest[which]) >> 1,
                static_cast<std::uint32_t>(found.smallest[which] >> 32)};
  state.next_class = static_cast<std::int32_t>(found.classes[which]);
  for (std::uint32_t w = 0; w < code_words; ++w) state.next_codes[w] = found.codes[which][w];
}

/// Counts the next choice and computes the table of gains; the whole last block.
__device__ void count_choice(delta_arguments const& a, partition_view const& l,
                             partition_state& state, std::int32_t* gains) {
  __shared__ std::uint32_t lost;
  __shared__ std::uint32_t change_count;
  bool const by_mask = l.features <= widest_mask;
  std::uint32_t const size = by_mask ? 1U << l.features : 0;
  if (threadIdx.x == 0) {
    lost = 0;
    change_count = 0;
    std::uint32_t const local = state.next.position - l.first;
    if (state.next.position >= l.first && local < l.documents)
      l.chosen[local / 32] |= 1U << (local % 32);
    l.choices[state.iterations] = state.next;
  }
  for (std::uint32_t m = threadIdx.x; m < size; m += threads) gains[m] = 0;
  __syncthreads();
  for (std::uint32_t s = threadIdx.x; s < l.set_count; s += threads) {
    feature_set const& set = l.sets[s];
    std::uint64_t itemset = set.begin;
    bool whole = true;
    for (std::uint32_t i = 0; i < set.size; ++i) {
      std::uint32_t const code = code_of(state.next_codes, set.feature[i]);
      whole &= code != datasets::no_item;
      itemset += std::uint64_t{code} * set.stride[i];
    }
    if (!whole) continue;
    rules::rule_change const counted =
        a.valid.count(l.supports + itemset * (l.class_count + 1), l.class_count,
                      static_cast<std::uint32_t>(state.next_class));
    if (counted.lost != 0) atomicAdd(&lost, static_cast<std::uint32_t>(counted.lost));
    std::int32_t const change = counted.gained - counted.lost;
    if (change == 0) continue;
    if (by_mask)
      gains[set.mask] = change;
    else
      l.changes[atomicAdd(&change_count, 1U)] = {set.mask, change};
  }
  __syncthreads();
  // gains[mask] becomes the sum over all sets inside the mask.
  for (std::uint32_t bit = 1; bit < size; bit *= 2) {
    for (std::uint32_t i = threadIdx.x; i < size / 2; i += threads) {
      std::uint32_t const m = (i / bit * 2 + 1) * bit + i % bit;
      gains[m] += gains[m - bit];
    }
    __syncthreads();
  }
  for (std::uint32_t m = threadIdx.x; m < size; m += threads) l.gains[m] = gains[m];
  if (threadIdx.x == 0) {
    ++state.iterations;
    state.lost += lost;
    state.change_count = change_count;
  }
}

/// The last block of a partition, between two passes: chooses (except the first time) and counts
/// the choice, unless the blocks are to leave.
__device__ void between_passes(delta_arguments const& a, partition_view const& l, std::uint32_t q,
                               partition_state& state, std::int32_t* gains, bool after_a_pass) {
  __shared__ bool goes_on;
  if (threadIdx.x == 0) {
    state.leave = 0;
    if (after_a_pass) choose(a, l, q, state);
    state.waiting = state.done == 0 && state.next_class < 0 ? 1 : 0;
    if (state.done != 0 || state.waiting != 0 || (a.until != 0 && state.iterations >= a.until))
      state.leave = 1;
    goes_on = state.leave == 0;
  }
  __syncthreads();
  if (goes_on) count_choice(a, l, state, gains);
}

__global__ __launch_bounds__(threads,
                             blocks_per_multiprocessor) void delta_kernel(delta_arguments const a) {
  extern __shared__ std::int32_t gains[];
  __shared__ delta_key scratch[threads / 32];
  __shared__ bool last;
  __shared__ std::uint8_t wanted[most_features];
  std::uint32_t const q = a.begin + blockIdx.x / a.blocks;
  std::uint32_t const block = blockIdx.x % a.blocks;
  partition_view const l = a.partitions[q];
  partition_state& state = a.states[q];
  std::uint32_t epoch = 0;
  if (threadIdx.x == 0) epoch = load_volatile(l.epoch);
  bool first = true;
  for (;;) {
    // The last block to arrive does the step between two passes; the others wait for it.
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(l.arrived, 1U) + 1 == a.blocks;
    }
    __syncthreads();
    if (last) {
      __threadfence();
      between_passes(a, l, q, state, gains, !first);
      __syncthreads();
      if (threadIdx.x == 0) {
        *l.arrived = 0;
        __threadfence();
        atomicAdd(l.epoch, 1U);
        ++epoch;
      }
    } else if (threadIdx.x == 0) {
      while (load_volatile(l.epoch) == epoch) __nanosleep(20);
      ++epoch;
      __threadfence();
    }
    __syncthreads();
    if (load_volatile(&state.leave) != 0) return;
    first = false;
    if (threadIdx.x < l.features) wanted[threadIdx.x] = code_of(state.next_codes, threadIdx.x);
    std::uint32_t const size = l.features <= widest_mask ? 1U << l.features : 0;
    if (!last)
      for (std::uint32_t m = threadIdx.x; m < size; m += threads) gains[m] = __ldcg(l.gains + m);
    __syncthreads();
    delta_key best[2] = {no_key, no_key};
    if (size != 0)
      pass_by_mask(l, wanted, gains, block, a.blocks, best);
    else
      pass_by_list(l, wanted, load_volatile(&state.change_count), block, a.blocks, best);
    for (int which = 0; which < 2; ++which) {
      delta_key const smallest = block_min(best[which], scratch);
      if (threadIdx.x == 0 && smallest != no_key) atomicMin(l.smallest + which, smallest);
    }
  }
}

}  // namespace

std::uint32_t delta_blocks(std::size_t shared_bytes) {
  allow_all_shared_memory(delta_kernel);
  int device = 0;
  int multiprocessors = 0;
  int blocks = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  check_cuda(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, delta_kernel, threads, shared_bytes));
  return static_cast<std::uint32_t>(multiprocessors * blocks);
}

void launch_delta(delta_arguments const& arguments, std::uint32_t partitions,
                  std::size_t shared_bytes, cudaStream_t on) {
  delta_arguments copy = arguments;
  void* parameters[] = {&copy};
  check_cuda(cudaLaunchCooperativeKernel(delta_kernel, dim3(copy.blocks * partitions),
                                         dim3(threads), parameters, shared_bytes, on));
}

}  // namespace rulerank::al
