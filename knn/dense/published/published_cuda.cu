#include "core/aligned.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/shared_memory.hpp"
#include "knn/dense/definition.hpp"
#include "knn/dense/flat_kernels.hpp"
#include "knn/dense/published/published_cuda.cuh"

#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>

// KNNKernel computes one distance per warp, whose lanes read neighbouring values, and keeps the k
// nearest of a block in shared memory, with the farthest of them tracked. Where the published text
// would give wrong results, its intent is implemented:
//
// - Lines 12 to 14 lose the last |P| mod np rows; here shares differ by at most one row. Line 9
//   lets all warps compute the same rows; here each begins at its own, as line 13 does.
// - In lines 18 to 21, every warp fills every entry of the list; here warps take turns, and if a
//   share has fewer than k rows, the remaining entries sort after all rows.
// - Lines 26 to 29 do not handle several warps that find a nearer row at once, each of which would
//   replace the same farthest row; here one warp inserts the rows one after the other, if they
//   still belong in the list.
// - Equally near rows are ordered by their numbers, so that every run has the same result.
namespace rulerank::inline v0::knn {

namespace {

constexpr std::uint32_t most_threads = 1024;
constexpr double least_norm = 1e-15;
constexpr double largest_single_norm = 1e15;
constexpr std::size_t staged_bytes = std::size_t{64} << 20;
constexpr std::size_t vectors_a_range = 256;
constexpr std::size_t queries_a_range = 64;

/// Returns the sum over all dimensions in every lane: warpDistance.
template <bool of_differences>
__device__ float warp_sum(float const* query, float const* row, std::uint32_t stride,
                          std::uint32_t lane) {
  auto const* const x = reinterpret_cast<float4 const*>(query);
  auto const* const y = reinterpret_cast<float4 const*>(row);
  auto const add = [](float a, float b, float sum) {
    if (!of_differences) return __fmaf_rn(a, b, sum);
    float const difference = a - b;
    return __fmaf_rn(difference, difference, sum);
  };
  float sum = 0;
#pragma unroll 2
  for (std::uint32_t i = lane; i < stride / 4; i += warp_size) {
    float4 const a = x[i];
    float4 const b = y[i];
    sum = add(a.x, b.x, sum);
    sum = add(a.y, b.y, sum);
    sum = add(a.z, b.z, sum);
    sum = add(a.w, b.w, sum);
  }
  for (std::uint32_t apart = warp_size / 2; apart > 0; apart /= 2)
    sum += __shfl_xor_sync(whole_warp, sum, apart);
  return sum;
}

/// The work of each block of KNNKernel.
struct work_of_blocks {
  std::uint32_t queries_a_block;  ///< nq; 0: all blocks have the first query
  std::uint32_t partitions;       ///< np; 1: every block has all rows
  std::uint32_t k;
  std::uint32_t list;  ///< k, and further space for a sort
  bool sorted;
};

/// Algorithm 2.
template <bool of_differences>
__global__ __launch_bounds__(most_threads,
                             2) void find_nearest(vectors_ref const queries, vectors_ref const rows,
                                                  similarity const metric,
                                                  work_of_blocks const work, near_key* found) {
  extern __shared__ near_key keys[];                   // [work.list]
  __shared__ near_key came[most_threads / warp_size];  // one key per warp
  __shared__ near_key farthest;
  std::uint32_t const warp = threadIdx.x / warp_size;
  std::uint32_t const lane = threadIdx.x % warp_size;
  std::uint32_t const warps = blockDim.x / warp_size;
  bool const shares = work.queries_a_block == 0;
  std::uint32_t const q_begin = shares ? 0 : blockIdx.x * work.queries_a_block;
  std::uint32_t const q_end = shares ? 1 : q_begin + work.queries_a_block;
  std::size_t const n = rows.count;
  bool const all_rows = work.partitions == 1;
  auto const begin = all_rows ? 0U : static_cast<std::uint32_t>(n * blockIdx.x / work.partitions);
  auto const end =
      all_rows ? rows.count : static_cast<std::uint32_t>(n * (blockIdx.x + 1) / work.partitions);
  for (std::uint32_t q = q_begin; q < q_end; ++q) {
    float const* const query = queries.values + std::size_t{q} * queries.stride;
    float const query_norm = queries.norms[q];
    auto const key_of = [&](std::size_t p) {
      float const sum =
          warp_sum<of_differences>(query, rows.values + p * rows.stride, rows.stride, lane);
      float const row_norm = of_differences ? 0.0F : rows.norms[p];
      return dense_key(metric, sum, query_norm, row_norm, static_cast<std::uint32_t>(p));
    };
    for (std::uint32_t i = warp; i < work.list; i += warps) {
      bool const is_row = i < work.k && i < end - begin;
      near_key const key = is_row ? key_of(begin + i) : no_near_key;
      if (lane == 0) keys[i] = key;
    }
    __syncthreads();
    if (warp == 0) {
      tracked_list const list(keys, work.k, lane);
      if (lane == 0) farthest = list.largest();
    }
    __syncthreads();
    for (std::size_t p = std::size_t{begin} + work.k + warp; p - warp < end; p += warps) {
      near_key const key = p < end ? key_of(p) : no_near_key;
      if (lane == 0) came[warp] = key;
      // The barrier of line 25, combined with whether a warp has found a nearer row.
      if (__syncthreads_or(key < farthest ? 1 : 0) == 0) continue;
      if (warp == 0) {
        tracked_list list(keys, work.k, lane);
        list.enter(lane < warps ? came[lane] : no_near_key);
        if (lane == 0) farthest = list.largest();
      }
      __syncthreads();
    }
    if (work.sorted) sort_in_block(keys, work.list);
    near_key* const to = found + std::size_t{shares ? blockIdx.x : q} * work.k;
    for (std::uint32_t i = threadIdx.x; i < work.k; i += blockDim.x) to[i] = keys[i];
    __syncthreads();
  }
}

auto* kernel_for(similarity metric) {
  return metric == similarity::l2 ? find_nearest<true> : find_nearest<false>;
}

std::size_t list_bytes(std::size_t k) {
  return std::bit_ceil(k) * sizeof(near_key);
}

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

bool holds(double norm) {
  return norm == 0 || (norm >= least_norm && norm <= largest_single_norm);
}

}  // namespace

void device_vectors::assign(context const& ctx, std::size_t first, std::size_t count,
                            std::size_t dimensions, write_floats const& write,
                            std::string_view what, stream const& on) {
  stride_ = round_up(std::max<std::size_t>(dimensions, 1), 4);
  count_ = count;
  std::size_t const together =
      std::min(count, std::max<std::size_t>(staged_bytes / (stride_ * sizeof(float)), 1));
  host_.reserve(together * stride_);
  host_lengths_.resize(2 * count);
  values_.reserve(count * stride_);
  lengths_.reserve(2 * count);
  std::atomic<std::size_t> wrong{count};
  for (std::size_t done = 0; done < count; done += together) {
    std::size_t const n = std::min(together, count - done);
    if (done > 0) on.synchronize();
    parallel_for(ctx, n, vectors_a_range, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t v = begin; v < end; ++v) {
        float* const to = host_.data() + v * stride_;
        write(first + done + v, to);
        std::fill(to + dimensions, to + stride_, 0.0F);
        double square = 0;
        defined_sums_of<1>(to, &to, dimensions, product_of, &square);
        host_lengths_[done + v] = static_cast<float>(std::sqrt(square));
        host_lengths_[count + done + v] = static_cast<float>(square);
        if (holds(std::sqrt(square))) continue;
        for (std::size_t least = wrong; done + v < least;)
          if (wrong.compare_exchange_weak(least, done + v)) break;
      }
    });
    check_cuda(cudaMemcpyAsync(values_.data() + done * stride_, host_.data(),
                               n * stride_ * sizeof(float), cudaMemcpyHostToDevice, on.get()));
  }
  if (wrong != count)
    throw usage_error(std::string(what) + ", row " + std::to_string(first + wrong) +
                      ": expected a norm of 0 or from 1e-15 to 1e15, because this engine computes "
                      "in single precision; use engine flat");
  if (count > 0)
    check_cuda(cudaMemcpyAsync(lengths_.data(), host_lengths_.data(), 2 * count * sizeof(float),
                               cudaMemcpyHostToDevice, on.get()));
}

vectors_ref device_vectors::ref() const {
  return {values_.data(), lengths_.data(), lengths_.data() + count_,
          static_cast<std::uint32_t>(count_), static_cast<std::uint32_t>(stride_)};
}

knn_kernel::knn_kernel(similarity metric) : metric_(metric) {
  int const half = attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / 2;
  threads_ = std::min(most_threads, static_cast<std::uint32_t>(half) / warp_size * warp_size);
  multiprocessors_ = static_cast<std::uint32_t>(attribute(cudaDevAttrMultiProcessorCount));
  most_neighbours_ = std::bit_floor(allow_all_shared_memory(kernel_for(metric)) / sizeof(near_key));
}

std::uint32_t knn_kernel::blocks_for(std::size_t k) const {
  int each = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &each, kernel_for(metric_), static_cast<int>(threads_), list_bytes(k)));
  return multiprocessors_ * static_cast<std::uint32_t>(std::max(each, 1));
}

void knn_kernel::search_queries(vectors_ref const& queries, vectors_ref const& rows, std::size_t k,
                                std::uint32_t blocks, std::size_t each, near_key* found,
                                stream const& on) const {
  work_of_blocks const work{static_cast<std::uint32_t>(each), 1, static_cast<std::uint32_t>(k),
                            static_cast<std::uint32_t>(std::bit_ceil(k)), true};
  kernel_for(metric_)<<<blocks, threads_, list_bytes(k), on.get()>>>(queries, rows, metric_, work,
                                                                     found);
  check_launch();
}

void knn_kernel::share_rows(vectors_ref const& query, vectors_ref const& rows, std::size_t k,
                            std::uint32_t blocks, bool sorted, near_key* found,
                            stream const& on) const {
  work_of_blocks const work{0, blocks, static_cast<std::uint32_t>(k),
                            static_cast<std::uint32_t>(std::bit_ceil(k)), sorted};
  kernel_for(metric_)<<<blocks, threads_, list_bytes(k), on.get()>>>(query, rows, metric_, work,
                                                                     found);
  check_launch();
}

published_engine::published_engine(context const& ctx, dense_rows const& rows, similarity metric,
                                   std::string_view name)
    : rows_(rows), metric_(metric), name_(name), devices_(ctx.devices), memory_(devices_) {
  added(ctx, 0);
}

void published_engine::added(context const& ctx, std::size_t) {
  auto fresh = std::make_unique<on_devices>(devices_);
  auto const write = [&](std::size_t row, float* to) {
    to_floats(rows_.type(), rows_.row(row), rows_.dimensions(), to);
  };
  for_each_device(devices_, [&](std::size_t i) {
    stream const on;
    fresh->make(i).assign(ctx, 0, rows_.size(), rows_.dimensions(), write,
                          "engine " + name_ + ": rows", on);
    on.synchronize();
  });
  vectors_ = std::move(fresh);
}

void published_engine::search(context const& ctx, dense_request const& request,
                              std::span<std::vector<dense_candidate>> found,
                              dense_search_work& work) const {
  if (request.k == 0)
    throw usage_error("engine " + name_ +
                      " finds k neighbours alone, found a radius; use engine flat");
  if (!request.filter.rows.empty() || !request.filter.of_query.empty())
    throw usage_error("engine " + name_ +
                      " searches all rows alone, found a filter; use engine flat");
  std::size_t const dimensions = rows_.dimensions();
  std::mutex adding;
  for_each_device(devices_, [&](std::size_t i) {
    index_range const mine = even_range(request.count, devices_.size(), i);
    if (mine.size() == 0) return;
    auto memory = memory_.take(i);
    memory->on.synchronize();  // an earlier call may have been interrupted
    auto const write = [&](std::size_t q, float* to) {
      std::copy_n(request.queries.data() + q * dimensions, dimensions, to);
    };
    memory->queries.assign(ctx, mine.begin, mine.size(), dimensions, write,
                           "engine " + name_ + ": queries", memory->on);
    task const of{i, (*vectors_)[i].ref(), memory->queries.ref(), request.k,
                  found.subspan(mine.begin, mine.size())};
    dense_search_work done;
    search_on_device(ctx, of, *memory, done);
    std::lock_guard const lock(adding);
    work += done;
  });
}

void published_engine::expect_at_most(std::size_t k, std::size_t most, std::string_view why) const {
  if (k > most)
    throw usage_error("engine " + name_ + ": found k " + std::to_string(k) + ", expected at most " +
                      std::to_string(most) + ", " + std::string(why) + "; use engine flat");
}

void download_lists(device_buffer<near_key> const& from, std::size_t count, std::size_t k,
                    published_memory& memory) {
  memory.host.reserve(count * k);
  check_cuda(cudaMemcpyAsync(memory.host.data(), from.data(), count * k * sizeof(near_key),
                             cudaMemcpyDeviceToHost, memory.on.get()));
  memory.on.synchronize();
}

void give_lists(context const& ctx, near_key const* lists, std::size_t k,
                std::span<std::vector<dense_candidate>> found) {
  parallel_for(ctx, found.size(), queries_a_range, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t q = begin; q < end; ++q) {
      found[q].resize(k);
      std::transform(lists + q * k, lists + (q + 1) * k, found[q].begin(), [](near_key key) {
        return dense_candidate{value_of<value_order::smaller_is_nearer>(key), id_of(key)};
      });
    }
  });
}

}  // namespace rulerank::knn
