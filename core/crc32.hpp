#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rulerank::inline v0 {

/// Continues the CRC-32 `before` (0 for none) over `bytes`, with the same result as zlib. Any
/// thread may call it.
std::uint32_t crc32_of(std::span<std::byte const> bytes, std::uint32_t before = 0);

}  // namespace rulerank
