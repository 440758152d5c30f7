#include "core/shared_memory.hpp"
#include "knn/dense/published/published_cuda.cuh"

#include <bit>

// SBQ-KNN (Cordeiro 2023). Algorithm 1: of |Q| queries, each of the blocks that fill the device
// processes |Q| / blocks alone. For each remaining query, all blocks divide the rows, and
// K-selection (Algorithm 3) selects the k nearest of their results. These launches are in several
// streams, so that the blocks of one start when those of another end (section 2.2.1); K-selection
// waits for all of them (line 12).
//
// In Algorithm 3, every thread that reads a key smaller than the largest replaces the largest by
// it, which would lose all keys but one. Here one warp inserts them one after the other and tracks
// the largest, which is faster than a block-wide reduction after each. Finally the list is sorted,
// because neighbours are returned nearest first.
namespace rulerank::inline v0::knn {

namespace {

constexpr std::uint32_t most_threads = 1024;

/// Algorithm 3, one query per block: selects the k smallest of its n keys, ascending; n >= k.
__global__ __launch_bounds__(most_threads) void select_k(near_key const* vectors, std::uint32_t n,
                                                         std::uint32_t k, std::uint32_t list_size,
                                                         near_key* selected) {
  extern __shared__ near_key keys[];  // [list_size]
  __shared__ near_key came[most_threads];
  // For each warp, the lanes with a smaller key.
  __shared__ std::uint32_t smaller[most_threads / warp_size];
  __shared__ near_key largest;
  std::uint32_t const warp = threadIdx.x / warp_size;
  std::uint32_t const lane = threadIdx.x % warp_size;
  near_key const* const vector = vectors + std::size_t{blockIdx.x} * n;
  for (std::uint32_t i = threadIdx.x; i < list_size; i += blockDim.x)
    keys[i] = i < k ? vector[i] : no_near_key;
  __syncthreads();
  if (warp == 0) {
    tracked_list const list(keys, k, lane);
    if (lane == 0) largest = list.largest();
  }
  __syncthreads();
  for (std::uint32_t first = k; first < n; first += blockDim.x) {
    std::uint32_t const i = first + threadIdx.x;
    near_key const mine = i < n ? vector[i] : no_near_key;
    bool const is_smaller = mine < largest;
    std::uint32_t const lanes = __ballot_sync(whole_warp, is_smaller);
    came[threadIdx.x] = mine;
    if (lane == 0) smaller[warp] = lanes;
    // The barrier of line 11, combined with reductionIsNeeded.
    if (__syncthreads_or(is_smaller ? 1 : 0) == 0) continue;
    if (warp == 0) {
      tracked_list list(keys, k, lane);
      bool const has_some = lane < blockDim.x / warp_size && smaller[lane] != 0;
      for (std::uint32_t left = __ballot_sync(whole_warp, has_some); left != 0; left &= left - 1) {
        int const next = __ffs(static_cast<int>(left)) - 1;
        list.enter(came[static_cast<std::uint32_t>(next) * warp_size + lane]);
      }
      if (lane == 0) largest = list.largest();
    }
    __syncthreads();
  }
  sort_in_block(keys, list_size);
  for (std::uint32_t i = threadIdx.x; i < k; i += blockDim.x)
    selected[std::size_t{blockIdx.x} * k + i] = keys[i];
}

/// The kernels of Algorithms 2 and 3 on one device.
struct sbq_kernels {
  explicit sbq_kernels(similarity metric)
      : nearest(metric),
        most_neighbours(
            std::min(nearest.most_neighbours(),
                     std::bit_floor(allow_all_shared_memory(select_k) / sizeof(near_key)))) {}
  knn_kernel nearest;
  std::size_t most_neighbours;
};

/// Streams for launches that are independent of each other.
class side_streams {
 public:
  /// Makes all work queued later on the streams wait for `main`.
  void fork(stream const& main) {
    begin_.record(main);
    for (stream const& one : streams_) begin_.hold(one);
  }
  stream const& of(std::size_t launch) const { return streams_[launch % std::size(streams_)]; }
  /// Makes all work queued later on `main` wait for the streams.
  void join(stream const& main) {
    for (std::size_t i = 0; i < std::size(streams_); ++i) {
      ends_[i].record(streams_[i]);
      ends_[i].hold(main);
    }
  }

 private:
  stream streams_[4];
  event begin_;
  event ends_[4];
};

class sbq final : public published_engine {
 public:
  sbq(context const& ctx, dense_rows const& rows, dense_index_options const& options)
      : published_engine(ctx, rows, options.metric, "sbq"),
        kernels_(devices()),
        streams_(devices()) {
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
    auto const share_rows = [&](std::size_t q, stream const& on) {
      kernel.share_rows(of.queries.part(whole + q, 1), of.rows, of.k, blocks, false,
                        memory.lists.data() + q * lists, on);
    };
    if (remaining == 1) share_rows(0, memory.on);
    if (remaining > 1) {
      auto streams = streams_.take(of.device);
      streams->fork(memory.on);
      for (std::size_t q = 0; q < remaining; ++q) share_rows(q, streams->of(q));
      streams->join(memory.on);
    }
    memory.selecting.record(memory.on);
    if (remaining > 0)
      select(kernel, memory.lists.data(), lists, remaining, of.k,
             memory.nearest.data() + whole * of.k, memory.on);
    memory.end.record(memory.on);
    download_lists(memory.nearest, of.queries.count, of.k, memory);
    work.counts["kernel_ns"] += nanoseconds(memory.end.seconds_since(memory.begin));
    work.counts["selection_ns"] += nanoseconds(memory.end.seconds_since(memory.selecting));
    give_lists(ctx, memory.host.data(), of.k, of.found);
  }

  /// Section 5.1: the largest blocks if each can have a multiprocessor, otherwise blocks of which
  /// two fit one.
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
  device_pool<side_streams> mutable streams_;
};

}  // namespace

std::unique_ptr<dense_search_engine> make_sbq(context const& ctx, dense_rows const& rows,
                                              dense_index_options const& options) {
  return std::make_unique<sbq>(ctx, rows, options);
}

}  // namespace rulerank::knn
