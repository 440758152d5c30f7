#pragma once

#include <cstdint>

// Products of bit matrices on a warp: C[i][j] += the number of bits set in both row i of A and row
// j of B, for 16 rows, 8 rows and 256 bits at a time.
namespace rulerank::inline v0::bitmaps {

/// Bits of a row per product, and the number of 32-bit words that hold them.
inline constexpr std::uint32_t product_bits = 256;
inline constexpr std::uint32_t product_words = product_bits / 32;
inline constexpr std::uint32_t product_rows_a = 16;
inline constexpr std::uint32_t product_rows_b = 8;

/// Returns the first of this lane's two words of a row's 256 bits: words 2 t and 2 t + 1 with t =
/// lane % 4. The assignment of bits to lanes is arbitrary if A and B use the same.
__device__ inline std::uint32_t product_word() {
  return (threadIdx.x % 4) * 2;
}

/// Adds to C. A: this lane's words of row g (x) and of row g + 8 (y), g = lane / 4. B: its words of
/// row g. C: (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1). All lanes of the warp must
/// call it.
__device__ inline void add_bit_product(std::uint32_t (&c)[4], uint2 const (&a)[2], uint2 b) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
      "{%8,%9}, {%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0].x), "r"(a[1].x), "r"(a[0].y), "r"(a[1].y), "r"(b.x), "r"(b.y));
#else
  std::uint32_t const lane = threadIdx.x % 32;
  for (std::uint32_t q = 0; q < 4; ++q)
    for (int e = 0; e < 4; ++e) {
      std::uint32_t const from_a = lane / 4 * 4 + q;
      std::uint32_t const from_b = ((lane % 4) * 2 + (e & 1)) * 4 + q;
      c[e] += __popc(__shfl_sync(~0U, a[e >> 1].x, from_a) & __shfl_sync(~0U, b.x, from_b)) +
              __popc(__shfl_sync(~0U, a[e >> 1].y, from_a) & __shfl_sync(~0U, b.y, from_b));
    }
#endif
}

}  // namespace rulerank::bitmaps
