#pragma once

#include "rules/validity_math.hpp"

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

// Shared by the host (delta_cuda.cu) and the kernel (delta_kernel.cu) of `delta`: the partitions in
// a device's memory, their progress, and the messages between devices.
namespace rulerank::inline v0::al {

/// An unsigned type that atomicMin and shuffles support.
using delta_key = unsigned long long;

/// Maximum number of features for a table of overlaps; larger overlaps are enumerated.
inline constexpr std::uint32_t widest_mask = 13;
inline constexpr std::uint32_t most_features = 64;
inline constexpr std::uint32_t most_delta_items = 8;
/// Bin codes are sent in words of eight.
inline constexpr std::uint32_t code_words = most_features / 8;

/// A set of features, and the location of its itemsets' supports.
struct feature_set {
  std::uint64_t mask = 0;
  std::uint64_t begin = 0;  ///< the first itemset's number
  std::uint32_t size = 0;
  std::uint8_t feature[most_delta_items] = {};
  std::uint32_t stride[most_delta_items] =
      {};  ///< an itemset's number: begin + sum of code x stride
};

/// The gain of an overlap that contains `mask`.
struct gain {
  std::uint64_t mask;
  std::int32_t value;
};

/// A device's message to the others after a pass: the smallest keys of its documents, [0] over all
/// and [1] over those not chosen, and the two documents' data. A key is rules << 32 | position << 1
/// | already chosen.
struct device_message {
  delta_key smallest[2];
  delta_key classes[2];
  delta_key codes[2][code_words];
  delta_key sequence;  ///< written last
};

/// A document that was chosen or is to be chosen next.
struct device_choice {
  std::uint32_t position;  ///< in the partition
  std::uint32_t rules;     ///< number of its valid rules
};

/// A partition in the memory of a device.
struct partition_view {
  // The documents of this device: positions first .. first + documents - 1.
  std::uint32_t first = 0;
  std::uint32_t documents = 0;
  std::uint32_t stride = 0;             ///< a multiple of 64
  std::uint8_t const* codes = nullptr;  ///< [features][stride]
  std::int32_t* totals = nullptr;   ///< [stride] rule totals; the padding holds the largest number
  std::uint32_t* chosen = nullptr;  ///< [stride / 32] bits
  std::int32_t* classes = nullptr;  ///< [documents] class of the label; negative: unknown
  // The whole partition.
  std::uint32_t all_documents = 0;
  std::uint32_t features = 0;
  feature_set const* sets = nullptr;  ///< [set_count]
  std::uint32_t set_count = 0;
  std::uint32_t* supports = nullptr;  ///< [itemsets][class_count + 1] n, and by class
  std::uint32_t class_count = 0;
  std::int32_t* gains = nullptr;     ///< [2^features] for up to widest_mask features
  gain* changes = nullptr;           ///< [set_count] for more features
  device_choice* choices = nullptr;  ///< [all_documents]
  // Shared by the blocks.
  delta_key* smallest = nullptr;  ///< [2] over all documents, over those not chosen
  std::uint32_t* arrived = nullptr;
  std::uint32_t* epoch = nullptr;
};

/// The progress of a partition; the same on every device.
struct partition_state {
  std::uint32_t iterations = 0;  ///< documents chosen and counted
  std::uint32_t stopped_after = 0;
  std::uint32_t done = 0;
  std::uint32_t waiting = 0;  ///< for the label of the next choice
  device_choice next{};
  std::int32_t next_class = 0;
  delta_key next_codes[code_words] = {};
  std::uint64_t lost = 0;
  std::uint32_t change_count = 0;
  std::uint32_t leave = 0;  ///< tells the blocks to leave the kernel
};

/// One launch, on one device.
struct delta_arguments {
  partition_view const* partitions;
  partition_state* states;
  std::uint32_t begin;   ///< first partition of this launch
  std::uint32_t blocks;  ///< per partition
  std::uint32_t until;   ///< leave after this many iterations
  std::uint32_t stop_rule;
  rules::validity_view valid;
  std::uint32_t device;  ///< this device's index among `devices`
  std::uint32_t devices;
  device_message* messages;  ///< [partitions][2][devices]
  std::uint32_t const volatile* abort;
};

/// The number of kernel blocks that run concurrently on the current device with this much dynamic
/// shared memory each. Sets the attribute that permits this size.
std::uint32_t delta_blocks(std::size_t shared_bytes);

/// Starts the kernel on the current device for `partitions` partitions from `arguments.begin` on.
/// All its blocks must be able to run concurrently, because they wait for each other.
void launch_delta(delta_arguments const& arguments, std::uint32_t partitions,
                  std::size_t shared_bytes, cudaStream_t on);

}  // namespace rulerank::al
