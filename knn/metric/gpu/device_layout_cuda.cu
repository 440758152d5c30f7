#include "knn/metric/gpu/device_layout.cuh"

#include <algorithm>
#include <numeric>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::uint32_t pack_threads = 256;
constexpr std::uint32_t warp = 32;

/// One list per warp.
__global__ __launch_bounds__(pack_threads) void pack(found_lists const lists, std::uint32_t count,
                                                     std::uint64_t const* first, double* value,
                                                     std::uint32_t* id) {
  std::size_t const list = (std::size_t{blockIdx.x} * pack_threads + threadIdx.x) / warp;
  if (list >= count || !is_whole(lists.count[list], lists.capacity)) return;
  std::size_t const from = list * lists.capacity;
  for (std::uint32_t i = threadIdx.x % warp; i < lists.count[list]; i += warp) {
    value[first[list] + i] = lists.value[from + i];
    id[first[list] + i] = lists.id[from + i];
  }
}

template <class T>
std::span<T const> to_pinned(pinned_buffer<T>& to, device_buffer<T> const& from, std::size_t n,
                             cudaStream_t on) {
  to.reserve(n);
  if (n > 0)
    check_cuda(cudaMemcpyAsync(to.data(), from.data(), n * sizeof(T), cudaMemcpyDeviceToHost, on));
  return {to.data(), n};
}

}  // namespace

launch_result device_work::fetch(std::size_t count, std::uint32_t capacity) {
  launch_result done;
  done.count = to_pinned(host_count_, count_, count, raw());
  auto const evaluations = to_pinned(host_evaluations_, evaluations_, count, raw());
  stream_.synchronize();
  done.evaluations = std::accumulate(evaluations.begin(), evaluations.end(), std::uint64_t{0});
  host_first_.reserve(count);
  std::uint64_t entries = 0;
  for (std::size_t i = 0; i < count; ++i) {
    host_first_[i] = entries;
    if (is_whole(done.count[i], capacity)) entries += done.count[i];
  }
  done.begin = {host_first_.data(), count};
  if (entries == 0) return done;
  upload(first_, done.begin, raw());
  packed_value_.reserve(entries);
  packed_id_.reserve(entries);
  constexpr std::size_t lists_a_block = pack_threads / warp;
  auto const blocks = static_cast<std::uint32_t>((count + lists_a_block - 1) / lists_a_block);
  pack<<<blocks, pack_threads, 0, raw()>>>(
      {value_.data(), id_.data(), count_.data(), evaluations_.data(), capacity},
      static_cast<std::uint32_t>(count), first_.data(), packed_value_.data(), packed_id_.data());
  check_launch();
  done.value = to_pinned(host_value_, packed_value_, entries, raw());
  done.id = to_pinned(host_id_, packed_id_, entries, raw());
  stream_.synchronize();
  return done;
}

}  // namespace rulerank::knn
