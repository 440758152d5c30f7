#include "core/crc32.hpp"

#include <zlib.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/crc32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction (2009):
// folds 64 bytes into the next 64, which preserves the remainder. zlib, five times slower per byte,
// computes the remainder of the last bytes.
HWY_BEFORE_NAMESPACE();
namespace rulerank::inline v0::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

std::uint32_t folded_crc32(std::uint32_t before, unsigned char const* bytes, std::size_t size) {
#if HWY_TARGET <= HWY_SSE4  // x86 instruction sets with carry-less multiplication
  constexpr std::size_t block = 64;
  if (size >= 2 * block) {
    hn::FixedTag<std::uint8_t, 16> const d;
    hn::FixedTag<std::uint64_t, 2> const words;
    hn::FixedTag<std::uint32_t, 4> const halves;
    alignas(16) constexpr std::uint64_t fold_by_a_block[2] = {0x154442bd4, 0x1c6e41596};
    auto const factors = hn::Load(words, fold_by_a_block);
    auto const loaded = [&](std::size_t at) {
      return hn::BitCast(words, hn::LoadU(d, bytes + at));
    };
    auto const folded = [&](auto sum, std::size_t at) {
      return hn::Xor(loaded(at),
                     hn::Xor(hn::CLMulLower(sum, factors), hn::CLMulUpper(sum, factors)));
    };
    alignas(16) std::uint32_t const begin[4] = {~before, 0, 0, 0};
    auto a = hn::Xor(loaded(0), hn::BitCast(words, hn::Load(halves, begin)));
    auto b = loaded(16), c = loaded(32), e = loaded(48);
    for (bytes += block, size -= block; size >= block; bytes += block, size -= block) {
      a = folded(a, 0);
      b = folded(b, 16);
      c = folded(c, 32);
      e = folded(e, 48);
    }
    unsigned char rest[block];
    hn::StoreU(hn::BitCast(d, a), d, rest);
    hn::StoreU(hn::BitCast(d, b), d, rest + 16);
    hn::StoreU(hn::BitCast(d, c), d, rest + 32);
    hn::StoreU(hn::BitCast(d, e), d, rest + 48);
    constexpr std::uint32_t zero_register = 0xffffffff;
    before = static_cast<std::uint32_t>(crc32_z(zero_register, rest, block));
  }
#endif
  return static_cast<std::uint32_t>(crc32_z(before, bytes, size));
}

}  // namespace rulerank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerank::inline v0 {

HWY_EXPORT(folded_crc32);

std::uint32_t crc32_of(std::span<std::byte const> bytes, std::uint32_t before) {
  return HWY_DYNAMIC_DISPATCH(folded_crc32)(
      before, reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size());
}

}  // namespace rulerank
#endif
