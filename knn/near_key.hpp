#pragma once

#include "core/host_device.hpp"
#include "knn/similarity.hpp"

#include <cstdint>
#include <cstring>

// An item and the float that orders it, as one integer, for sorts on devices.
namespace rulerank::inline v0::knn {

/// Smaller keys are nearer; equal values are ordered by ascending item number.
using near_key = std::uint64_t;
/// Sorts after every item.
inline constexpr near_key no_near_key = ~near_key{0};

/// Returns bits that ascend as the floats do; -0 becomes 0. No NaN.
RULERANK_HOST_DEVICE inline std::uint32_t ascending_bits(float value) {
  value += 0.0F;  // -0 is 0
  std::uint32_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
/// Inverts `ascending_bits`.
RULERANK_HOST_DEVICE inline float float_of_ascending(std::uint32_t ascending) {
  std::uint32_t const bits = (ascending >> 31) != 0 ? ascending & 0x7FFFFFFFU : ~ascending;
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <value_order Order = value_order::larger_is_nearer>
RULERANK_HOST_DEVICE near_key near_key_of(float value, std::uint32_t id) {
  std::uint32_t const ascending = ascending_bits(value);
  return near_key{Order == value_order::larger_is_nearer ? ~ascending : ascending} << 32 | id;
}
RULERANK_HOST_DEVICE inline std::uint32_t id_of(near_key key) {
  return static_cast<std::uint32_t>(key);
}
template <value_order Order = value_order::larger_is_nearer>
RULERANK_HOST_DEVICE float value_of(near_key key) {
  auto const upper = static_cast<std::uint32_t>(key >> 32);
  return float_of_ascending(Order == value_order::larger_is_nearer ? ~upper : upper);
}

}  // namespace rulerank::knn
