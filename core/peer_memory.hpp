#pragma once

#include "core/cuda_check.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace rulerank {

/// Memory of the first of some devices that kernels of all of them read and write. The access is
/// that of its own pool: nothing else of the process changes.
class peer_memory {
 public:
  /// Whether devices can reach the memory of the first of them so.
  static bool possible(std::span<int const> devices) {
    for (int const device : devices) {
      if (device == devices[0]) continue;
      int can = 0;
      check_cuda(cudaDeviceCanAccessPeer(&can, device, devices[0]));
      if (can == 0) return false;
    }
    int pools = 0;
    check_cuda(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, devices[0]));
    return pools != 0;
  }

  /// With the first device current. Filled with zeros.
  peer_memory(std::size_t bytes, std::span<int const> devices) {
    cudaMemPoolProps of_pool{};
    of_pool.allocType = cudaMemAllocationTypePinned;
    of_pool.location = {cudaMemLocationTypeDevice, devices[0]};
    std::vector<cudaMemAccessDesc> access;
    for (int const device : devices)
      access.push_back({{cudaMemLocationTypeDevice, device}, cudaMemAccessFlagsProtReadWrite});
    check_cuda(cudaMemPoolCreate(&pool_, &of_pool));
    try {
      check_cuda(cudaMemPoolSetAccess(pool_, access.data(), access.size()));
      check_cuda(cudaMallocFromPoolAsync(&data_, bytes, pool_, nullptr));
      check_cuda(cudaMemsetAsync(data_, 0, bytes));
      check_cuda(cudaStreamSynchronize(nullptr));
    } catch (...) {
      release();
      throw;
    }
  }
  /// When no kernel uses it any more.
  ~peer_memory() { release(); }
  peer_memory(peer_memory const&) = delete;
  peer_memory& operator=(peer_memory const&) = delete;

  void* data() const noexcept { return data_; }

 private:
  void release() noexcept {
    if (data_ != nullptr) cudaFree(data_);
    cudaMemPoolDestroy(pool_);
  }
  cudaMemPool_t pool_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace rulerank
