#pragma once

#include "core/error.hpp"
#include "core/memory_gate.hpp"
#include "rules/thresholds.hpp"
#include "rules/validity_math.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace rulerank::inline v0::al {

__extension__ using key128 = unsigned __int128;

struct key_hash {
  std::size_t operator()(std::uint64_t key) const noexcept {
    key *= 0x9E3779B97F4A7C15U;  // Fibonacci hashing (Knuth, volume 3, section 6.4)
    return key ^ (key >> 32);
  }
  std::size_t operator()(key128 key) const noexcept {
    return (*this)(static_cast<std::uint64_t>(key) ^
                   (*this)(static_cast<std::uint64_t>(key >> 64)));
  }
};

/// Advice for error messages about too many itemsets for memory.
inline constexpr std::string_view fewer_itemsets = "use more partitions or smaller rules";

using rules::rule_change;

/// Class-wise supports of the itemsets seen so far, by unique number. Not thread-safe.
template <class Key>
class support_table {
 public:
  /// Allocates through the gate. `what` begins messages, such as "rule size 7 with 45 features in a
  /// partition". Keeps references to the arguments.
  support_table(rules::validity const& valid, memory_gate& memory, std::string const& what)
      : valid_(valid), memory_(memory), what_(what), who_(what + ": the itemsets") {}

  /// Prepares for the classes 0..k. Throws as add() does.
  void need_class(std::size_t k) {
    if (k < classes_) return;
    std::size_t const classes = k + 1;
    take(capacity_ * (classes + 1) * sizeof(std::uint32_t), [&] {
      std::vector<std::uint32_t> counts(capacity_ * (classes + 1));
      for (std::size_t s = 0; s < slots_.size(); ++s)
        std::copy_n(counts_.begin() + static_cast<std::ptrdiff_t>(s * (classes_ + 1)), classes_ + 1,
                    counts.begin() + static_cast<std::ptrdiff_t>(s * (classes + 1)));
      counts_ = std::move(counts);
    });
    classes_ = classes;
  }

  std::uint64_t size() const { return slots_.size(); }
  /// The number of bytes allocated.
  std::uint64_t bytes() const {
    return bytes_for(capacity_) + counts_.capacity() * sizeof(std::uint32_t);
  }

  /// Counts a document of class k (prepared by need_class) that holds the itemset. Throws
  /// `usage_error` if the table is full and memory does not suffice for a larger one.
  rule_change add(Key key, std::size_t k) {
    if (slots_.size() == capacity_) grow();
    auto const [found, is_new] = slots_.try_emplace(key, static_cast<std::uint32_t>(slots_.size()));
    std::uint32_t* const count = counts_.data() + std::size_t{found->second} * (classes_ + 1);
    rules::validity_view const view{valid_.table().data(), valid_.all_valid_up_to()};
    return view.count(count, static_cast<std::uint32_t>(classes_), static_cast<std::uint32_t>(k));
  }

 private:
  /// Limit on the number of itemsets.
  static constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  /// The map has a power of two of groups with this many slots, filled to 7/8, plus 16 bytes per
  /// group.
  static constexpr std::uint64_t group = 15;

  static std::uint64_t groups_for(std::uint64_t itemsets) {
    return std::bit_ceil((itemsets * 8 + group * 7 - 1) / (group * 7));
  }
  static std::uint64_t bytes_for(std::uint64_t itemsets) {
    return groups_for(itemsets) * (group * sizeof(std::pair<Key, std::uint32_t>) + 16);
  }

  void take(std::uint64_t bytes, std::function<void()> const& allocate) {
    memory_.take({bytes, who_, fewer_itemsets}, allocate);
  }

  void grow() {
    if (capacity_ == most)
      throw usage_error(what_ + ": found more than " + std::to_string(most) + " itemsets; " +
                        std::string(fewer_itemsets));
    // As many as the map holds without growing again.
    std::uint64_t const capacity = std::min(groups_for(capacity_ + 1) * group * 7 / 8, most);
    std::uint64_t const counts = capacity * (classes_ + 1);
    take(bytes_for(capacity) + counts * sizeof(std::uint32_t), [&] {
      slots_.reserve(capacity);  // entries are spread by hash and touch nearly every page
      std::vector<std::uint32_t> larger(counts);
      std::copy(counts_.begin(), counts_.end(), larger.begin());
      counts_ = std::move(larger);
    });
    capacity_ = capacity;
  }

  rules::validity const& valid_;
  memory_gate& memory_;
  std::string what_;
  std::string who_;             // names the purpose in requests for memory
  std::uint64_t capacity_ = 0;  // itemsets with allocated memory
  std::size_t classes_ = 0;
  boost::unordered_flat_map<Key, std::uint32_t, key_hash> slots_;
  std::vector<std::uint32_t> counts_;  // [capacity][classes + 1]
};

}  // namespace rulerank::al
