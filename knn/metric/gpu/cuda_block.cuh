#pragma once

#include "core/host_device.hpp"

#include <cstdint>

namespace rulerank::inline v0::knn {

/// The Block (knn/metric/gpu/block_objects.hpp) of a device. Its functions are empty on the host,
/// where they are never called.
class cuda_block {
 public:
  RULERANK_HOST_DEVICE std::uint32_t thread() const {
#if defined(__CUDA_ARCH__)
    return threadIdx.x;
#else
    return 0;
#endif
  }
  RULERANK_HOST_DEVICE std::uint32_t threads() const {
#if defined(__CUDA_ARCH__)
    return blockDim.x;
#else
    return 1;
#endif
  }
  RULERANK_HOST_DEVICE void sync() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
  template <class T>
  RULERANK_HOST_DEVICE T add(T* to, T more) const {
#if defined(__CUDA_ARCH__)
    return static_cast<T>(atomicAdd(whole(to), static_cast<word_of<T>>(more)));
#else
    return static_cast<void>(more), *to;
#endif
  }
  template <class T>
  RULERANK_HOST_DEVICE void lower(T* to, T value) const {
#if defined(__CUDA_ARCH__)
    atomicMin(whole(to), static_cast<word_of<T>>(value));
#else
    static_cast<void>(to), static_cast<void>(value);
#endif
  }
  RULERANK_HOST_DEVICE void set_bits(std::uint64_t* to, std::uint64_t bits) const {
#if defined(__CUDA_ARCH__)
    atomicOr(whole(to), static_cast<unsigned long long>(bits));
#else
    static_cast<void>(to), static_cast<void>(bits);
#endif
  }
  template <class T>
  RULERANK_HOST_DEVICE T load(T const* from) const {
    return *static_cast<T const volatile*>(from);
  }
  template <class T>
  RULERANK_HOST_DEVICE void store(T* to, T value) const {
    *static_cast<T volatile*>(to) = value;
  }

 private:
  /// CUDA's names for 32-bit and 64-bit numbers.
  template <class T>
  struct named {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    using type = unsigned int;
  };
  template <class T>
  requires(sizeof(T) == 8) struct named<T> {
    using type = unsigned long long;
  };
  template <class T>
  using word_of = typename named<T>::type;
  template <class T>
  RULERANK_HOST_DEVICE static word_of<T>* whole(T* at) {
    return reinterpret_cast<word_of<T>*>(at);
  }
};

}  // namespace rulerank::knn
