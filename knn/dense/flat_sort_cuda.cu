#include "core/cuda_check.hpp"
#include "knn/dense/flat_search_cuda.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace rulerank::inline v0::knn {

std::size_t sort_keys(void* space, std::size_t bytes, std::uint64_t const* keys,
                      std::uint64_t* sorted_keys, std::uint32_t const* numbers,
                      std::uint32_t* sorted_numbers, std::uint32_t count, cudaStream_t on) {
  check_cuda(cub::DeviceRadixSort::SortPairs(space, bytes, keys, sorted_keys, numbers,
                                             sorted_numbers, count, 0, 64, on));
  return bytes;
}

}  // namespace rulerank::knn
