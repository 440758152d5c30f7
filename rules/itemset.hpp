#pragma once

#include <concepts>
#include <cstdint>
#include <span>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::rules {

/// An item: a (feature, bin) pair by its number, 0-based (binned_dataset::item_begin).
using item = std::uint32_t;

/// Something that knows how many training documents of each class hold an itemset. Classes are
/// the distinct labels, by index; `class_label(k)` is the label of class k.
///   supports(x, counts): counts[k] = documents of class k that hold all items of x (x distinct,
///   not empty); returns their sum.
template <class Source>
concept SupportSource = requires(Source& source, std::span<item const> x,
                                 std::span<std::uint32_t> counts) {
  { source.class_count() } -> std::convertible_to<std::size_t>;
  { source.class_label(std::size_t{}) } -> std::convertible_to<std::int32_t>;
  { source.supports(x, counts) } -> std::convertible_to<std::uint32_t>;
};

}  // namespace rulerank::rules
