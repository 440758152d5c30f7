#pragma once

#include "rules/validity_math.hpp"

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

// What the host (delta_cuda.cu) and the kernel (delta_kernel.cu) of `delta` share: the partitions
// in the memory of a device, how far each of them is, and what devices write to each other.
namespace rulerank::inline v0::al {

/// What atomicMin and shuffles take.
using delta_key = unsigned long long;

/// Overlaps of more features are enumerated instead of looked up.
inline constexpr std::uint32_t widest_mask = 13;
inline constexpr std::uint32_t most_features = 64;
inline constexpr std::uint32_t most_delta_items = 8;
/// Bin codes are passed on eight to a word.
inline constexpr std::uint32_t code_words = most_features / 8;

/// A set of features, and where the supports of its itemsets lie.
struct feature_set {
  std::uint64_t mask = 0;
  std::uint64_t begin = 0;  ///< the first itemset's number
  std::uint32_t size = 0;
  std::uint8_t feature[most_delta_items] = {};
  std::uint32_t stride[most_delta_items] =
      {};  ///< an itemset's number: begin + sum of code x stride
};

/// What an overlap that holds `mask` gains.
struct gain {
  std::uint64_t mask;
  std::int32_t value;
};

/// What a device writes to the others after a pass: the smallest keys of its documents, [0] of all
/// and [1] of those not chosen, and what must be known of the two documents. A key is
/// rules << 32 | position << 1 | chosen already.
struct device_message {
  delta_key smallest[2];
  delta_key classes[2];
  delta_key codes[2][code_words];
  delta_key sequence;  ///< written last
};

/// A document that was chosen, or is to be chosen next.
struct device_choice {
  std::uint32_t position;  ///< in the partition
  std::uint32_t rules;     ///< its valid rules
};

/// A partition in the memory of a device.
struct partition_view {
  // The documents of this device: positions first .. first + documents - 1.
  std::uint32_t first = 0;
  std::uint32_t documents = 0;
  std::uint32_t stride = 0;             ///< a multiple of 64
  std::uint8_t const* codes = nullptr;  ///< [features][stride]
  std::int32_t* totals = nullptr;       ///< [stride] the padding holds the largest number
  std::uint32_t* chosen = nullptr;      ///< [stride / 32] bits
  std::int32_t* classes = nullptr;      ///< [documents] of the labels, negative: not known
  // The whole partition.
  std::uint32_t all_documents = 0;
  std::uint32_t features = 0;
  feature_set const* sets = nullptr;  ///< [set_count]
  std::uint32_t set_count = 0;
  std::uint32_t* supports = nullptr;  ///< [itemsets][class_count + 1] n, and by class
  std::uint32_t class_count = 0;
  std::int32_t* gains = nullptr;     ///< [2^features] up to widest_mask features
  gain* changes = nullptr;           ///< [set_count] beyond
  device_choice* choices = nullptr;  ///< [all_documents]
  // Between the blocks.
  delta_key* smallest = nullptr;  ///< [2] of all documents, of those not chosen
  std::uint32_t* arrived = nullptr;
  std::uint32_t* epoch = nullptr;
};

/// How far a partition is; the same on every device.
struct partition_state {
  std::uint32_t iterations = 0;  ///< documents chosen and counted in
  std::uint32_t stopped_after = 0;
  std::uint32_t done = 0;
  std::uint32_t waiting = 0;  ///< for the label of the next choice
  device_choice next{};
  std::int32_t next_class = 0;
  delta_key next_codes[code_words] = {};
  std::uint64_t lost = 0;
  std::uint32_t change_count = 0;
  std::uint32_t leave = 0;  ///< the blocks leave the kernel
};

/// One launch, on one device.
struct delta_arguments {
  partition_view const* partitions;
  partition_state* states;
  std::uint32_t begin;   ///< the first partition of this launch
  std::uint32_t blocks;  ///< of a partition
  std::uint32_t until;   ///< leave with so many iterations
  std::uint32_t stop_rule;
  rules::validity_view valid;
  std::uint32_t device;  ///< of `devices`, this one's number
  std::uint32_t devices;
  device_message* messages;  ///< [partitions][2][devices]
  std::uint32_t const volatile* abort;
};

/// How many blocks of the kernel run side by side on the current device, each with so many bytes of
/// dynamic shared memory. Allows these bytes.
std::uint32_t delta_blocks(std::size_t shared_bytes);

/// Starts the kernel on the current device for `partitions` partitions from `arguments.begin` on.
/// Its blocks wait for each other, so all of them must be able to run side by side.
void launch_delta(delta_arguments const& arguments, std::uint32_t partitions,
                  std::size_t shared_bytes, cudaStream_t on);

}  // namespace rulerank::al
