#include "core/shared_memory.hpp"
#include "knn/dense/published_cuda.cuh"

#include <bit>

// SBQ-KNN (Cordeiro 2023). Algorithm 1: of |Q| queries each of the blocks that fill the device has
// |Q| / blocks to itself; for each that remains all blocks share the rows, and K-selection
// (Algorithm 3) leaves the k nearest of what they found. The launches are in one stream, which is
// the synchronization of line 12.
//
// Algorithm 3 lets every thread that has read something nearer than the largest put it there, which
// would lose all but one of them; here one after the other does, each followed by a reduction. In
// the end the list is sorted, since neighbours are given nearest first.
namespace rulerank::knn {

namespace {

constexpr std::uint32_t warp_size = 32;
constexpr std::uint32_t whole_warp = 0xFFFFFFFFU;
constexpr std::uint32_t most_threads = 1024;

/// The largest of a list and where it is.
struct largest_key {
  near_key key;
  std::uint32_t at;

  /// The larger one of the warp's, in lane 0.
  __device__ void reduce_in_warp() {
    for (std::uint32_t apart = warp_size / 2; apart > 0; apart /= 2) {
      near_key const other = __shfl_down_sync(whole_warp, key, apart);
      std::uint32_t const other_at = __shfl_down_sync(whole_warp, at, apart);
      if (other > key) {
        key = other;
        at = other_at;
      }
    }
  }
};

/// blockMaxReduction; ends with a barrier.
__device__ void find_largest(near_key const* keys, std::uint32_t k, largest_key* of_warps,
                             largest_key& largest) {
  std::uint32_t const warp = threadIdx.x / warp_size;
  std::uint32_t const lane = threadIdx.x % warp_size;
  largest_key mine{0, 0};
  for (std::uint32_t i = threadIdx.x; i < k; i += blockDim.x)
    if (keys[i] >= mine.key) mine = {keys[i], i};
  mine.reduce_in_warp();
  if (lane == 0) of_warps[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    mine = lane < blockDim.x / warp_size ? of_warps[lane] : largest_key{0, 0};
    mine.reduce_in_warp();
    if (lane == 0) largest = mine;
  }
  __syncthreads();
}

/// Algorithm 3, a query a block: the k smallest of its n keys, of which there are k at least,
/// ascending.
__global__ __launch_bounds__(most_threads) void select_k(near_key const* vectors, std::uint32_t n,
                                                         std::uint32_t k, std::uint32_t list,
                                                         near_key* selected) {
  extern __shared__ near_key keys[];  // [list]
  __shared__ largest_key of_warps[most_threads / warp_size];
  __shared__ largest_key largest;
  __shared__ std::uint32_t next;  // the thread whose key takes the place of the largest
  near_key const* const vector = vectors + std::size_t{blockIdx.x} * n;
  for (std::uint32_t i = threadIdx.x; i < list; i += blockDim.x)
    keys[i] = i < k ? vector[i] : no_near_key;
  __syncthreads();
  find_largest(keys, k, of_warps, largest);
  for (std::uint32_t first = k; first < n; first += blockDim.x) {
    std::uint32_t const i = first + threadIdx.x;
    near_key mine = i < n ? vector[i] : no_near_key;
    // __syncthreads_or is reductionIsNeeded with the barrier.
    while (__syncthreads_or(mine < largest.key ? 1 : 0) != 0) {
      if (mine < largest.key) atomicExch(&next, threadIdx.x);
      __syncthreads();
      if (threadIdx.x == next) {
        keys[largest.at] = mine;
        mine = no_near_key;
      }
      __syncthreads();
      find_largest(keys, k, of_warps, largest);
    }
  }
  sort_in_block(keys, list);
  for (std::uint32_t i = threadIdx.x; i < k; i += blockDim.x)
    selected[std::size_t{blockIdx.x} * k + i] = keys[i];
}

/// What Algorithms 2 and 3 need of a device.
struct sbq_kernels {
  explicit sbq_kernels(similarity metric)
      : nearest(metric),
        most_neighbours(
            std::min(nearest.most_neighbours(),
                     std::bit_floor(allow_all_shared_memory(select_k) / sizeof(near_key)))) {}
  knn_kernel nearest;
  std::size_t most_neighbours;
};

class sbq final : public published_engine {
 public:
  sbq(context const& ctx, dense_rows const& rows, dense_index_options const& options)
      : published_engine(ctx, rows, options.metric, "sbq"), kernels_(devices()) {
    for_each_device(devices(), [&](std::size_t i) { kernels_.make(i, metric()); });
  }

 private:
  void search_on_device(context const& ctx, task const& of, published_memory& memory,
                        dense_search_work& work) const override {
    knn_kernel const& kernel = kernels_[of.device].nearest;
    expect_at_most(of.k, kernels_[of.device].most_neighbours,
                   "which a block's shared memory holds");
    std::uint32_t const blocks = kernel.blocks_for(of.k);
    std::size_t const each = of.queries.count / blocks;
    std::size_t const whole = each * blocks;
    std::size_t const remaining = of.queries.count - whole;
    std::size_t const lists = std::size_t{blocks} * of.k;
    memory.nearest.reserve(of.queries.count * of.k);
    memory.lists.reserve(remaining * lists);
    ctx.check_stop();
    memory.begin.record(memory.on);
    if (each > 0)
      kernel.search_queries(of.queries.part(0, whole), of.rows, of.k, blocks, each,
                            memory.nearest.data(), memory.on);
    for (std::size_t q = 0; q < remaining; ++q) {
      ctx.check_stop();
      kernel.share_rows(of.queries.part(whole + q, 1), of.rows, of.k, blocks, false,
                        memory.lists.data() + q * lists, memory.on);
    }
    memory.selecting.record(memory.on);
    if (remaining > 0)
      select(kernel, memory.lists.data(), lists, remaining, of.k,
             memory.nearest.data() + whole * of.k, memory.on);
    memory.end.record(memory.on);
    download_lists(memory.nearest, of.queries.count, of.k, memory);
    work.kernel_s += memory.end.seconds_since(memory.begin);
    work.selection_s += memory.end.seconds_since(memory.selecting);
    give_lists(ctx, memory.host.data(), of.k, of.found);
  }

  /// Section 5.1: the largest blocks where each has a multiprocessor to itself, else those of
  /// which two fit one.
  static void select(knn_kernel const& kernel, near_key const* lists, std::size_t n,
                     std::size_t count, std::size_t k, near_key* selected, stream const& on) {
    std::uint32_t const threads =
        count <= kernel.multiprocessors() ? most_threads : kernel.threads();
    auto const list = static_cast<std::uint32_t>(std::bit_ceil(k));
    select_k<<<static_cast<unsigned>(count), threads, list * sizeof(near_key), on.get()>>>(
        lists, static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(k), list, selected);
    check_launch();
  }

  per_device<sbq_kernels> kernels_;
};

}  // namespace

std::unique_ptr<dense_search_engine> make_sbq(context const& ctx, dense_rows const& rows,
                                              dense_index_options const& options) {
  return std::make_unique<sbq>(ctx, rows, options);
}

}  // namespace rulerank::knn
