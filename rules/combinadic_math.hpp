#pragma once

#include "core/host_device.hpp"

#include <cstdint>

// The numbering of combinadic.hpp for host and device, with a table of binomials.
namespace rulerank::inline v0::rules {

/// Writes the z-th combination of `size` of n items, largest first (Freitas 2017, Algorithm 15).
/// binomials[y * stride + k] = C(y, k) for y < n and k <= size < stride; z < C(n, size).
RULERANK_HOST_DEVICE inline void combination_at(std::uint64_t z, std::uint32_t n,
                                                std::uint32_t size, std::uint64_t const* binomials,
                                                std::uint32_t stride, std::uint32_t* out) {
  std::uint32_t y = n;
  for (std::uint32_t k = size; k > 0; --k) {
    std::uint64_t count = 0;
    do {
      --y;
      count = binomials[std::uint64_t{y} * stride + k];
    } while (count > z);  // terminates, since C(k - 1, k) = 0
    out[size - k] = y;
    z -= count;
  }
}

/// Replaces c, largest item first, by the next combination: number z becomes z + 1. After the last
/// combination of n items, c[0] is n. Returns the first index that changed.
RULERANK_HOST_DEVICE inline std::uint32_t next_combination(std::uint32_t* c, std::uint32_t size) {
  std::uint32_t i = size - 1;
  for (; i > 0 && c[i] + 1 == c[i - 1]; --i) c[i] = size - 1 - i;
  ++c[i];
  return i;
}

}  // namespace rulerank::rules
