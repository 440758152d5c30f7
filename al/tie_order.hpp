#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::al {

/// A key for each document from the seed and its index, [documents].
std::vector<std::uint64_t> keys_of_indices(std::size_t documents, std::uint64_t seed);

/// The documents by descending key; equal keys by a hash of key and index.
std::vector<std::uint32_t> order_of_keys(std::span<std::uint64_t const> keys);

}  // namespace rulerank::al
