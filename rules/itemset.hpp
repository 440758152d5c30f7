#pragma once

#include <concepts>
#include <cstdint>
#include <span>

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::rules {

/// An item: the 0-based number of a (feature, bin) pair (binned_dataset::item_begin).
using item = std::uint32_t;

/// A type that counts the training documents of each class that contain an itemset. Classes are the
/// distinct labels, by index; `class_label(k)` is the label of class k.
///   supports(x, counts): sets counts[k] to the number of documents of class k that contain all
///   items of x (distinct, not empty); returns their sum.
template <class Source>
concept SupportSource = requires(Source& source, std::span<item const> x,
                                 std::span<std::uint32_t> counts) {
  { source.class_count() } -> std::convertible_to<std::size_t>;
  { source.class_label(std::size_t{}) } -> std::convertible_to<std::int32_t>;
  { source.supports(x, counts) } -> std::convertible_to<std::uint32_t>;
};

}  // namespace rulerank::rules
