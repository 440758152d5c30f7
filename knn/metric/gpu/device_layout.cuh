#pragma once

#include "core/device_memory.hpp"
#include "core/device_pool.hpp"
#include "core/stream.hpp"
#include "knn/metric/gpu/gpu_launches.hpp"
#include "knn/metric/gpu/gpu_layout.hpp"

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

// A layout, queries and result lists on a device.
namespace rulerank::inline v0::knn {

/// The arrays of a layout on the device that was current at construction.
class device_layout {
 public:
  explicit device_layout(gpu_layout const& from)
      : ids_(copy_to_device(from.ids)),
        values_(copy_to_device(from.values)),
        numbers_(copy_to_device(from.numbers)),
        length_(copy_to_device(from.length)) {}
  placed_arrays arrays() const {
    return {ids_.data(), values_.data(), numbers_.data(), length_.data()};
  }

 private:
  device_buffer<std::uint32_t> ids_;
  device_buffer<float> values_;
  device_buffer<std::uint32_t> numbers_;
  device_buffer<std::uint32_t> length_;
};

/// The device resources of one search at a time. Its memory grows and is reused.
class device_work {
 public:
  stream const& on() const { return stream_; }
  cudaStream_t raw() const { return stream_.get(); }

  template <class T>
  static T* upload(device_buffer<T>& to, std::span<T const> from, cudaStream_t on) {
    to.reserve(from.size());
    if (!from.empty())
      check_cuda(
          cudaMemcpyAsync(to.data(), from.data(), from.size_bytes(), cudaMemcpyHostToDevice, on));
    return to.data();
  }
  /// Copies queries to the device, where they stay until the next call. The host's queries must
  /// stay valid until the stream has copied them.
  placed_queries place(gpu_queries const& queries) {
    placed_queries at;
    at.values = upload(values_, std::span<float const>(queries.values), raw());
    at.letters = upload(letters_, std::span<std::uint32_t const>(queries.letters), raw());
    at.begin = upload(begin_, std::span<std::uint32_t const>(queries.begin), raw());
    at.longest = queries.longest();
    return at;
  }
  std::uint32_t const* place_numbers(std::span<std::uint32_t const> numbers) {
    return upload(which_, numbers, raw());
  }
  std::uint32_t const* place_order(std::span<std::uint32_t const> order) {
    return upload(order_, order, raw());
  }
  std::byte* block_memory(std::size_t bytes) {
    memory_.reserve(bytes);
    return memory_.data();
  }
  std::byte* matrix(std::size_t bytes) {
    matrix_.reserve(bytes);
    return matrix_.data();
  }
  /// Returns empty lists.
  found_lists lists(std::size_t count, std::uint32_t capacity) {
    value_.reserve(count * capacity);
    id_.reserve(count * capacity);
    count_.reserve(count);
    evaluations_.reserve(count);
    check_cuda(cudaMemsetAsync(count_.data(), 0, count * sizeof(std::uint32_t), raw()));
    check_cuda(cudaMemsetAsync(evaluations_.data(), 0, count * sizeof(std::uint64_t), raw()));
    return {value_.data(), id_.data(), count_.data(), evaluations_.data(), capacity};
  }
  /// Returns the contents of the lists, packed; waits for the stream. Valid until the next call.
  launch_result fetch(std::size_t count, std::uint32_t capacity);
  /// Measure the seconds of the kernels between these two calls.
  void begin_timing() { begin_timed_.record(stream_); }
  void end_timing() { end_timed_.record(stream_); }
  double seconds() const { return end_timed_.seconds_since(begin_timed_); }

 private:
  stream stream_;
  event begin_timed_, end_timed_;
  device_buffer<float> values_;
  device_buffer<std::uint32_t> letters_, begin_, which_, order_;
  device_buffer<std::byte> memory_, matrix_;
  device_buffer<double> value_;
  device_buffer<std::uint32_t> id_, count_;
  device_buffer<std::uint64_t> evaluations_;
  // Results of `fetch`.
  device_buffer<std::uint64_t> first_;
  device_buffer<double> packed_value_;
  device_buffer<std::uint32_t> packed_id_;
  pinned_buffer<std::uint32_t> host_count_, host_id_;
  pinned_buffer<std::uint64_t> host_first_, host_evaluations_;
  pinned_buffer<double> host_value_;
};

/// The number of blocks of a kernel that fill the current device.
template <class... Parameters>
std::uint32_t resident_blocks(void (*kernel)(Parameters...), std::uint32_t threads,
                              std::size_t shared_bytes) {
  int device = 0;
  int processors = 0;
  int of_each = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &of_each, kernel, static_cast<int>(threads), shared_bytes));
  return static_cast<std::uint32_t>(processors) *
         static_cast<std::uint32_t>(of_each > 0 ? of_each : 1);
}

}  // namespace rulerank::knn
