#include "core/random.hpp"
#include "core/shared_memory.hpp"
#include "knn/classification.hpp"
#include "knn/dense/published/cublas_cuda.hpp"
#include "knn/dense/published/gs.hpp"
#include "knn/dense/published/published_cuda.cuh"

#include <bit>
#include <limits>
#include <optional>

// GS_KNN (Liu, Zheng and Liu 2019): cuBLAS computes a matrix of all distances, x^2 + y^2 - 2 x y.
// The k nearest are selected by k searches for the minimum or by a bitonic sort, whichever is
// faster in a trial with one query. Votes are counted by atomic additions.
//
// The matrix is stored by query, so that a block reads neighbouring distances (in the paper, with
// swapped operands, by row of the data). The squared norms are those of the index. If the matrix
// does not fit the device, queries are processed in batches.
namespace rulerank::inline v0::knn {

namespace {

/// Keys per block in a search for minima, as published, and threads: one for two keys.
constexpr std::uint32_t minima_keys = 1024;
constexpr std::uint32_t minima_threads = minima_keys / 2;
static_assert(2 * most_minima <= minima_keys);
/// Keys that a block can sort in shared memory.
constexpr std::uint32_t most_sorted_keys = 1U << 13;
constexpr std::uint32_t most_threads = 1024;
/// Queries per launch, a dimension of the grid.
constexpr std::size_t most_queries = 65'535;
constexpr std::size_t most_distances = std::size_t{1} << 30;

/// cuBLAS's products of queries and rows, and the data to compute keys from them.
struct distances_ref {
  float const* values;  ///< [queries][count]
  float const* query_norms;
  float const* row_norms;
  std::uint32_t count;
  similarity metric;

  __device__ near_key key(std::size_t query, std::uint32_t row) const {
    float value = values[query * count + row];
    if (metric == similarity::l2) value = fmaxf(value, 0);  // after cancellation
    if (metric == similarity::cosine) {
      float const norms = query_norms[query] * row_norms[row];
      value = norms == 0 ? 0.0F : value / norms;
    }
    return near_key_of<value_order::smaller_is_nearer>(value, row);
  }
  distances_ref of_query(std::size_t query) const {
    return {values + query * count, query_norms + query, row_norms, count, metric};
  }
};

/// The remaining keys of each query.
struct keys_ref {
  near_key const* keys;  ///< [queries][count]
  std::uint32_t count;
  __device__ near_key key(std::size_t query, std::uint32_t i) const {
    return keys[query * count + i];
  }
};

/// Section 3.1: computes x^2 + y^2, to which cuBLAS adds the product.
__global__ void add_squares(vectors_ref const queries, vectors_ref const rows, float* distances) {
  std::uint32_t const row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows.count) return;
  distances[std::size_t{blockIdx.y} * rows.count + row] =
      queries.squares[blockIdx.y] + rows.squares[row];
}

/// Section 3.2: each block selects its k smallest keys, ascending, by k searches. Each search
/// compares keys pairwise and keeps the smaller one until one is left. left: [queries][blocks][k].
template <class Keys>
__global__ __launch_bounds__(minima_threads) void leave_minima(Keys const from, std::uint32_t k,
                                                               near_key* left) {
  __shared__ near_key keys[minima_keys];
  std::uint32_t const first = blockIdx.x * minima_keys;
  std::uint32_t const count = min(minima_keys, from.count - first);
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x)
    keys[i] = from.key(blockIdx.y, first + i);
  __syncthreads();
  std::uint32_t const searches = min(k, count);
  for (std::uint32_t i = 0; i < searches; ++i) {
    auto const compare = [&](std::uint32_t length, std::uint32_t threads) {
      std::uint32_t const half = length - length / 2;
      for (std::uint32_t e = threadIdx.x; e < length / 2; e += threads)
        order_keys(keys[i + e], keys[i + e + half], true);
      return half;
    };
    std::uint32_t length = count - i;
    while (length > 2 * warp_size) {
      length = compare(length, blockDim.x);
      __syncthreads();
    }
    // The last rounds need only one warp, without barriers for the block.
    while (length > 1 && threadIdx.x < warp_size) {
      length = compare(length, warp_size);
      __syncwarp();
    }
    __syncthreads();
  }
  near_key* const to = left + (std::size_t{blockIdx.y} * gridDim.x + blockIdx.x) * k;
  for (std::uint32_t i = threadIdx.x; i < k; i += blockDim.x)
    to[i] = i < searches ? keys[i] : no_near_key;
}

/// The steps of a bitonic sort from distance `apart` on, in runs of `width`, for a block's keys,
/// which begin at `first` of all keys. Ends with a barrier.
__device__ void merge_in_block(near_key* keys, std::uint32_t size, std::uint32_t first,
                               std::uint32_t width, std::uint32_t apart) {
  for (; apart > 0; apart /= 2) {
    for (std::uint32_t e = threadIdx.x; e < size / 2; e += blockDim.x) {
      std::uint32_t const i = 2 * e - (e & (apart - 1));
      order_keys(keys[i], keys[i + apart], ((first + i) & width) == 0);
    }
    __syncthreads();
  }
}

/// Section 3.3: sorts a query's keys in tiles, each by a block in shared memory, every second one
/// descending. `padded`: the number of rows, padded with the largest key to a power of two.
__global__ __launch_bounds__(most_threads) void sort_tiles(distances_ref const from,
                                                           std::uint32_t padded, std::uint32_t tile,
                                                           near_key* keys) {
  extern __shared__ near_key own[];  // [tile]
  std::uint32_t const first = blockIdx.x * tile;
  near_key* const mine = keys + std::size_t{blockIdx.y} * padded + first;
  for (std::uint32_t i = threadIdx.x; i < tile; i += blockDim.x)
    own[i] = first + i < from.count ? from.key(blockIdx.y, first + i) : no_near_key;
  __syncthreads();
  for (std::uint32_t width = 2; width <= tile; width *= 2)
    merge_in_block(own, tile, first, width, width / 2);
  for (std::uint32_t i = threadIdx.x; i < tile; i += blockDim.x) mine[i] = own[i];
}

/// One step in runs of `width` beyond a tile.
__global__ void order_far(std::uint32_t padded, std::uint32_t width, std::uint32_t apart,
                          near_key* keys) {
  std::uint32_t const e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= padded / 2) return;
  std::uint32_t const i = 2 * e - (e & (apart - 1));
  near_key* const mine = keys + std::size_t{blockIdx.y} * padded;
  order_keys(mine[i], mine[i + apart], (i & width) == 0);
}

/// The last steps in runs of `width`, within tiles.
__global__ __launch_bounds__(most_threads) void merge_tiles(std::uint32_t padded,
                                                            std::uint32_t tile, std::uint32_t width,
                                                            near_key* keys) {
  extern __shared__ near_key own[];  // [tile]
  std::uint32_t const first = blockIdx.x * tile;
  near_key* const mine = keys + std::size_t{blockIdx.y} * padded + first;
  for (std::uint32_t i = threadIdx.x; i < tile; i += blockDim.x) own[i] = mine[i];
  __syncthreads();
  merge_in_block(own, tile, first, width, tile / 2);
  for (std::uint32_t i = threadIdx.x; i < tile; i += blockDim.x) mine[i] = own[i];
}

/// Section 3.4, one query per block. Ties go to the class of the nearer neighbour.
__global__ void count_votes(std::uint32_t const* found, std::uint32_t k,
                            std::uint32_t const* class_of, std::uint32_t classes,
                            std::uint32_t* winners) {
  extern __shared__ std::uint32_t votes[];  // [classes]
  __shared__ unsigned long long best;       // votes, then proximity of the nearest neighbour
  for (std::uint32_t c = threadIdx.x; c < classes; c += blockDim.x) votes[c] = 0;
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  std::uint32_t const* const mine = found + std::size_t{blockIdx.x} * k;
  auto const class_at = [&](std::uint32_t i) {
    return mine[i] == no_neighbour ? no_class : class_of[mine[i]];
  };
  for (std::uint32_t i = threadIdx.x; i < k; i += blockDim.x)
    if (std::uint32_t const c = class_at(i); c != no_class) atomicAdd(votes + c, 1U);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < k; i += blockDim.x)
    if (std::uint32_t const c = class_at(i); c != no_class)
      atomicMax(&best, static_cast<unsigned long long>(votes[c]) << 32 | (k - i));
  __syncthreads();
  if (threadIdx.x == 0)
    winners[blockIdx.x] = best == 0 ? no_class : class_at(k - static_cast<std::uint32_t>(best));
}

dim3 grid_of(std::size_t items, std::size_t a_block, std::size_t queries) {
  return {static_cast<unsigned>((items + a_block - 1) / a_block), static_cast<unsigned>(queries),
          1};
}

/// The memory of a call on the current device in addition to that of all published engines.
struct gs_memory {
  explicit gs_memory(cublas_library const& library) : handle(library) {
    allow_all_shared_memory(sort_tiles);
    allow_all_shared_memory(merge_tiles);
  }
  std::size_t bytes() const {
    return distances.bytes() + sorted.bytes() + left[0].bytes() + left[1].bytes();
  }
  cublas_handle handle;
  device_buffer<float> distances;   // [queries][rows]
  device_buffer<near_key> sorted;   // [queries][padded]
  device_buffer<near_key> left[2];  // results of searches for minima, alternately
};

class gs final : public published_engine {
 public:
  gs(context const& ctx, dense_rows const& rows, dense_index_options const& options,
     gs_selection how)
      : published_engine(ctx, rows, options.metric, "gs"), how_(how), memory_(devices()) {}

 private:
  void search_on_device(context const& ctx, task const& of, published_memory& memory,
                        dense_search_work& work) const override {
    if (of.rows.count > static_cast<std::uint32_t>(std::numeric_limits<int>::max()))
      throw device_error("engine gs: found more than 2^31 - 1 rows, which cuBLAS cannot count");
    if (how_ == gs_selection::minima)
      expect_at_most(of.k, most_minima, "by searches for the minimum");
    auto own = memory_.take(of.device, library_);
    library_.check(library_.set_stream(own->handle.get(), memory.on.get()), "cublasSetStream");
    std::size_t const together = queries_at_once(of, *own);
    memory.nearest.reserve(together * of.k);
    gs_selection how = how_;
    if (how == gs_selection::by_trial && of.k > most_minima) how = gs_selection::sorting;
    for (std::size_t first = 0; first < of.queries.count; first += together) {
      ctx.check_stop();
      std::size_t const count = std::min<std::size_t>(together, of.queries.count - first);
      vectors_ref const queries = of.queries.part(first, count);
      memory.begin.record(memory.on);
      distances_ref const distances = compute(of.rows, queries, *own, memory.on);
      if (how == gs_selection::by_trial)
        how = try_with(ctx, distances.of_query(drawn(ctx, count)), of.k, *own, memory);
      memory.selecting.record(memory.on);
      select(how, distances, count, of.k, *own, memory);
      memory.end.record(memory.on);
      download_lists(memory.nearest, count, of.k, memory);
      give_lists(ctx, memory.host.data(), of.k, of.found.subspan(first, count));
      work.counts["kernel_ns"] += nanoseconds(memory.end.seconds_since(memory.begin));
      work.counts["selection_ns"] += nanoseconds(memory.end.seconds_since(memory.selecting));
      ++work.counts[how == gs_selection::minima ? "by_minima" : "by_sorting"];
    }
  }

  static std::size_t lists(std::size_t keys) { return (keys + minima_keys - 1) / minima_keys; }

  /// Returns as many queries as memory allows. Throws `device_error` if one query does not fit.
  std::size_t queries_at_once(task const& of, gs_memory const& own) const {
    std::size_t const rows = of.rows.count;
    std::size_t a_query = rows * sizeof(float);
    if (how_ != gs_selection::minima) a_query += std::bit_ceil(rows) * sizeof(near_key);
    if (how_ != gs_selection::sorting && of.k <= most_minima)
      a_query += 2 * lists(rows) * of.k * sizeof(near_key);
    std::size_t const wanted = std::min({std::size_t{of.queries.count}, most_queries,
                                         std::max<std::size_t>(1, most_distances / rows)});
    if (wanted * a_query <= own.bytes()) return wanted;
    std::size_t const budget = (memory_budget() + own.bytes()) / 2;
    if (budget < a_query)
      throw device_error("engine gs: a query needs " + std::to_string(a_query) +
                         " bytes of device memory, and the device has " + std::to_string(budget));
    return std::min(wanted, budget / a_query);
  }

  /// Section 3.1.
  distances_ref compute(vectors_ref const& rows, vectors_ref const& queries, gs_memory& own,
                        stream const& on) const {
    bool const is_l2 = metric() == similarity::l2;
    own.distances.reserve(std::size_t{queries.count} * rows.count);
    float* const distances = own.distances.data();
    if (is_l2) {
      add_squares<<<grid_of(rows.count, 256, queries.count), 256, 0, on.get()>>>(queries, rows,
                                                                                 distances);
      check_launch();
    }
    float const alpha = is_l2 ? -2 : -1;
    float const beta = is_l2 ? 1 : 0;
    int const n = static_cast<int>(rows.count);
    int const stride = static_cast<int>(rows.stride);
    library_.check(library_.sgemm(own.handle.get(), CUBLAS_OP_T, CUBLAS_OP_N, n,
                                  static_cast<int>(queries.count), stride, &alpha, rows.values,
                                  stride, queries.values, stride, &beta, distances, n),
                   "cublasSgemm");
    return {distances, queries.norms, rows.norms, rows.count, metric()};
  }

  static std::size_t drawn(context const& ctx, std::size_t queries) {
    random_engine draw(ctx.seed);
    return uniform_below(draw, queries);
  }

  /// Algorithm 2, lines 5 and 6. Runs each once before timing it, because the first launch of a
  /// kernel includes loading it.
  gs_selection try_with(context const& ctx, distances_ref const& one, std::size_t k, gs_memory& own,
                        published_memory& memory) const {
    auto const seconds = [&](gs_selection how) {
      ctx.check_stop();
      event begin, end;
      select(how, one, 1, k, own, memory);
      begin.record(memory.on);
      select(how, one, 1, k, own, memory);
      end.record(memory.on);
      return end.seconds_since(begin);
    };
    return seconds(gs_selection::minima) < seconds(gs_selection::sorting) ? gs_selection::minima
                                                                          : gs_selection::sorting;
  }

  /// nearest: [queries][k].
  static void select(gs_selection how, distances_ref const& from, std::size_t queries,
                     std::size_t k, gs_memory& own, published_memory& memory) {
    if (how == gs_selection::minima)
      select_by_minima(from, queries, k, own, memory);
    else
      select_by_sorting(from, queries, k, own, memory);
  }

  /// If a query has more keys than a block, the selected keys are searched again in the same way.
  static void select_by_minima(distances_ref const& from, std::size_t queries, std::size_t k,
                               gs_memory& own, published_memory& memory) {
    std::size_t blocks = lists(from.count);
    own.left[0].reserve(blocks > 1 ? queries * blocks * k : 0);
    own.left[1].reserve(blocks > 1 ? queries * lists(blocks * k) * k : 0);
    auto const launch = [&](auto const& keys, near_key* to) {
      std::size_t const pairs = std::min(minima_keys, keys.count) / 2 + 1;
      auto const threads = static_cast<unsigned>(
          std::min<std::size_t>(minima_threads, (pairs + warp_size - 1) / warp_size * warp_size));
      leave_minima<<<grid_of(keys.count, minima_keys, queries), threads, 0, memory.on.get()>>>(
          keys, static_cast<std::uint32_t>(k), to);
      check_launch();
    };
    launch(from, blocks > 1 ? own.left[0].data() : memory.nearest.data());
    for (int source = 0; blocks > 1; source ^= 1) {
      keys_ref const left{own.left[source].data(), static_cast<std::uint32_t>(blocks * k)};
      blocks = lists(left.count);
      launch(left, blocks > 1 ? own.left[source ^ 1].data() : memory.nearest.data());
    }
  }

  static void select_by_sorting(distances_ref const& from, std::size_t queries, std::size_t k,
                                gs_memory& own, published_memory& memory) {
    std::uint32_t const padded = std::bit_ceil(from.count);
    std::uint32_t const tile = std::min(padded, most_sorted_keys);
    std::uint32_t const threads = std::clamp(tile / 2, warp_size, most_threads);
    std::size_t const shared = tile * sizeof(near_key);
    own.sorted.reserve(queries * padded);
    near_key* const keys = own.sorted.data();
    cudaStream_t const on = memory.on.get();
    dim3 const tiles = grid_of(padded, tile, queries);
    sort_tiles<<<tiles, threads, shared, on>>>(from, padded, tile, keys);
    check_launch();
    for (std::size_t width = std::size_t{2} * tile; width <= padded; width *= 2) {
      auto const w = static_cast<std::uint32_t>(width);
      for (std::uint32_t apart = w / 2; apart >= tile; apart /= 2) {
        order_far<<<grid_of(padded / 2, 256, queries), 256, 0, on>>>(padded, w, apart, keys);
        check_launch();
      }
      merge_tiles<<<tiles, threads, shared, on>>>(padded, tile, w, keys);
      check_launch();
    }
    check_cuda(cudaMemcpy2DAsync(memory.nearest.data(), k * sizeof(near_key), keys,
                                 padded * sizeof(near_key), k * sizeof(near_key), queries,
                                 cudaMemcpyDeviceToDevice, on));
  }

  gs_selection how_;
  cublas_library library_;
  device_pool<gs_memory> mutable memory_;
};

}  // namespace

std::unique_ptr<dense_search_engine> make_gs_selecting(context const& ctx, dense_rows const& rows,
                                                       dense_index_options const& options,
                                                       gs_selection how) {
  return std::make_unique<gs>(ctx, rows, options, how);
}
std::unique_ptr<dense_search_engine> make_gs(context const& ctx, dense_rows const& rows,
                                             dense_index_options const& options) {
  return make_gs_selecting(ctx, rows, options, gs_selection::by_trial);
}

std::vector<std::uint32_t> gs_vote(context const& ctx, neighbours const& found,
                                   std::span<std::uint32_t const> class_of) {
  if (ctx.devices.empty())
    throw device_error("engine gs votes on GPUs, and no CUDA device was found");
  if (found.queries == 0 || found.k == 0)
    return std::vector<std::uint32_t>(found.queries, no_class);
  std::uint32_t classes = 1;
  for (std::uint32_t const c : class_of)
    if (c != no_class) classes = std::max(classes, c + 1);
  current_device const guard(ctx.devices.front());
  std::size_t const shared = classes * sizeof(std::uint32_t);
  if (std::size_t const most = allow_all_shared_memory(count_votes); shared > most)
    throw usage_error("found " + counted(classes, "class", "classes") + ", expected at most " +
                      std::to_string(most / sizeof(std::uint32_t)) +
                      " for the votes of engine gs, because shared memory holds no more");
  stream const on;
  auto const ids = copy_to_device(found.id);
  auto const of_rows = copy_to_device(class_of.data(), class_of.size());
  device_buffer<std::uint32_t> winners(found.queries);
  auto const threads = static_cast<unsigned>(
      std::min<std::size_t>(most_threads, (found.k + warp_size - 1) / warp_size * warp_size));
  count_votes<<<static_cast<unsigned>(found.queries), threads, shared, on.get()>>>(
      ids.data(), static_cast<std::uint32_t>(found.k), of_rows.data(), classes, winners.data());
  check_launch();
  return winners.to_host(found.queries, on.get());
}

}  // namespace rulerank::knn
