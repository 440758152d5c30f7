#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rulerank::inline v0 {

/// The CRC-32 of bytes that follow others whose CRC-32 is `before` (none: 0), as zlib computes it.
/// From any thread.
std::uint32_t crc32_of(std::span<std::byte const> bytes, std::uint32_t before = 0);

}  // namespace rulerank
