#pragma once

#include "core/device_memory.hpp"
#include "core/device_pool.hpp"
#include "core/for_each_device.hpp"
#include "core/per_device.hpp"
#include "core/stream.hpp"
#include "knn/block_sort.hpp"
#include "knn/dense/engine.hpp"
#include "knn/near_key.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Shared by the published engines for GPUs (`ppk`, `ppb`, `sbq`, `gs`): vectors of floats on a
// device, the inputs that they reject, the division of queries among devices, and KNNKernel
// (Cordeiro 2023, Algorithm 2).
namespace rulerank::inline v0::knn {

inline std::uint64_t nanoseconds(double seconds) {
  return static_cast<std::uint64_t>(seconds * 1e9);
}

/// The view of vectors for kernels.
struct vectors_ref {
  float const* values;   ///< [count][stride], padded with zeros
  float const* norms;    ///< [count]
  float const* squares;  ///< [count] squares of the norms
  std::uint32_t count;
  std::uint32_t stride;  ///< a multiple of 4, so that a lane reads 16 bytes

  /// The n vectors from `first` on.
  vectors_ref part(std::size_t first, std::size_t n) const {
    return {values + first * stride, norms + first, squares + first, static_cast<std::uint32_t>(n),
            stride};
  }
};

/// Writes the floats of a vector.
using write_floats = std::function<void(std::size_t vector, float* to)>;

/// Vectors on the current device, in memory that grows and is reused.
class device_vectors {
 public:
  /// Queues the copy of the vectors from `first` on. Throws `usage_error` naming the first vector
  /// whose norm is neither 0 nor within 1e-15..1e15, because squares would exceed the range of
  /// floats. The caller must synchronize the stream before the next call.
  void assign(context const& ctx, std::size_t first, std::size_t count, std::size_t dimensions,
              write_floats const& write, std::string_view what, stream const& on);
  vectors_ref ref() const;

 private:
  pinned_buffer<float> host_;
  device_buffer<float> values_;
  device_buffer<float> lengths_;  // norms [count], then squares
  std::vector<float> host_lengths_;
  std::size_t count_ = 0;
  std::size_t stride_ = 4;
};

/// Returns the key that orders a row, as `dense_candidate::value`, from the sum of squared
/// differences (l2) or of products.
__device__ inline near_key dense_key(similarity metric, float sum, float query_norm, float row_norm,
                                     std::uint32_t row) {
  float value = sum;
  if (metric == similarity::inner_product) value = -sum;
  if (metric == similarity::cosine) {
    float const norms = query_norm * row_norm;
    value = norms == 0 ? 0.0F : -(sum / norms);
  }
  return near_key_of<value_order::smaller_is_nearer>(value, row);
}

/// All lanes of a warp.
inline constexpr std::uint32_t whole_warp = 0xFFFFFFFFU;
inline constexpr std::uint32_t warp_size = 32;

/// Returns the largest key among the lanes of a warp, in each lane.
__device__ inline near_key largest_in_warp(near_key key) {
  auto const upper = static_cast<std::uint32_t>(key >> 32);
  auto const lower = static_cast<std::uint32_t>(key);
  std::uint32_t const most = __reduce_max_sync(whole_warp, upper);
  return near_key{most} << 32 | __reduce_max_sync(whole_warp, upper == most ? lower : 0U);
}

/// The k smallest keys so far, in shared memory, and the largest of them. One warp at a time uses
/// it: each lane holds the largest of every 32nd entry in registers.
class tracked_list {
 public:
  __device__ tracked_list(near_key* keys, std::uint32_t k, std::uint32_t lane)
      : keys_(keys), k_(k), lane_(lane) {
    look();
  }
  __device__ near_key largest() const { return largest_; }
  /// Replaces the largest key by the smaller keys of the lanes, one after the other.
  __device__ void enter(near_key key) {
    for (;;) {
      std::uint32_t const smaller = __ballot_sync(whole_warp, key < largest_);
      if (smaller == 0) return;
      std::uint32_t const from = __ffs(static_cast<int>(smaller)) - 1;
      near_key const next = __shfl_sync(whole_warp, key, static_cast<int>(from));
      if (lane_ == from) key = no_near_key;
      std::uint32_t const have = __ballot_sync(whole_warp, mine_ == largest_);
      bool const is_mine = lane_ + 1 == static_cast<std::uint32_t>(__ffs(static_cast<int>(have)));
      if (is_mine) keys_[at_] = next;
      look(is_mine);
    }
  }

 private:
  __device__ void look(bool at_own = true) {
    if (at_own) {
      mine_ = 0;
      for (std::uint32_t i = lane_; i < k_; i += warp_size)
        if (near_key const key = keys_[i]; key >= mine_) {
          mine_ = key;
          at_ = i;
        }
    }
    __syncwarp();
    largest_ = largest_in_warp(mine_);
  }

  near_key* keys_;
  std::uint32_t k_;
  std::uint32_t lane_;
  near_key mine_ = 0;
  std::uint32_t at_ = 0;
  near_key largest_ = 0;
};

/// Sorts keys in shared memory, a power of two of them, ascending. All threads of the block call
/// it; it ends with a barrier.
__device__ inline void sort_in_block(near_key* keys, std::uint32_t size) {
  for (std::uint32_t width = 2; width <= size; width *= 2)
    for (std::uint32_t apart = width / 2; apart > 0; apart /= 2) {
      for (std::uint32_t e = threadIdx.x; e < size / 2; e += blockDim.x) {
        std::uint32_t const i = 2 * e - (e & (apart - 1));
        order_keys(keys[i], keys[i + apart], (i & width) == 0);
      }
      __syncthreads();
    }
}

/// KNNKernel and its launches on the current device.
class knn_kernel {
 public:
  explicit knn_kernel(similarity metric);

  /// The largest power of two of keys that fit in a block's shared memory, where the list is kept
  /// and finally sorted.
  std::size_t most_neighbours() const { return most_neighbours_; }
  /// As published, half the threads of a multiprocessor: two blocks fill it.
  std::uint32_t threads() const { return threads_; }
  std::uint32_t multiprocessors() const { return multiprocessors_; }
  /// The number of blocks that run at once.
  std::uint32_t blocks_for(std::size_t k) const;

  /// Each block finds the k nearest of all rows for `each` queries; there are `blocks` times `each`
  /// queries. found: [queries][k], ascending per query.
  void search_queries(vectors_ref const& queries, vectors_ref const& rows, std::size_t k,
                      std::uint32_t blocks, std::size_t each, near_key* found,
                      stream const& on) const;
  /// The blocks divide the rows for one query. found: [blocks][k], the k nearest of a block's rows,
  /// filled with `no_near_key`; ascending if `sorted`.
  void share_rows(vectors_ref const& query, vectors_ref const& rows, std::size_t k,
                  std::uint32_t blocks, bool sorted, near_key* found, stream const& on) const;

 private:
  similarity metric_;
  std::uint32_t threads_ = 0;
  std::uint32_t multiprocessors_ = 0;
  std::size_t most_neighbours_ = 0;
};

/// The memory of a call on the current device. It grows and is reused by the next call.
struct published_memory {
  stream on;
  device_vectors queries;
  device_buffer<near_key> lists;    ///< results of blocks
  device_buffer<near_key> nearest;  ///< [queries][k]
  pinned_buffer<near_key> host;
  event begin, selecting, end;  ///< of the kernels
};

/// A published engine: it keeps all rows on each device, divides the queries among devices, and
/// rejects a radius and filters.
class published_engine : public dense_search_engine {
 public:
  /// Copies all rows again; for a moment, the devices hold both copies.
  void added(context const& ctx, std::size_t first) override;
  void search(context const& ctx, dense_request const& request,
              std::span<std::vector<dense_candidate>> found,
              dense_search_work& work) const override;

 protected:
  published_engine(context const& ctx, dense_rows const& rows, similarity metric,
                   std::string_view name);

  /// The work of one device.
  struct task {
    std::size_t device;  ///< index among the context's devices
    vectors_ref rows;
    vectors_ref queries;
    std::size_t k;
    std::span<std::vector<dense_candidate>> found;  ///< [queries]
  };
  /// Runs with the device current. Synchronizes the stream at the end.
  virtual void search_on_device(context const& ctx, task const& of, published_memory& memory,
                                dense_search_work& work) const = 0;
  /// Throws `usage_error` if k exceeds `most`.
  void expect_at_most(std::size_t k, std::size_t most, std::string_view why) const;

  similarity metric() const { return metric_; }
  std::vector<int> const& devices() const { return devices_; }

 private:
  using on_devices = per_device<device_vectors>;

  dense_rows const& rows_;
  similarity metric_;
  std::string name_;
  std::vector<int> devices_;
  std::unique_ptr<on_devices> vectors_;
  device_pool<published_memory> mutable memory_;
};

/// Copies `count` lists of k keys to host memory and waits for them.
void download_lists(device_buffer<near_key> const& from, std::size_t count, std::size_t k,
                    published_memory& memory);
/// Converts ascending lists of k keys to results.
void give_lists(context const& ctx, near_key const* lists, std::size_t k,
                std::span<std::vector<dense_candidate>> found);

}  // namespace rulerank::knn
