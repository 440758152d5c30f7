#include "knn/sparse/published/device_index.cuh"

#include <limits>
#include <string>

#include <cub/device/device_scan.cuh>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::uint32_t threads = 256;

unsigned blocks_for(std::size_t n) {
  return static_cast<unsigned>((n + threads - 1) / threads);
}

__global__ void count_frequencies(term_document const* pairs, std::uint32_t n,
                                  std::uint32_t* frequency) {
  std::uint32_t const i = blockIdx.x * threads + threadIdx.x;
  if (i < n) atomicAdd(&frequency[pairs[i].term], 1U);
}

/// `next`: the position of a term's next posting.
__global__ void fill_lists(term_document const* pairs, std::uint32_t n, std::uint32_t* next,
                           posting* postings, float* squares) {
  std::uint32_t const i = blockIdx.x * threads + threadIdx.x;
  if (i >= n) return;
  term_document const pair = pairs[i];
  postings[atomicAdd(&next[pair.term], 1U)] = {pair.document, pair.weight};
  atomicAdd(&squares[pair.document], pair.weight * pair.weight);
}

__global__ void take_roots(float* norms, std::uint32_t n) {
  std::uint32_t const d = blockIdx.x * threads + threadIdx.x;
  if (d < n) norms[d] = sqrtf(norms[d]);
}

}  // namespace

void check_fits(std::size_t bytes, std::string_view what) {
  std::size_t const free = memory_budget();
  if (bytes <= free) return;
  int device = 0;
  check_cuda(cudaGetDevice(&device));
  throw device_error("CUDA device " + std::to_string(device) + ": found " + std::to_string(free) +
                     " bytes free, expected " + std::to_string(bytes) + " for " +
                     std::string(what));
}

device_index::device_index(std::span<term_document const> pairs, std::uint32_t documents,
                           std::uint32_t terms)
    : documents_(documents) {
  if (pairs.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw device_error("found more than 2^31 - 1 postings, too many for an index on a GPU");
  auto const n = static_cast<std::uint32_t>(pairs.size());
  std::size_t temporary_bytes = 0;
  check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, temporary_bytes,
                                           static_cast<std::uint32_t const*>(nullptr),
                                           static_cast<std::uint32_t*>(nullptr), terms));
  check_fits(n * (sizeof(term_document) + sizeof(posting)) +
                 std::size_t{terms} * 3 * sizeof(std::uint32_t) + documents * sizeof(float) +
                 temporary_bytes,
             "the inverted index and its input");
  frequency_ = device_buffer<std::uint32_t>(terms);
  begin_ = device_buffer<std::uint32_t>(terms);
  postings_ = device_buffer<posting>(n);
  norms_ = device_buffer<float>(documents);
  frequency_.fill_bytes(0);
  norms_.fill_bytes(0);
  if (n > 0) {
    device_buffer<term_document> const on_device(pairs);
    device_buffer<std::uint32_t> next(terms);
    device_buffer<std::byte> temporary(temporary_bytes);
    count_frequencies<<<blocks_for(n), threads>>>(on_device.data(), n, frequency_.data());
    check_launch();
    check_cuda(cub::DeviceScan::ExclusiveSum(temporary.data(), temporary_bytes, frequency_.data(),
                                             begin_.data(), terms));
    check_cuda(
        cudaMemcpyAsync(next.data(), begin_.data(), begin_.bytes(), cudaMemcpyDeviceToDevice));
    fill_lists<<<blocks_for(n), threads>>>(on_device.data(), n, next.data(), postings_.data(),
                                           norms_.data());
    check_launch();
    take_roots<<<blocks_for(documents), threads>>>(norms_.data(), documents);
    check_launch();
  }
  check_cuda(cudaStreamSynchronize(nullptr));
}

device_index_ref device_index::ref() const noexcept {
  return {frequency_.data(), begin_.data(), postings_.data(), norms_.data(), documents_};
}

}  // namespace rulerank::knn
