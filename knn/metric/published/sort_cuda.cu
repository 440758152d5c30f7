// Brute force as in Barrientos 2011: Algorithm 11 within a radius; the k nearest by sorting all
// distances (section 4.2.1.1). GPU-Quicksort, which sorts one query after the other there, is
// replaced by CUB's stable radix sort, which sorts many queries at once and keeps equally near
// objects in the order of their numbers.

#include "knn/metric/published/blocks_cuda.cuh"

#include <cub/device/device_segmented_radix_sort.cuh>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::uint32_t fill_threads = 256;

/// Writes the objects' numbers for each query, and where the keys of each query begin.
__global__ void fill_numbers(std::uint32_t const* ids, std::uint32_t objects, std::uint32_t queries,
                             std::uint32_t* numbers, std::int64_t* begin) {
  std::size_t const all = std::size_t{objects} * queries;
  std::size_t const thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::size_t i = thread; i < all; i += std::size_t{gridDim.x} * blockDim.x)
    numbers[i] = ids[i % objects];
  for (std::size_t q = thread; q <= queries; q += std::size_t{gridDim.x} * blockDim.x)
    begin[q] = static_cast<std::int64_t>(q * objects);
}

/// One query per block.
__global__ void take_first(std::uint64_t const* keys, std::uint32_t const* numbers,
                           std::uint32_t objects, found_lists const lists) {
  std::size_t const from = std::size_t{blockIdx.x} * objects;
  std::size_t const to = std::size_t{blockIdx.x} * lists.capacity;
  for (std::uint32_t i = threadIdx.x; i < lists.capacity; i += blockDim.x) {
    lists.value[to + i] = distance_of_key(keys[from + i]);
    lists.id[to + i] = numbers[from + i];
  }
  if (threadIdx.x == 0) {
    lists.count[blockIdx.x] = lists.capacity;
    lists.evaluations[blockIdx.x] = objects;
  }
}

/// Keys and numbers of several queries, before and after sorting.
class sort_space {
 public:
  void reserve(std::size_t keys, std::size_t queries) {
    keys_.reserve(keys);
    sorted_.reserve(keys);
    numbers_.reserve(keys);
    sorted_numbers_.reserve(keys);
    begin_.reserve(queries + 1);
  }
  std::uint64_t* keys() { return keys_.data(); }

  void sort(placed_arrays const& arrays, std::uint32_t objects, std::uint32_t queries,
            cudaStream_t on) {
    fill_numbers<<<1024, fill_threads, 0, on>>>(arrays.ids, objects, queries, numbers_.data(),
                                                begin_.data());
    check_launch();
    std::size_t bytes = 0;
    call(nullptr, bytes, objects, queries, on);
    temporary_.reserve(std::max<std::size_t>(bytes, 1));
    call(temporary_.data(), bytes, objects, queries, on);
  }
  /// Copies the first results of each query, as many as lists have space for.
  void first_of_each(std::uint32_t objects, std::uint32_t queries, found_lists const& lists,
                     cudaStream_t on) const {
    take_first<<<queries, fill_threads, 0, on>>>(sorted_.data(), sorted_numbers_.data(), objects,
                                                 lists);
    check_launch();
  }

 private:
  void call(void* temporary, std::size_t& bytes, std::uint32_t objects, std::uint32_t queries,
            cudaStream_t on) {
    check_cuda(cub::DeviceSegmentedRadixSort::SortPairs(
        temporary, bytes, keys_.data(), sorted_.data(), numbers_.data(), sorted_numbers_.data(),
        static_cast<std::int64_t>(objects) * queries, static_cast<std::int64_t>(queries),
        begin_.data(), begin_.data() + 1, 0, 64, on));
  }
  device_buffer<std::uint64_t> keys_, sorted_;
  device_buffer<std::uint32_t> numbers_, sorted_numbers_;
  device_buffer<std::int64_t> begin_;
  device_buffer<std::byte> temporary_;
};

class sort_on_gpus final : public metric_gpu_searcher {
 public:
  explicit sort_on_gpus(gpu_build const& from)
      : layout_(lay_out_blocks(from.index, from.engine)),
        devices_(from.ctx, layout_),
        spaces_(from.ctx.devices) {}

  gpu_layout const& layout() const override { return layout_; }
  void search(context const& ctx, gpu_queries const& queries, gpu_request const& request,
              gpu_candidates& found, metric_gpu_work& work) const override {
    // Limits the keys so that they, and the memory to sort them, take some gigabytes.
    std::size_t const together = std::max<std::size_t>((std::size_t{1} << 26) / layout_.objects, 1);
    launch_limits limits;
    if (request.k > 0) limits.entries = together * request.k;
    devices_.search({ctx, queries, request, limits, least_queries_of_device(layout_)}, found, work,
                    [&](std::size_t i, device_work& on, placed_queries const& placed,
                        std::uint32_t attempt, std::vector<std::uint32_t> const& which,
                        std::uint32_t capacity, metric_gpu_work& done) {
                      if (request.k == 0)
                        return launch_blocks(layout_, devices_.arrays(i), {}, placed, on,
                                             job_of(layout_, request, {}, attempt), which, capacity,
                                             done.kernel_s);
                      return sort(i, on, placed, which, static_cast<std::uint32_t>(request.k),
                                  done.kernel_s);
                    });
  }

 private:
  launch_result sort(std::size_t i, device_work& on, placed_queries const& placed,
                     std::vector<std::uint32_t> const& which, std::uint32_t k,
                     double& kernel_s) const {
    auto space = spaces_.take(i);
    auto const count = static_cast<std::uint32_t>(which.size());
    std::uint32_t const objects = layout_.objects;
    space->reserve(std::size_t{objects} * count, count);
    found_lists const lists = on.lists(count, k);
    std::uint32_t const* const numbers = on.place_numbers(which);
    on.begin_timing();
    measure_matrix(layout_, devices_.arrays(i), placed, on, numbers, nullptr, count, space->keys());
    space->sort(devices_.arrays(i), objects, count, on.raw());
    space->first_of_each(objects, count, lists, on.raw());
    on.end_timing();
    launch_result done = on.fetch(count, k);
    kernel_s += on.seconds();
    return done;
  }

  block_layout layout_;
  devices_with_layout devices_;
  mutable device_pool<sort_space> spaces_;
};

}  // namespace

std::unique_ptr<metric_gpu_searcher> make_sort_on_gpus(gpu_build const& from) {
  return std::make_unique<sort_on_gpus>(from);
}

}  // namespace rulerank::knn
